// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EarshotDuet
@testable import EarshotLiveCall
@testable import EarshotRooms
@testable import earshot

/// The notices about who leads, whose turn it is, and who is in the same room.
extension DuetNoticesTests {
    @Test func `the question waits for the mode, and is asked again when somebody changes it`() {
        var notices = DuetNotices()
        func status(_ mode: DuetMode<MemberID>?, hasAgreed: Bool = false) -> LiveDuetStatus {
            DuetExample.status(.agreeing) { ($0.duet.mode, $0.duet.hasAgreed) = (mode, hasAgreed) }
        }
        let end = "Tab changes that. Your voices will be recorded. Press Enter when you are ready."
        #expect(!notices.notices(status(nil), people(0.04)).contains { if case .ask = $0 { true } else { false } })
        #expect(
            notices.notices(status(.led(by: ben)), people(0.04)) == [
                .ask(
                    "Delay 40 ms: too long to sing together (limit 25 ms), so Ben leads: you hear the song in time with "
                        + "that voice. \(end)")
            ])
        #expect(notices.notices(status(.led(by: ben)), people(0.04)) == [])
        let own = DuetMode.led(by: MemberID(1)!)
        #expect(
            notices.notices(status(own), people(0.04)) == [
                .ask("You lead: sing to the song, and do not wait for the others' voices. \(end)")
            ])
        #expect(
            notices.notices(status(.together), people()) == [
                .ask(
                    "All sing together. Delay 9 ms. Your voices will be recorded. Press Enter when you are ready.")
            ])
        var host = DuetNotices()
        #expect(
            host.notices(status(own), people(0.04)).last
                == .ask(
                    "Delay 40 ms: too long to sing together (limit 25 ms), so you lead: sing to the song, and do not "
                        + "wait for the others' voices. \(end)"))
    }

    @Test func `each is told whose turn it is, and who only listens is not asked for a voice`() {
        func status(
            _ phase: DuetStatus<MemberID>.Phase, _ singer: MemberID, kept: UInt32? = nil,
            _ change: (inout LiveDuetStatus) -> Void = { _ in }
        ) -> LiveDuetStatus {
            DuetExample.status(phase) {
                ($0.duet.mode, $0.duet.sings, $0.duet.keptAttempt) = (.inTurn(singer), singer != ben, kept)
                change(&$0)
            }
        }
        let own = MemberID(1)!
        let end = "Press Enter when you are ready."
        var notices = DuetNotices()
        #expect(
            notices.notices(status(.agreeing, own), people(0.2)).last
                == .ask(
                    "Delay 200 ms: too long to sing at the same time. You take turns. You sing now, and the others "
                        + "listen. Tab changes that. Your voice will be recorded. \(end)"))
        #expect(
            notices.notices(status(.agreeing, ben), people(0.2)) == [
                .ask(
                    "You take turns. Ben sings now, and you listen. Tab changes that. The call will be recorded. Your "
                        + "voice will not be in the mix. \(end)")
            ])
        #expect(notices.notices(status(.singing, ben), people()) == [.say("Ben sings.")])
        _ = notices.notices(status(.ended, ben), people())
        let mixed = status(.ended, ben) { ($0.mixPath, $0.mixPaths) = ("/mix.m4a", ["/mix.m4a"]) }
        guard case .say(let saved)? = notices.notices(mixed, people()).last else {
            Issue.record("no notice")
            return
        }
        #expect(saved.contains("Keys: Tab next turn, Enter listen together"), "\(saved)")
        let next = status(.agreeing, own, kept: 1) {
            $0.duet.attempt = 2; $0.duet.singers[0].hasBegun = true
        }
        #expect(
            notices.notices(next, people(0.2)) == [
                .say("Ben begins the next turn."),
                .ask(
                    "Take 2. You sing now, and the others listen. You hear the earlier voices. Tab changes "
                        + "that. Your voice will be recorded. \(end)"),
            ])
        #expect(notices.notices(status(.singing, own, kept: 1), people()) == [.say("Sing.")])
        // The one who begins the next turn has agreed, and listens.
        _ = notices.notices(status(.ended, own, kept: 1), people())
        let begun = status(.agreeing, ben, kept: 2) { ($0.duet.attempt, $0.duet.hasAgreed) = (3, true) }
        #expect(
            notices.notices(begun, people())
                == [.say("Take 3. Ben sings now, and you listen. You agree. Waiting for Ben.")])
    }

    @Test func `another mode is no withdrawal, and who leaves in mid-song is named`() {
        var notices = DuetNotices()
        func status(
            _ phase: DuetStatus<MemberID>.Phase, _ mode: DuetMode<MemberID>, agreed: Bool, ben hasAgreed: Bool
        ) -> LiveDuetStatus {
            DuetExample.status(phase) {
                ($0.duet.mode, $0.duet.hasAgreed, $0.duet.singers[0].hasAgreed) = (mode, agreed, hasAgreed)
            }
        }
        _ = notices.notices(status(.agreeing, .together, agreed: true, ben: true), people())
        // Ben's message arrives later.
        let changed = notices.notices(status(.agreeing, .led(by: ben), agreed: false, ben: true), people())
        #expect(changed.count == 1 && changed.allSatisfy { if case .ask = $0 { true } else { false } }, "\(changed)")
        #expect(notices.notices(status(.agreeing, .led(by: ben), agreed: false, ben: false), people()) == [])
        #expect(
            notices.notices(status(.agreeing, .led(by: ben), agreed: false, ben: true), people())
                == [.say("Ben agrees.")])
        _ = notices.notices(status(.singing, .led(by: ben), agreed: true, ben: true), people())
        #expect(
            notices.notices(status(.singing, .led(by: ben), agreed: true, ben: false), people())
                == [.say("Ben has left this take.")])
        #expect(notices.notices(status(.singing, .led(by: ben), agreed: true, ben: false), people()) == [])
    }

    @Test func `a singer in the same room is named, with the key that undoes it`() {
        var notices = DuetNotices()
        _ = notices.notices(DuetExample.status(.agreeing), people())
        let nearby = DuetExample.status(.agreeing) {
            ($0.duet.singers[0].isNearby, $0.isSongElsewhere) = (true, true)
        }
        #expect(
            notices.notices(nearby, people()) == [
                .say(
                    "Ben is in the same room, so you hear Ben only through the air. To hear Ben over the network too: "
                        + "press v"),
                .say("Your loudspeaker is silent during the song, because another one in the room plays it."),
            ])
        #expect(notices.notices(nearby, people()) == [])
        #expect(
            notices.notices(DuetExample.status(.agreeing), people()) == [
                .say("Ben is not in the same room any more. You hear Ben over the network again."),
                .say("Your loudspeaker plays the song again."),
            ])
        #expect(DuetSentences.nearby("Ben", isOnly: true, hasKeys: false).hasSuffix("earshot call hear Ben"))
    }
}
