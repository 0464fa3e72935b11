// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotClockSync

/// The time of a group whose members join, leave, sleep and lie, over seeds.
@Suite struct GroupClockTests {
    static let seeds = 1...10 as ClosedRange<UInt64>
    /// Two clocks differ by 100 ppm, and a correction is at most 200 ppm.
    private static let greatestRate = 310e-6

    /// Returns a group of members that joined one after the other, in the order of their keys.
    private func group(_ count: Int, seed: UInt64) -> GroupRig {
        var rig = GroupRig(count, seed: seed)
        for index in 0..<count {
            rig.join(index)
            rig.run(0.3)
        }
        rig.run(2.5)
        return rig
    }

    private func expectAgreement(_ rig: GroupRig, leader: Int, _ comment: Comment? = nil) throws {
        #expect(rig.present.allSatisfy { rig.members[$0].group.leader == leader }, comment)
        #expect(try #require(rig.spread, comment) < 0.1e-3, comment)
    }

    @Test(arguments: seeds) func `the first member leads, and all others have its time`(seed: UInt64)
        throws
    {
        let rig = group(4, seed: seed)
        try expectAgreement(rig, leader: 0)
        #expect(rig.groupTime(0) == rig.local(0))
        for index in 1..<4 {
            let found = try #require(rig.members[index].group.groupTime(at: rig.local(index)))
            #expect(
                abs(found.time.seconds(since: rig.local(0))) < found.uncertainty
                    && found.uncertainty < 0.002)
            let back = try #require(rig.members[index].group.localTime(at: found.time))
            #expect(abs(back.nanoseconds - rig.local(index).nanoseconds) <= 1)
        }
    }

    @Test(arguments: seeds) func `leaders leave one after the other and nothing jumps`(seed: UInt64)
        throws
    {
        var rig = group(4, seed: seed)
        for leader in 0..<3 {
            rig.leave(leader)
            rig.run(5) { #expect($0.spread ?? 1 < 0.2e-3) }
            try expectAgreement(rig, leader: leader + 1)
        }
        for index in 1..<4 {
            #expect(rig.members[index].group.jumpCount == 0)
            #expect(
                rig.members[index].greatestRate < Self.greatestRate, "\(rig.members[index].greatestRate)")
        }
    }

    @Test
    func
        `a newcomer before the leader in the order follows it, and a host that left succeeds when it is back`()
        throws
    {
        var rig = GroupRig(3, seed: 1)
        for index in [2, 1, 0] {
            rig.join(index)
            rig.run(3)
            try expectAgreement(rig, leader: 2)
        }
        rig.leave(2)
        rig.run(1)
        try expectAgreement(rig, leader: 0)
        #expect(
            rig.members.allSatisfy { $0.group.jumpCount == 0 && $0.greatestRate < Self.greatestRate })
    }

    @Test(arguments: seeds) func `a leader that sleeps is succeeded, and returns to the group's time`(
        seed: UInt64
    ) throws {
        var rig = group(3, seed: seed)
        rig.members[0].host.steps = [(at: Double(rig.now) * 1e-9, by: -3)]
        rig.members[0].group.slept()
        rig.members[0].last = nil
        rig.run(4) {
            #expect(abs($0.groupTime(1)?.seconds(since: $0.groupTime(2) ?? $0.local(2)) ?? 1) < 0.2e-3)
        }
        try expectAgreement(rig, leader: 1)
        for member in rig.members {
            #expect(
                member.group.jumpCount == 0 && member.greatestRate < Self.greatestRate,
                "\(member.greatestRate)")
        }
    }

    @Test func `a leader that nobody hears is kept, until it leaves`() throws {
        var rig = group(3, seed: 2)
        let before = try #require(rig.groupTime(2))
        rig.reaches = { a, b in a != 0 && b != 0 }
        rig.run(10)
        #expect(rig.members[2].group.leader == 0)
        #expect(abs(try #require(rig.groupTime(2)).seconds(since: before) - 10) < 0.001)
        rig.setMembers()
        rig.run(3)
        #expect(rig.members[1].group.leader == 1 && rig.members[2].group.leader == 1)
        #expect(rig.members[0].group.leader == 0)
    }

    /// Members 0 and 1 do not reach 2 and 3 at first.
    @Test(arguments: seeds) func `two groups that meet agree on one leader and one time`(seed: UInt64)
        throws
    {
        var rig = GroupRig(4, seed: seed)
        rig.reaches = { ($0 < 2) == ($1 < 2) }
        for index in 0..<4 { rig.join(index) }
        rig.run(5)
        #expect(rig.members.map(\.group.leader) == [0, 0, 2, 2])
        rig.reaches = { _, _ in true }
        rig.setMembers()
        rig.run(3)
        try expectAgreement(rig, leader: 0)
        #expect(rig.members.map(\.group.jumpCount) == [0, 0, 1, 1])
    }

    @Test func `announcements of others and invalid ones change nothing`() throws {
        var rig = group(2, seed: 3)
        let line = ClockLine(from: .init(nanoseconds: 0), to: .init(nanoseconds: 0), rate: 0)
        var steep = line
        steep.rate = 0.01
        var broken = line
        broken.rate = .nan
        for (from, line) in [(7, line), (1, line), (0, steep), (0, broken)] {
            rig.members[1].group.receive(
                GroupAnnouncement(term: .max, line: line), from: from)
        }
        rig.run(1)
        try expectAgreement(rig, leader: 0)
        #expect(rig.members[1].group.jumpCount == 0)
    }

    @Test(arguments: seeds) func `any announcement leaves a time that can be used`(seed: UInt64)
        throws
    {
        var rig = group(3, seed: seed)
        var random = SeededRandom(seed: seed)
        rig.run(20) { rig in
            let time = HostTime(nanoseconds: Int64(bitPattern: random.next()))
            let near = random.next() % 2 == 0 ? rig.local(0) : time
            let rate = random.next() % 8 == 0 ? Double(bitPattern: random.next()) : 1e-4
            let term: UInt32 = random.next() % 64 == 0 ? .max : UInt32(random.next() % 8)
            let announcement = GroupAnnouncement(
                term: term, line: ClockLine(from: near, to: time, rate: rate))
            rig.members[2].group.receive(announcement, from: Int(random.next() % 4))
        }
        // The others leave. The last member then leads.
        for leader in 0..<2 {
            rig.leave(leader)
            rig.run(8)
        }
        #expect(rig.members[2].group.leader == 2 && rig.groupTime(2) != nil)
    }
}
