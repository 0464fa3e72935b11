// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A path between two peers: a local and a remote address (RFC 8445 §6.1.2).
public struct ICEPair: Hashable, Sendable, CustomStringConvertible {
    /// The local address, from which datagrams are sent.
    public let local: IPAddress
    /// The remote address.
    public let remote: SocketAddress

    init(local: IPAddress, remote: SocketAddress) {
        self.local = local
        self.remote = remote
    }

    /// Creates the pair by which a received datagram is answered: the address that it reached and the one that sent it.
    init(heardFrom source: SocketAddress, to local: IPAddress) {
        self.init(
            local: local.withNeededScope, remote: SocketAddress(source.address.withNeededScope, port: source.port))
    }

    /// The pair as text, for a log.
    public var description: String { "\(local) to \(remote)" }
}

/// A pair and the results of its checks.
struct CheckedPair: Sendable {
    let addresses: ICEPair
    /// The priority (RFC 8445 §6.1.2.3), which orders the pairs that have answered, and behind them those that have not.
    var priority: UInt64
    private(set) var lastSent: HostTime?
    /// The time of the last answer, in lite mode of the peer's last check; nil before.
    private(set) var lastAnswer: HostTime?
    /// The seconds of a round trip: a shorter one is adopted at once, a longer one gradually, as queues are not part of the path.
    /// Nil before an answer.
    private(set) var roundTrip: Double?
    /// The number of answers since the pair was last dead.
    private(set) var answers = 0
    /// The number of checks sent since the last answer.
    private(set) var unanswered = 0
    /// The time of the first check sent since the last answer; nil if there is none.
    private(set) var unansweredSince: HostTime?
    /// True if the last check told the controlled peer to use this pair.
    private(set) var isNominated = false
    /// True if the controlling peer wants this pair, which is used as soon as it has answered.
    var isWanted = false

    init(_ addresses: ICEPair, priority: UInt64) {
        self.addresses = addresses
        self.priority = priority
    }

    mutating func sent(nominating: Bool, at: HostTime) {
        lastSent = at
        isNominated = nominating
        unanswered += 1
        if unansweredSince == nil { unansweredSince = at }
    }

    /// Notes the answer to a check that was sent `roundTrip` seconds ago.
    mutating func answered(after roundTrip: Double, at: HostTime) {
        if isDead(at: at) { answers = 0 }
        answers += 1
        lastAnswer = at
        unanswered = 0
        unansweredSince = nil
        let known = self.roundTrip ?? roundTrip
        self.roundTrip = roundTrip < known ? roundTrip : known + (roundTrip - known) / 8
    }

    /// Notes a check from the peer on this pair. A lite agent knows pairs only by such checks.
    mutating func checked(at: HostTime) { lastAnswer = at }

    /// The seconds within which a check should be answered.
    private var answerTimeout: Double { Swift.max(0.25, 0.1 + 2 * (roundTrip ?? 0)) }

    /// The time at which a missing answer makes the pair suspect; nil if none is missing.
    var suspectTime: HostTime? { unansweredSince?.advanced(bySeconds: answerTimeout) }

    func isSuspect(at: HostTime) -> Bool { suspectTime.map { $0 <= at } ?? false }

    /// Returns true if four checks or more are unanswered, and the first of them is overdue. One is not enough: a program that
    /// was suspended finds its last check unanswered for long.
    func isDead(at: HostTime) -> Bool { unanswered >= 4 && isSuspect(at: at) }

    /// Returns true if the pair is not dead, and has answered within the last 10 s, the time of two calm rounds.
    func works(at: HostTime) -> Bool {
        guard let lastAnswer else { return false }
        return !isDead(at: at) && at.seconds(since: lastAnswer) < 2 * ICEAgent.calmInterval
    }

    /// Returns true if this pair is not dead, and has answered since the first unanswered check of `other`.
    func outlives(_ other: CheckedPair, at: HostTime) -> Bool {
        guard let lastAnswer, let silent = other.unansweredSince else { return false }
        return lastAnswer > silent && !isDead(at: at)
    }

    /// Returns true if a change from `other` to this pair is worthwhile: both have answered at least three times, this pair is
    /// not dead, and the round trip of `other` is longer than 1.5 times this one's plus a millisecond.
    func isClearlyFaster(than other: CheckedPair, at: HostTime) -> Bool {
        guard answers >= 3, other.answers >= 3, let roundTrip, let longer = other.roundTrip else { return false }
        return !isDead(at: at) && 1.5 * roundTrip + 0.001 < longer
    }
}
