// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The mode of an attempt: the host proposes it by the measured delays, and any singer may choose another one before the song.
extension DuetCore {
    /// Seconds for which long delays may fall before the host proposes a leader: a jitter buffer begins with a longer delay.
    private static var settlingTime: Double { 2 }
    /// Seconds after which the host does without unknown delays.
    private static var unknownDelayTimeout: Double { 3 }
    /// The longest lag of a follower in seconds.
    private static var longestLag: Double { 0.5 }

    /// The mode of the attempt; nil until it is decided.
    var mode: DuetMode<Member>? {
        guard let leader = transport.leader else {
            // A host with an earlier program proposes none.
            guard let host, let message = others[host]?.message, message.singer == nil else { return nil }
            return .together
        }
        let isInTurn = transport.isInTurn == true
        let leaders = others.filter { $0.value.message.singer == leader }.keys
        guard let member = leader == singer ? own : leaders.min() else { return isInTurn ? nil : .together }
        return isInTurn ? .inTurn(member) : .led(by: member)
    }

    /// Sets the seconds from a member's mouth to this one's ear; nil while they are unknown.
    package mutating func setDelay(_ delay: Double?, of member: Member) { delays[member] = delay }

    /// Chooses the mode of an attempt that has not begun. All must agree to it again.
    package mutating func setMode(_ mode: DuetMode<Member>) throws(DuetRefusal) {
        guard song != nil else { throw .noSong }
        guard transport.state == .waiting else { throw .started }
        let (leader, isInTurn) =
            switch mode {
            case .together: (DuetTransport.noLeader, false)
            case .led(let member): (try number(of: member), false)
            case .inTurn(let member): (try number(of: member), true)
            }
        guard leader != transport.leader || isInTurn != (transport.isInTurn == true) else { return }
        setLeader(leader, isInTurn: isInTurn)
        agreement = nil
    }

    /// Returns the random number of a singer.
    func number(of member: Member) throws(DuetRefusal) -> UInt64 {
        guard let number = member == own ? singer : others[member]?.message.singer else { throw .noSinger }
        return number
    }

    /// Proposes the mode of the song's first attempt, as the host. Gives the turn of a singer who has left to another one.
    mutating func proposeMode(at now: HostTime) {
        if host == own, transport.state == .waiting, transport.isInTurn == true, mode == nil, !others.isEmpty,
            let next = try? number(of: nextSinger)
        {
            agreement = nil
            return setLeader(next, isInTurn: true)
        }
        guard host == own, transport.state == .waiting, transport.leader == nil, song != nil, !others.isEmpty else {
            modeTime = nil
            return
        }
        let start = modeTime ?? now
        modeTime = start
        let known = others.keys.compactMap { delays[$0] }
        let areAllKnown = known.count == others.count
        let longest = known.max() ?? 0
        let isLong = longest > DuetMode<Member>.togetherLimit
        if areAllKnown, !isLong { return setLeader(DuetTransport.noLeader) }
        guard now.seconds(since: start) >= (areAllKnown ? Self.settlingTime : Self.unknownDelayTimeout) else { return }
        setLeader(
            isLong ? singer : DuetTransport.noLeader, isInTurn: longest > DuetMode<Member>.leadLimit)
        if isLong { agreement = nil }
    }

    private mutating func setLeader(_ leader: UInt64, isInTurn: Bool = false) {
        transport.setLeader(leader, isInTurn: isInTurn)
        change(to: .waiting, position: 0, at: HostTime(nanoseconds: 0))
    }

    /// Takes over a transport that another member has changed. Another mode needs another agreement.
    mutating func replaceTransport(by other: DuetTransport) {
        let isAnotherMode =
            other.attempt == transport.attempt && other.state == .waiting && !other.hasMode(of: transport)
        transport = other
        if isAnotherMode { agreement = nil }
    }

    /// The seconds by which the local song follows that of a leader who can be heard.
    var leaderDelay: Double {
        guard let leader = mode?.leader, leader != own else { return 0 }
        return max(0, min(Self.longestLag, delays[leader] ?? 0))
    }

    /// Returns the local position in seconds at an instant of the group's time; negative before the start.
    func position(at group: HostTime) -> Double { transport.position(at: group.advanced(bySeconds: -lag)) }
}
