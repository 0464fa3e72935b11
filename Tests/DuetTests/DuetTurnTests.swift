// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotDuet

/// Singers who are too far apart for a leader take turns, over seeds, with messages that are late or lost.
@Suite struct DuetTurnTests {
    /// Returns a rig of singers whose voices take 0.2 s to each other.
    private func farApart(_ count: Int, seed: UInt64) -> DuetRig {
        var rig = DuetRig(count, seed: seed)
        rig.delay = { _, _ in 0.2 }
        return rig
    }

    /// Returns the members that recorded, and those that awaited another voice, in an attempt.
    private func roles(_ rig: DuetRig, _ attempt: UInt32) -> (recorded: [Int], awaited: [Int]) {
        let actions = rig.members.map(\.actions)
        return (
            actions.indices.filter { actions[$0].contains(.record(attempt: attempt)) },
            actions.indices.filter { actions[$0].contains(.awaitVoice(attempt: attempt)) }
        )
    }

    /// Lets all agree, and sings the attempt from near its end.
    private func sing(_ rig: inout DuetRig) throws {
        for index in rig.present where !rig.status(index).hasAgreed { try rig.members[index].core.agree() }
        rig.run(7)
        let singer = try #require(rig.status(0).mode?.leader)
        for index in rig.present where index != singer {
            let lag = try #require(rig.position(singer)) - #require(rig.position(index))
            #expect(abs(lag - 0.2) < rig.tolerance)
        }
        try rig.members[0].core.seek(to: 59, at: rig.local(0))
        rig.run(4)
        #expect(rig.present.allSatisfy { rig.status($0).phase == .ended })
    }

    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `each has a turn that keeps the voices before, and only the singer of the turn records`(seed: UInt64) throws {
        var rig = farApart(3, seed: seed)
        try rig.start(3)
        rig.run(1)
        #expect((0..<3).allSatisfy { rig.status($0).mode == .inTurn(0) && rig.status($0).keptAttempt == nil })
        for turn in 0..<4 {
            let attempt = UInt32(turn + 1)
            try sing(&rig)
            let roles = roles(rig, attempt)
            #expect(roles.recorded == [turn % 3] && roles.awaited == (0..<3).filter { $0 != turn % 3 }, "\(turn)")
            #expect((0..<3).allSatisfy { rig.members[$0].finished.last == attempt })
            #expect(throws: DuetRefusal.mixMissing) { try rig.members[1].core.beginNextTurn() }
            for index in 0..<3 { rig.members[index].core.setMix(attempt) }
            try rig.members[turn % 2].core.beginNextTurn()
            rig.run(1)
            for index in 0..<3 {
                let status = rig.status(index)
                #expect(status.mode == .inTurn((turn + 1) % 3) && status.keptAttempt == attempt && !status.hasAgreed)
                #expect(status.sings == (index == (turn + 1) % 3))
            }
        }
    }

    @Test func `a repeated turn keeps the same voices, and another mode keeps none`() throws {
        var rig = farApart(2, seed: 6)
        try rig.start(2)
        rig.run(1)
        try sing(&rig)
        for index in 0..<2 { rig.members[index].core.setMix(1) }
        try rig.members[0].core.beginNextTurn()
        rig.run(1)
        try sing(&rig)
        try rig.members[1].core.singAgain()
        rig.run(1)
        #expect(rig.status(0).mode == .inTurn(1) && rig.status(0).keptAttempt == 1 && rig.status(0).attempt == 3)
        try rig.members[0].core.setMode(.led(by: 0))
        rig.run(1)
        #expect((0..<2).allSatisfy { rig.status($0).keptAttempt == nil && rig.status($0).sings })
        #expect(throws: DuetRefusal.notInTurn) { try rig.members[0].core.beginNextTurn() }
        try rig.members[0].core.setMode(.inTurn(0))
        rig.run(1)
        #expect(rig.status(1).mode == .inTurn(0) && rig.status(1).keptAttempt == nil)
    }

    @Test func `a turn goes to another if its singer leaves before, and goes on for the others if in the song`() throws
    {
        var rig = farApart(3, seed: 7)
        try rig.start(3)
        try rig.members[1].core.setMode(.inTurn(2))
        rig.run(1)
        for index in 0..<2 { try rig.members[index].core.agree() }
        rig.leave(2)
        rig.run(6)
        #expect((0..<2).allSatisfy { rig.status($0).mode == .inTurn(0) && !rig.status($0).hasAgreed })
        try rig.members[0].core.setMode(.inTurn(1))
        rig.run(1)
        for index in 0..<2 { try rig.members[index].core.agree() }
        rig.run(6)
        #expect(rig.status(0).phase == .singing && rig.members[1].recordings == [1])
        rig.leave(1)
        rig.run(5)
        #expect(rig.status(0).phase == .singing && rig.position(0) != nil && rig.members[0].recordings.isEmpty)
    }
}
