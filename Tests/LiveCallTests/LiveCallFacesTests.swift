// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotCall
import EarshotMediaTransport
import EarshotNearby
import TestSupport
import Testing

@testable import EarshotLiveCall
@testable import EarshotRooms

/// Faces that look at different times see the same call.
@Suite struct LiveCallFacesTests {
    /// A run of random commands and events.
    private struct Run {
        var rig: CoreRig
        /// The snapshots by revision, as each of two faces saw them.
        var seen: [[UInt64: LiveCallSnapshot]] = [[:], [:]]
        var members: Set<UInt64> = [1]
        var asks: UInt64 = 0
        var refused = 0
        var executed = 0

        init(seed: UInt64) {
            var random = SeededRandom(seed: seed)
            rig = CoreRig {
                $0.staysAlone = true
                if seed % 3 == 0 { $0.duration = 20 }
            }
            for _ in 0..<120 {
                let before = rig.snapshot
                step(&random)
                let after = rig.snapshot
                // There is a new revision if and only if something changed.
                var same = after
                same.revision = before.revision
                #expect((after.revision == before.revision) == (same == before))
                #expect(after.revision == before.revision || after.revision == before.revision + 1)
                seen[0][after.revision] = after
                if random.next() % 3 == 0 { seen[1][after.revision] = after }
            }
        }

        private mutating func step(_ random: inout SeededRandom) {
            func draw(_ count: UInt64) -> UInt64 { random.next() % count }
            switch draw(24) {
            case 0: perform(.host(CoreRig.opening))
            case 1, 2:
                if rig.snapshot.phase == .opening { join() }
            case 3, 4, 5:
                guard rig.snapshot.isInRoom else { return }
                members.insert(2 + draw(7))
                change()
            case 6:
                if let last = members.filter({ $0 != 1 }).max() { members.remove(last) }
                if rig.snapshot.isInRoom { change() }
            case 7, 8:
                asks += 1
                if rig.snapshot.isInRoom { rig.ask(asks) }
            case 9: perform(.admit(JoinRequestID(number: draw(max(1, asks)) + 1)))
            case 10: perform(.decline(JoinRequestID(number: draw(max(1, asks)) + 1)))
            case 11: perform(.blockRequest(JoinRequestID(number: draw(max(1, asks)) + 1)))
            case 12: perform(.remove(CoreRig.id(1 + draw(9))))
            case 13: perform(.block(CoreRig.id(1 + draw(9))))
            case 14: perform(draw(2) == 0 ? .setMuted(draw(2) == 0) : .setPushToTalk(draw(2) == 0))
            case 15:
                let id = CoreRig.id(1 + draw(9))
                perform(draw(2) == 0 ? .setVolume(Float(draw(20)) / 4, of: id) : .setHeard(draw(2) == 0, of: id))
            case 16: perform(draw(2) == 0 ? .say("la") : .setMonitor(MonitorMode.allCases[Int(draw(4))]))
            case 17: perform(.setAdmission(AdmissionPolicy.allCases[Int(draw(3))]))
            case 18: rig.handle(.unsentMessages(Int(draw(3))))
            case 19: rig.startSoundIfAsked()
            case 20: rig.handle(.room(.transport(CoreRig.member(2), .open(since: rig.now))))
            case 21: if draw(20) == 0 { perform(draw(2) == 0 ? .leave : .endRoom) }
            default: rig.wait(Double(draw(40)) / 20)
            }
        }

        private mutating func perform(_ command: LiveCallCommand) {
            let before = rig.snapshot
            let availability = before.availability(of: command.kind)
            if let refusal = rig.refusal(of: command) {
                refused += 1
                #expect(rig.snapshot == before)
                if case .unavailable(let announced) = availability { #expect(refusal == announced) }
            } else {
                executed += 1
                #expect(availability == .available)
            }
        }

        private mutating func join() {
            rig.handle(.room(.joined(rig.makeRoster([CoreRig.member(1)], host: 1), as: CoreRig.id(1))))
            rig.handle(.joinCodes([]))
        }

        private mutating func change() {
            rig.change(to: members.sorted().map { CoreRig.member($0) })
        }
    }

    @Test func `two front ends agree at every revision in 1,000 random runs`() {
        var (refused, executed, revisions, ended) = (0, 0, 0, 0)
        for seed in 1...1_000 as ClosedRange<UInt64> {
            let run = Run(seed: seed)
            for (revision, snapshot) in run.seen[1] {
                let isSame = run.seen[0][revision] == snapshot
                #expect(isSame, "seed \(seed), revision \(revision)")
            }
            let isGapless = run.rig.events.map(\.number).elementsEqual(1...UInt64(max(1, run.rig.events.count)))
            #expect(run.rig.events.isEmpty || isGapless, "seed \(seed)")
            (refused, executed) = (refused + run.refused, executed + run.executed)
            revisions += run.seen[1].count
            ended += run.rig.snapshot.ending == nil ? 0 : 1
        }
        print(
            "1,000 runs: \(executed) commands executed, \(refused) refused, \(revisions) revisions compared, \(ended) ended"
        )
        #expect(executed > 5_000 && refused > 5_000 && revisions > 10_000 && ended > 100)
    }

    @Test func `equal seeds give equal runs`() {
        for seed in [3, 77, 500] as [UInt64] {
            let (one, two) = (Run(seed: seed), Run(seed: seed))
            #expect(one.rig.snapshot == two.rig.snapshot && one.rig.events.count == two.rig.events.count)
        }
    }
}

extension CoreRig {
    /// Starts the device if the core requested it and it does not run.
    mutating func startSoundIfAsked() {
        guard snapshot.sound == .waiting, actions.media.contains("start") else { return }
        startSound()
    }
}
