// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The time of a group of peers. The members agree on one leader, and the time does not jump when the leader leaves.
///
/// A sans-IO value. The first member leads, and its clock is the group's time. The leader announces a line from its clock to the
/// group's time. The others estimate the leader's clock by their ``PeerClock``. A leader stays until it leaves or its clock steps.
/// Then the next member in the order of succession (the host, then the smallest key) continues the time that it has. The others
/// follow it at a slightly different rate, or at once while nothing plays. A member without a time waits for an announcement, and leads only if none comes.
///
/// The announcement with the higher term counts. If the terms are equal, that of the smaller key counts. So groups that meet agree.
/// A member that lies can disturb the group's time, but not more than a leader can.
package struct GroupClock<Member: Hashable & Comparable & Sendable>: Sendable {
    private struct Leadership {
        var leader: Member
        var announcement: GroupAnnouncement
        var isTrusted = true  // false once the leader's clock has stepped
        var isNew = true  // not followed yet
    }

    /// True while nothing plays: the time then follows each new estimate of the leader's clock at once.
    package var followsAtOnce = false
    private let own: Member
    private var succession: [Member]
    private var clocks: [Member: PeerClock] = [:]
    private var leadership: Leadership?
    private var vacantSince: HostTime?
    private var nextAnnouncement: HostTime?
    private var line: ClockLine?  // from the local clock to the returned group time
    private var steadyRate = 0.0  // of `line`, without a correction
    private var remaining = 0.0  // seconds left to correct
    private var leaderClock: PeerClock?  // the last one that was followed
    private var followedSince: HostTime?  // nil while this member leads or has no time
    /// The number of jumps of the group's time. It jumps if this member's group meets another one.
    package private(set) var jumpCount = 0

    /// Seconds between two announcements. Two are due before the next rank leads, so one may be lost.
    private static var interval: Double { 0.25 }
    /// Seconds for which each rank of the order waits for an announcement of the rank before.
    private static var waitPerRank: Double { 0.5 }
    /// Seconds in which a small correction is made.
    private static var correctionTime: Double { 1 }
    /// The greatest rate of a correction: 0.3 cents, which nobody hears.
    private static var greatestCorrection: Double { 200e-6 }
    /// Seconds. A leader's clock has stepped if it is off by more than this and its uncertainty. This is half of the shortest sleep
    /// that a machine notices (``slept()``), so the other members notice each such sleep, too.
    private static var step: Double { 0.05 }
    /// Seconds from the first estimate of a leader's clock until a sound may begin by it: the shortest time, and the longest one, if
    /// the error stays above `settledError`. The first estimates are off by twice as much as those a second later.
    private static var settlingTime: ClosedRange<Double> { 0.8...1.3 }
    /// Seconds.
    private static var settledError: Double { 1e-3 }

    /// Creates the clock of a member that is alone.
    package init(own: Member) {
        self.own = own
        succession = [own]
    }

    /// The member whose clock leads; nil while there is none.
    package var leader: Member? { isVacant ? nil : leadership?.leader }

    /// Sets the members of the group, with or without this one, and the host, which succeeds first.
    package mutating func setMembers(_ members: Set<Member>, host: Member?) {
        let present = members.union([own])
        succession = present.sorted { ($0 == host ? 0 : 1, $0) < ($1 == host ? 0 : 1, $1) }
        clocks = clocks.filter { present.contains($0.key) }
    }

    /// Sets the present estimate of a member's clock; nil for none.
    package mutating func setClock(_ clock: PeerClock?, of member: Member) {
        if succession.contains(member), member != own { clocks[member] = clock }
    }

    /// Notes that the machine slept: the local clock stood still, and the group's time is unknown.
    package mutating func slept() {
        (line, followedSince) = (nil, nil)
        clocks = [:]
        if leadership?.leader == own { leadership?.isTrusted = false }
    }

    /// Reads a member's announcement. Ignores invalid announcements, and those of peers that are not members.
    package mutating func receive(_ announcement: GroupAnnouncement, from member: Member) {
        guard announcement.isValid, member != own, succession.contains(member),
            supersedes(announcement, from: member)
        else { return }
        let continues = leader == member && leadership?.announcement.term == announcement.term
        let isNew = !continues || leadership?.isNew == true
        leadership = Leadership(leader: member, announcement: announcement, isNew: isNew)
    }

    /// Follows the leader, or becomes it. Call this about every 100 ms.
    /// - Returns: an announcement to all members; nil if none is due.
    package mutating func tick(at now: HostTime) -> GroupAnnouncement? {
        if isVacant {
            let since = vacantSince ?? now
            vacantSince = since
            if now.seconds(since: since) >= wait { lead(at: now) }
        } else {
            vacantSince = nil
        }
        guard let leadership, leader == own else {
            follow(at: now)
            return nil
        }
        guard nextAnnouncement.map({ $0 <= now }) ?? true else { return nil }
        nextAnnouncement = now.advanced(bySeconds: Self.interval)
        return leadership.announcement
    }

    /// Returns the group's time at a time of the local clock; nil while it is unknown.
    /// - Returns: also the seconds by which it may differ from the leader's time, whatever the path.
    package func groupTime(at local: HostTime) -> (time: HostTime, uncertainty: Double)? {
        guard let line else { return nil }
        let uncertainty =
            leader == own ? 0 : abs(remaining) + (leaderClock?.uncertainty(at: local) ?? 0)
        return (line.time(at: local), uncertainty)
    }

    /// Returns true if a sound that begins at a time of the local clock may rely on the group's time: the leader's clock has been
    /// followed for a while, or this member leads.
    package func isSettled(at local: HostTime) -> Bool {
        guard let followedSince, let leaderClock else { return line != nil }
        let elapsed = local.seconds(since: followedSince)
        let isCertain = leaderClock.symmetricUncertainty(at: local) <= Self.settledError
        return elapsed >= (isCertain ? Self.settlingTime.lowerBound : Self.settlingTime.upperBound)
    }

    /// Returns the time of the local clock at a time of the group; nil while the group's time is unknown.
    package func localTime(at group: HostTime) -> HostTime? { line?.inverse(at: group) }

    private var isVacant: Bool {
        guard let leadership else { return true }
        return !leadership.isTrusted || !succession.contains(leadership.leader)
    }

    /// The seconds without a leader after which this member leads; 0 if it is alone.
    private var wait: Double {
        guard succession.count > 1 else { return 0 }
        let untrusted = leadership?.isTrusted == false ? leadership?.leader : nil
        let rank = succession.filter { $0 != untrusted }.firstIndex(of: own) ?? succession.count
        return Self.waitPerRank * Double(line == nil ? succession.count + rank : rank)
    }

    private func supersedes(_ announcement: GroupAnnouncement, from member: Member) -> Bool {
        guard let leadership else { return true }
        let term = leadership.announcement.term
        if !leadership.isTrusted, leadership.leader == member { return announcement.term > term }
        return member == leadership.leader || announcement.term > term || isVacant && announcement.term == term
            || announcement.term == term && member < leadership.leader
    }

    private mutating func lead(at now: HostTime) {
        let before = leadership?.announcement.term ?? 0
        let kept = ClockLine(
            from: now, to: line?.time(at: now) ?? now, rate: line == nil ? 0 : steadyRate)
        line = kept
        (steadyRate, remaining, followedSince) = (kept.rate, 0, nil)
        let term = before == .max ? before : before + 1
        leadership = Leadership(leader: own, announcement: GroupAnnouncement(term: term, line: kept))
        nextAnnouncement = now
    }

    private mutating func follow(at now: HostTime) {
        guard let leadership, !isVacant, let clock = clocks[leadership.leader] else {
            return coast(at: now)
        }
        let announced = leadership.announcement.line
        let target = announced.time(at: clock.peerTime(at: now))
        let shown = line?.time(at: now) ?? target
        var error = target.seconds(since: shown)
        let jumps = leadership.isNew && abs(error) > Self.step
        guard jumps || abs(error) <= Self.step + clock.uncertainty(at: now) else {
            self.leadership?.isTrusted = false
            return coast(at: now)
        }
        self.leadership?.isNew = false
        if followedSince == nil || jumps { followedSince = now }
        if jumps {
            jumpCount += 1
            error = 0
        }
        if followsAtOnce { error = 0 }
        leaderClock = clock
        remaining = error
        steadyRate = (1 + clock.rate) * (1 + announced.rate) - 1
        let correction = max(
            -Self.greatestCorrection, min(Self.greatestCorrection, error / Self.correctionTime))
        line = ClockLine(from: now, to: jumps || followsAtOnce ? target : shown, rate: steadyRate + correction)
    }

    /// Continues the time without a leader and without a correction.
    private mutating func coast(at now: HostTime) {
        if let shown = line?.time(at: now) { line = ClockLine(from: now, to: shown, rate: steadyRate) }
    }
}
