// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

@testable import EarshotClockSync

/// A group of members whose machines' clocks differ by up to 50 ppm, with their estimates of each other and their announcements, on
/// virtual time. A member's key is its index, and member 0 is the host.
struct GroupRig {
    struct Member {
        var group: GroupClock<Int>
        var host: SimulatedHostClock
        var isIn = false
        var last: (local: HostTime, group: HostTime)?
        /// The greatest difference of the group's rate from the member's clock's rate.
        var greatestRate = 0.0
    }
    var members: [Member]
    /// Returns false for members that do not reach each other.
    var reaches: (Int, Int) -> Bool = { _, _ in true }
    /// Nanoseconds.
    private(set) var now: Int64 = 0
    private var random: SeededRandom
    private var flying: [(at: Int64, from: Int, to: Int, announcement: GroupAnnouncement)] = []

    init(_ count: Int, seed: UInt64) {
        var random = SeededRandom(seed: seed)
        members = (0..<count).map {
            Member(
                group: GroupClock(own: $0),
                host: SimulatedHostClock(start: Int64(random.unit() * 1e15), ppm: 100 * random.unit() - 50))
        }
        self.random = random
    }

    mutating func join(_ index: Int) {
        members[index].isIn = true
        setMembers()
    }

    mutating func leave(_ index: Int) {
        members[index].isIn = false
        members[index].last = nil
        setMembers()
    }

    /// Tells all members who reaches them.
    mutating func setMembers() {
        for index in members.indices where members[index].isIn {
            let reached = members.indices.filter {
                members[$0].isIn && ($0 == index || reaches(index, $0))
            }
            members[index].group.setMembers(Set(reached), host: 0)
        }
    }

    /// The time of a member's own clock.
    func local(_ index: Int) -> HostTime { members[index].host.time(at: now) }

    /// The group's time that a member has; nil if it is unknown.
    func groupTime(_ index: Int) -> HostTime? {
        members[index].group.groupTime(at: local(index))?.time
    }

    /// The members in the group.
    var present: [Int] { members.indices.filter { members[$0].isIn } }

    /// The seconds between the earliest and the latest group's time of the present members; nil if one has none.
    var spread: Double? {
        let times = present.compactMap { groupTime($0)?.nanoseconds }
        guard let first = times.min(), let last = times.max(), times.count == present.count else {
            return nil
        }
        return Double(last - first) * 1e-9
    }

    /// - Parameter check: is called every 10 ms.
    mutating func run(_ seconds: Double, _ check: (inout GroupRig) -> Void = { _ in }) {
        for _ in 0..<Int(seconds * 100) {
            now += 10_000_000
            let arrived = flying.filter { $0.at <= now }
            flying.removeAll { $0.at <= now }
            for flight in arrived where members[flight.to].isIn {
                members[flight.to].group.receive(flight.announcement, from: flight.from)
            }
            for index in present where (now / 10_000_000 + Int64(3 * index)) % 10 == 0 { tick(index) }
            for index in present { observe(index) }
            check(&self)
        }
    }

    private mutating func tick(_ index: Int) {
        for other in present where other != index && reaches(index, other) {
            members[index].group.setClock(estimate(of: other, at: index), of: other)
        }
        guard let announcement = members[index].group.tick(at: local(index)) else { return }
        for other in present where other != index && reaches(index, other) && random.unit() > 0.1 {
            flying.append((now + Int64(1e6 + random.unit() * 20e6), index, other, announcement))
        }
    }

    /// An estimate that is off by up to 20 µs and 0.3 ppm.
    private mutating func estimate(of other: Int, at index: Int) -> PeerClock {
        let peer = members[other].host.time(at: now).advanced(bySeconds: 40e-6 * random.unit() - 20e-6)
        let rate =
            (members[other].host.ppm - members[index].host.ppm + 0.6 * random.unit() - 0.3) * 1e-6
        return PeerClock(
            localReference: local(index), peerReference: peer, rate: rate, rateError: 1e-6, error: 40e-6,
            roundTripError: 0.001)
    }

    private mutating func observe(_ index: Int) {
        let local = local(index)
        guard let group = groupTime(index) else {
            members[index].last = nil
            return
        }
        if let last = members[index].last, local > last.local {
            let rate = group.seconds(since: last.group) / local.seconds(since: last.local) - 1
            members[index].greatestRate = max(members[index].greatestRate, abs(rate))
        }
        members[index].last = (local, group)
    }
}
