// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import Testing

@testable import EarshotClockSync
@testable import EarshotDuet

/// Singers who are far apart sing after a leader, over seeds, with messages that are late or lost.
@Suite struct DuetModeTests {
    private static let seeds = 1...5 as ClosedRange<UInt64>

    /// Returns a rig of singers whose voices take 40 to 43 ms to each other.
    private func farApart(_ count: Int, seed: UInt64) -> DuetRig {
        var rig = DuetRig(count, seed: seed)
        rig.delay = { from, to in 0.04 + 0.001 * Double(from + to) }
        return rig
    }

    /// Returns the seconds by which a member's song is behind another's.
    private func lag(of follower: Int, behind leader: Int, _ rig: DuetRig) throws -> Double {
        try #require(rig.position(leader)) - #require(rig.position(follower))
    }

    @Test func `singers near each other sing together, by the host's proposal`() throws {
        var rig = DuetRig(2, seed: 1)
        rig.join(0, 1)
        rig.run(0.2)
        #expect(rig.status(0).mode == nil)
        try rig.members[0].core.choose(DuetRig.song, at: rig.local(0))
        rig.run(1)
        #expect(rig.status(0).mode == .together && rig.status(1).mode == .together && rig.status(1).own == 1)
    }

    @Test(arguments: seeds) func `over long delays each follower hears the song as late as the leader's voice`(
        seed: UInt64
    ) throws {
        var rig = farApart(3, seed: seed)
        for index in 0..<3 { rig.join(index) }
        rig.run(0.2)
        try rig.members[0].core.choose(DuetRig.song, at: rig.local(0))
        rig.run(1.5)
        // A jitter buffer begins with a longer delay, so a proposal takes time.
        #expect(rig.status(0).mode == nil)
        rig.run(2)
        #expect((0..<3).allSatisfy { rig.status($0).mode == .led(by: 0) })
        for index in 0..<3 { try rig.members[index].core.agree() }
        rig.run(8)
        let tolerance = rig.tolerance
        #expect(abs(try lag(of: 1, behind: 0, rig) - 0.041) < tolerance)
        #expect(abs(try lag(of: 2, behind: 0, rig) - 0.042) < tolerance)
        #expect(
            rig.members[1].core.duePosition(at: rig.local(1)).map { abs($0 - rig.status(1).position) < 1e-6 } == true)

        // A pause stops each at the same place, and the lag is that of the time when the song goes on.
        try rig.members[2].core.pause(at: rig.local(2))
        rig.run(2)
        let places = (0..<3).map { rig.status($0).position }
        #expect(places.allSatisfy { abs($0 - places[0]) < 1e-6 } && (0..<3).allSatisfy { rig.position($0) == nil })
        rig.delay = { _, to in to == 1 ? 0.06 : 0.05 }
        try rig.members[1].core.resume(at: rig.local(1))
        rig.run(2)
        #expect(abs(try lag(of: 1, behind: 0, rig) - 0.06) < rig.tolerance)
        #expect(abs(try lag(of: 2, behind: 0, rig) - 0.05) < rig.tolerance)
        try rig.members[0].core.seek(to: 58, at: rig.local(0))
        rig.run(6)
        #expect((0..<3).allSatisfy { rig.status($0).phase == .ended && rig.members[$0].finished == [1] })
        // The mix plays at one instant for all.
        for index in 0..<3 { rig.members[index].core.setMix(1) }
        try rig.members[1].core.listen(true, at: rig.local(1))
        rig.run(2)
        #expect(try #require(rig.spread) < rig.tolerance)
    }

    @Test(arguments: seeds) func `any singer may lead, and all must agree to it again`(seed: UInt64) throws {
        var rig = farApart(2, seed: seed)
        try rig.start(2)
        #expect(rig.status(0).mode == .led(by: 0) && rig.status(0).hasAgreed)
        try rig.members[1].core.setMode(.led(by: 1))
        rig.run(1)
        #expect((0..<2).allSatisfy { rig.status($0).mode == .led(by: 1) && !rig.status($0).hasAgreed })
        for index in 0..<2 { try rig.members[index].core.agree() }
        rig.run(7)
        #expect(abs(try lag(of: 0, behind: 1, rig) - 0.041) < rig.tolerance)
        #expect(throws: DuetRefusal.started) { try rig.members[0].core.setMode(.together) }
        // The next take has the same mode, until somebody chooses another.
        try rig.members[0].core.singAgain()
        rig.run(1)
        #expect(rig.status(0).mode == .led(by: 1))
        #expect(throws: DuetRefusal.noSinger) { try rig.members[0].core.setMode(.led(by: 9)) }
        try rig.members[0].core.setMode(.together)
        rig.run(1)
        for index in 0..<2 { try rig.members[index].core.agree() }
        rig.run(7)
        #expect(try #require(rig.spread) < rig.tolerance && rig.status(1).mode == .together)
    }

    @Test func `a leader keeps the lead under another number, and a lost leader stops nobody`() throws {
        var rig = farApart(3, seed: 3)
        for index in 0..<2 { rig.join(index) }
        rig.run(0.2)
        try rig.members[0].core.choose(DuetRig.song, at: rig.local(0))
        rig.run(3.5)
        try rig.members[0].core.setMode(.led(by: 1))
        rig.run(1)
        // The room numbers its members anew.
        rig.members[2].core = DuetCore(own: 2, continuing: rig.members[1].core)
        rig.leave(1)
        rig.join(2)
        rig.run(1)
        #expect(rig.status(0).mode == .led(by: 2) && rig.status(2).mode == .led(by: 2))
        for index in [0, 2] { try rig.members[index].core.agree() }
        rig.run(7)
        #expect(abs(try lag(of: 0, behind: 2, rig) - 0.042) < rig.tolerance)
        rig.leave(2)
        rig.run(5)
        #expect(rig.status(0).phase == .singing && rig.position(0) != nil && rig.status(0).mode == .together)
    }

    @Test func `without known delays the host waits for some seconds, then all sing together`() throws {
        var rig = DuetRig(2, seed: 4)
        rig.delay = { _, _ in nil }
        try rig.start(2)
        #expect(rig.status(0).mode == nil && rig.status(0).phase == .agreeing)
        rig.run(5)
        #expect(rig.status(0).mode == .together && rig.status(0).hasAgreed && rig.status(1).phase != .agreeing)
    }

    @Test func `an earlier program proposes nothing, and a message with an impossible singer is none`() throws {
        var rig = DuetRig(2, seed: 5)
        rig.join(0, 1)
        rig.run(0.2)
        var message = DuetMessage()
        (message.song, message.transport) = (DuetRig.song, DuetTransport())
        rig.members[1].core.receive(message.bytes, from: 0, at: rig.local(1))
        #expect(rig.status(1).song == DuetRig.song && rig.status(1).mode == .together)
        for singer in [0, 1 << 53] as [UInt64] {
            message.singer = singer
            #expect(DuetMessage(message.bytes) == nil)
        }
        message.singer = 1 << 53 - 1
        #expect(DuetMessage(message.bytes)?.singer == message.singer)
        message.transport?.leader = 1 << 53
        #expect(DuetMessage(message.bytes) == nil)
    }
}
