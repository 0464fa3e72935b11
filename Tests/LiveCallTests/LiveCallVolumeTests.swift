// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotNearby
import TestSupport
import Testing

@testable import EarshotLiveCall
@testable import EarshotRooms

/// The volumes of the participants, and their memory.
@Suite(.timeLimit(.minutes(10))) struct LiveCallVolumeTests {
    private static func volumes(_ entries: (UInt64, PeerVolumes.Setting)...) -> PeerVolumes {
        var volumes = PeerVolumes()
        for (number, setting) in entries { volumes[CoreRig.key(number)] = setting }
        return volumes
    }

    /// A person in the room under a new number.
    private static func member(_ number: UInt64, person: UInt64?) -> Member {
        Member(
            id: CoreRig.id(number), name: CoreRig.name(person ?? number), key: person.map { CoreRig.key($0) },
            addresses: [], port: 47_400)
    }

    private static func stored(_ rig: CoreRig) -> [String] { rig.actions.room.filter { $0.hasPrefix("store") } }

    @Test func `a participant who is not heard has gain 0 and keeps its volume, and nobody else notices`() throws {
        var rig = CoreRig()
        rig.joinAsGuest()
        let ann = CoreRig.id(1)
        try rig.perform(.setVolume(0.5, of: ann))
        try rig.perform(.setHeard(false, of: ann))
        #expect(rig.actions.media.last == "volume 0.0 of 1")
        try rig.perform(.setVolume(2, of: ann))
        let participant = try #require(rig.snapshot[ann])
        #expect(rig.actions.media.last == "volume 0.0 of 1" && participant.gain == 0)
        #expect(participant.volume == 2 && !participant.isHeard && !participant.isMuted)
        try rig.perform(.setHeard(true, of: ann))
        #expect(rig.actions.media.last == "volume 2.0 of 1" && rig.snapshot[ann]?.isHeard == true)
        #expect(rig.actions.room == ["join"])
    }

    @Test func `a singer in the same room is silent, and one key undoes it for this call only`() throws {
        var rig = CoreRig()
        rig.joinAsGuest()
        let ann = CoreRig.id(1)
        rig.observation.nearbySingers = [ann]
        rig.handle(.observation(rig.observation))
        #expect(rig.actions.media.last == "volume 0.0 of 1" && rig.snapshot[ann]?.isHeard == false)
        try rig.perform(.setHeard(true, of: ann))
        #expect(rig.actions.media.last == "volume 1.0 of 1" && rig.snapshot[ann]?.isHeard == true)
        rig.handle(.observation(rig.observation))
        #expect(rig.actions.media.last == "volume 1.0 of 1")
        try rig.perform(.setHeard(false, of: ann))
        #expect(rig.actions.media.last == "volume 0.0 of 1" && rig.snapshot[ann]?.isHeard == false)
        rig.observation.nearbySingers = []
        rig.handle(.observation(rig.observation))
        #expect(rig.actions.media.last == "volume 1.0 of 1" && rig.snapshot[ann]?.isHeard == true)
        #expect(Self.stored(rig).isEmpty)
    }

    @Test func `a remembered volume applies before the sound of a participant who joins, and again after a return`() {
        var rig = CoreRig { $0.staysAlone = true }
        rig.handle(.volumes(Self.volumes((2, .init(volume: 0.25)), (3, .init(volume: 2, isHeard: false)))))
        rig.host()
        rig.change(to: [CoreRig.member(1), CoreRig.member(2)])
        #expect(rig.actions.media == ["volume 0.25 of 2", "start"])
        let joined = rig.events.compactMap { event -> Float? in
            if case .participantJoined(let participant) = event.kind { participant.volume } else { nil }
        }
        #expect(joined == [0.25] && rig.snapshot[CoreRig.id(2)]?.volume == 0.25)
        rig.change(to: [CoreRig.member(1)])
        rig.change(to: [CoreRig.member(1), Self.member(3, person: 2)])
        #expect(rig.actions.media.last == "volume 0.25 of 3")
        rig.change(to: [CoreRig.member(1), Self.member(3, person: 2), Self.member(4, person: 3)])
        #expect(rig.actions.media.last == "volume 0.0 of 4" && rig.snapshot[CoreRig.id(4)]?.volume == 2)
        #expect(rig.actions.media.count == 4 && Self.stored(rig).isEmpty)
    }

    @Test func `a guest has the remembered volumes of those who are in the room, and of a new host's guests`() {
        var rig = CoreRig()
        rig.handle(.volumes(Self.volumes((1, .init(volume: 0.25)), (3, .init(isHeard: false)))))
        rig.joinAsGuest()
        #expect(rig.actions.media == ["volume 0.25 of 1", "start"])
        rig.handle(.room(.becameHost(rig.makeRoster([CoreRig.member(2), CoreRig.member(3)], host: 2))))
        #expect(rig.actions.media.last == "volume 0.0 of 3" && rig.snapshot[CoreRig.id(3)]?.isHeard == false)
    }

    @Test func `a change in this call applies when the person returns`() throws {
        var rig = CoreRig { $0.staysAlone = true }
        rig.host()
        rig.change(to: [CoreRig.member(1), CoreRig.member(2)])
        try rig.perform(.setHeard(false, of: CoreRig.id(2)))
        rig.change(to: [CoreRig.member(1)])
        rig.change(to: [CoreRig.member(1), Self.member(3, person: 2)])
        #expect(rig.snapshot[CoreRig.id(3)]?.isHeard == false && rig.actions.media.last == "volume 0.0 of 3")
        // The reading of the file comes late.
        rig.handle(.volumes(Self.volumes((2, .init(volume: 4)), (9, .init(volume: 4)))))
        #expect(rig.snapshot[CoreRig.id(3)]?.isHeard == false && rig.snapshot[CoreRig.id(3)]?.volume == 1)
    }

    @Test func `after a divided room is joined again, a volume follows its person, not the number`() throws {
        var rig = CoreRig()
        rig.joinAsGuest()
        rig.change(to: [CoreRig.member(1), CoreRig.member(2), CoreRig.member(3)])
        try rig.perform(.setVolume(0.5, of: CoreRig.id(3)))
        let members = [CoreRig.member(1), CoreRig.member(2), Self.member(3, person: 4), Self.member(4, person: 3)]
        rig.handle(.room(.joined(rig.makeRoster(members, host: 1), as: CoreRig.id(2))))
        #expect(rig.actions.media.suffix(2) == ["volume 1.0 of 3", "volume 0.5 of 4"])
        #expect(rig.snapshot[CoreRig.id(3)]?.volume == 1 && rig.snapshot[CoreRig.id(4)]?.volume == 0.5)
    }

    @Test func `a browser is not remembered`() throws {
        var rig = CoreRig { $0.staysAlone = true }
        rig.host()
        rig.change(to: [CoreRig.member(1), Self.member(2, person: nil)])
        try rig.perform(.setVolume(0.5, of: CoreRig.id(2)))
        rig.change(to: [CoreRig.member(1), Self.member(2, person: nil), CoreRig.member(3)])
        #expect(rig.snapshot[CoreRig.id(2)]?.volume == 0.5)
        rig.wait(2)
        rig.change(to: [CoreRig.member(1)])
        rig.change(to: [CoreRig.member(1), Self.member(3, person: nil)])
        #expect(rig.snapshot[CoreRig.id(3)]?.volume == 1 && Self.stored(rig).isEmpty)
        // Another browser may get the number, for example after the room was divided.
        rig.change(to: [CoreRig.member(1), Self.member(2, person: nil)])
        #expect(rig.snapshot[CoreRig.id(2)]?.volume == 1 && rig.actions.media.last == "volume 1.0 of 2")
    }

    @Test func `changes are stored a second after the last one, and at the end`() throws {
        var rig = CoreRig()
        rig.joinAsGuest()
        rig.change(to: [CoreRig.member(1), CoreRig.member(2), CoreRig.member(3)])
        try rig.perform(.setVolume(0.5, of: CoreRig.id(1)))
        try rig.perform(.setVolume(2, of: CoreRig.id(3)))
        rig.wait(0.5)
        try rig.perform(.setVolume(0.25, of: CoreRig.id(1)))
        rig.wait(0.9)
        #expect(Self.stored(rig).isEmpty)
        rig.wait(0.2)
        #expect(Self.stored(rig) == ["store 2.0 of 03, 0.25 of 01"])
        try rig.perform(.setVolume(0.25, of: CoreRig.id(1)))  // no change
        rig.wait(3)
        #expect(Self.stored(rig).count == 1)
        try rig.perform(.setVolume(1, of: CoreRig.id(1)))
        try rig.perform(.setHeard(false, of: CoreRig.id(3)))
        try rig.perform(.leave)
        #expect(rig.actions.room.suffix(2) == ["store 1.0 of 01, 2.0 unheard of 03", "close"])
    }

    @Test func `a recording has the volume of a participant, and 0 while the participant is not heard`() throws {
        var rig = CoreRig()
        rig.joinAsGuest()
        try rig.perform(.setVolume(0.5, of: CoreRig.id(1)))
        #expect(RecordedCallState(rig.snapshot, LiveCallLevels()).participants.map(\.volume) == [0.5])
        try rig.perform(.setHeard(false, of: CoreRig.id(1)))
        #expect(RecordedCallState(rig.snapshot, LiveCallLevels()).participants.map(\.volume) == [0])
    }

    @Test func `a room without sound has no volumes`() {
        var rig = CoreRig(hasSound: false)
        rig.handle(.volumes(Self.volumes((1, .init(volume: 0.25)))))
        rig.joinAsGuest()
        #expect(rig.actions.media.isEmpty && rig.snapshot[CoreRig.id(1)]?.volume == 1)
    }

    @Test func `a call reads the volumes of its room's store, and stores changes before it is closed`() async throws {
        let (room, media) = (TestRoom(volumes: Self.volumes((1, .init(volume: 0.5)))), TestMedia())
        let call = try LiveCall(LiveCall.Configuration(), room: room, sound: (media, TestDevice()))
        try call.perform(.join(CoreRig.endpoint))
        let roster = CoreRig().makeRoster([CoreRig.member(1), CoreRig.member(2)], host: 1)
        room.eventContinuation.yield(.joined(roster, as: CoreRig.id(2)))
        for _ in 0..<2_000 where !media.asked.contains("gain 0.5 of 1") { try await Task.sleep(for: .milliseconds(5)) }
        #expect(media.asked.contains("gain 0.5 of 1"))
        try call.perform(.setHeard(false, of: CoreRig.id(1)))
        await call.close()
        #expect(
            room.storedVolumes == [
                PeerVolumes.Entry(key: CoreRig.key(1), setting: .init(volume: 0.5, isHeard: false))
            ])
    }
}
