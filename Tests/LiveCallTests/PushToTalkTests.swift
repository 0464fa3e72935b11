// SPDX-License-Identifier: Apache-2.0

import EarshotCall
import Testing

@testable import EarshotLiveCall
@testable import EarshotRooms

/// Push to talk: the local participant is muted except while talking.
@Suite struct PushToTalkTests {
    private static func rig(isMuted: Bool = false) -> CoreRig {
        var rig = CoreRig { $0.isMuted = isMuted }
        rig.joinAsGuest()
        rig.startSound()
        rig.wait(1)
        return rig
    }

    private static func notices(_ rig: CoreRig) -> [String] { rig.actions.room.filter { $0.hasPrefix("tell") } }

    @Test(arguments: [false, true]) func `it begins muted, and its end restores the mute from before`(
        isMuted: Bool
    ) throws {
        var rig = Self.rig(isMuted: isMuted)
        try rig.perform(.setPushToTalk(true))
        #expect(rig.snapshot.isPushToTalk && rig.snapshot.isMuted)
        rig.wait(1)
        try rig.perform(.setMuted(false))
        #expect(!rig.snapshot.isMuted && rig.actions.media.last == "unmute")
        rig.wait(1)
        try rig.perform(.setMuted(true))
        rig.wait(1)
        // Without a change it keeps the mute from before.
        try rig.perform(.setPushToTalk(true))
        try rig.perform(.setPushToTalk(false))
        #expect(!rig.snapshot.isPushToTalk && rig.snapshot.isMuted == isMuted)
        #expect(rig.snapshot.localParticipant?.isMuted == isMuted)
        try rig.perform(.setPushToTalk(false))
        #expect(rig.snapshot.isMuted == isMuted)
    }

    @Test func `others see the local participant muted and unmuted, as without push to talk`() throws {
        var rig = Self.rig()
        try rig.perform(.setPushToTalk(true))
        rig.wait(1)
        try rig.perform(.setMuted(false))
        rig.wait(1)
        try rig.perform(.setMuted(true))
        rig.wait(1)
        try rig.perform(.setPushToTalk(false))
        #expect(Self.notices(rig) == ["tell muted", "tell unmuted", "tell muted", "tell unmuted"])
    }

    @Test func `quick presses change the voice at once, but tell the room at most every half second`() throws {
        var rig = Self.rig()
        try rig.perform(.setPushToTalk(true))
        for step in 0..<100 {
            try rig.perform(.setMuted(step % 2 == 1))
            #expect(rig.actions.media.last == (step % 2 == 1 ? "mute" : "unmute"))
            rig.wait(0.05)
        }
        rig.wait(1)
        // At the beginning and at each half second of the 5 s.
        #expect(Self.notices(rig) == (0...10).map { $0 % 2 == 0 ? "tell muted" : "tell unmuted" })
        try rig.perform(.setMuted(false))
        rig.wait(0.1)
        #expect(Self.notices(rig).last == "tell unmuted")
        try rig.perform(.setMuted(true))
        #expect(Self.notices(rig).last == "tell unmuted")
        rig.wait(0.5)
        #expect(Self.notices(rig).last == "tell muted")
        // Talking and silence between two notices need none.
        let count = Self.notices(rig).count
        try rig.perform(.setMuted(false))
        rig.wait(0.1)
        try rig.perform(.setMuted(true))
        rig.wait(1)
        #expect(Self.notices(rig).count == count)
    }

    @Test func `without push to talk the room is told of each mute at once`() throws {
        var rig = Self.rig()
        for isMuted in [true, false, true] { try rig.perform(.setMuted(isMuted)) }
        #expect(Self.notices(rig) == ["tell muted", "tell unmuted", "tell muted"])
    }

    @Test func `a notice that waits at the end of push to talk is still sent`() throws {
        var rig = Self.rig(isMuted: true)
        try rig.perform(.setPushToTalk(true))
        rig.wait(1)
        try rig.perform(.setMuted(false))
        try rig.perform(.setMuted(true))
        try rig.perform(.setPushToTalk(false))
        rig.wait(1)
        #expect(Self.notices(rig).last == "tell muted")
    }

    @Test func `it survives a return to the room, which is told of the present mute`() throws {
        var rig = Self.rig()
        try rig.perform(.setPushToTalk(true))
        let members = [CoreRig.member(1), CoreRig.member(2, isMuted: false)]
        rig.handle(.room(.reconnecting))
        rig.handle(.room(.joined(rig.makeRoster(members, host: 1), as: CoreRig.id(2))))
        #expect(rig.snapshot.isPushToTalk && rig.snapshot.isMuted)
        #expect(Self.notices(rig) == ["tell muted", "tell muted"])
    }
}
