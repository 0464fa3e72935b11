// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A way between two peers: one of our addresses and one of theirs (RFC 8445 §6.1.2).
public struct ICEPair: Hashable, Sendable, CustomStringConvertible {
    /// Ours, from which datagrams are sent.
    public let local: IPAddress
    /// Theirs.
    public let remote: SocketAddress

    init(local: IPAddress, remote: SocketAddress) {
        self.local = local
        self.remote = remote
    }

    /// The way back of a datagram.
    init(heardFrom source: SocketAddress, to local: IPAddress) {
        self.init(
            local: local.withNeededScope, remote: SocketAddress(source.address.withNeededScope, port: source.port))
    }

    /// For a log.
    public var description: String { "\(local) to \(remote)" }
}

/// A pair, and what its checks have shown.
struct CheckedPair: Sendable {
    let addresses: ICEPair
    /// RFC 8445 §6.1.2.3; the order of checks that are due at once.
    var priority: UInt64
    private(set) var lastSent: HostTime?
    /// When the last answer came, or in lite mode the peer's last check; nil until one has.
    private(set) var lastAnswer: HostTime?
    /// Seconds there and back: a short one is believed at once, longer ones only by and by, as waiting in queues is none
    /// of the way's own. Nil until there was an answer.
    private(set) var roundTrip: Double?
    /// Answers since the pair last failed.
    private(set) var answers = 0
    /// Checks since the last answer, and when the first of them was sent.
    private(set) var unanswered = 0
    private(set) var unansweredSince: HostTime?
    /// The last check told the controlled peer to use this pair.
    private(set) var isNominated = false
    /// The controlling peer wants this pair, and it is used as soon as it has answered.
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

    /// Takes an answer to a check that was sent `roundTrip` seconds before.
    mutating func answered(after roundTrip: Double, at: HostTime) {
        if isDead(at: at) { answers = 0 }
        answers += 1
        lastAnswer = at
        unanswered = 0
        unansweredSince = nil
        let known = self.roundTrip ?? roundTrip
        self.roundTrip = roundTrip < known ? roundTrip : known + (roundTrip - known) / 8
    }

    /// The peer's own check has come this way; all that a lite agent learns of a pair.
    mutating func checked(at: HostTime) { lastAnswer = at }

    /// Seconds after which a check should have been answered.
    private var answerTimeout: Double { Swift.max(0.25, 0.1 + 2 * (roundTrip ?? 0)) }

    /// When a missing answer makes the pair suspect; nil when none is missing.
    var suspectTime: HostTime? { unansweredSince?.advanced(bySeconds: answerTimeout) }

    func isSuspect(at: HostTime) -> Bool { suspectTime.map { $0 <= at } ?? false }

    /// Returns true if too many checks are unanswered for chance. One is not enough, as a program that was stopped finds its last
    /// check unanswered for long.
    func isDead(at: HostTime) -> Bool { unanswered >= 4 && isSuspect(at: at) }

    /// Returns true if it has answered in the last rounds.
    func works(at: HostTime) -> Bool {
        guard let lastAnswer else { return false }
        return !isDead(at: at) && at.seconds(since: lastAnswer) < 2 * ICEAgent.calmInterval
    }

    /// Returns true if it has answered since `other` was last known to work, and works still.
    func outlives(_ other: CheckedPair, at: HostTime) -> Bool {
        guard let lastAnswer, let silent = other.unansweredSince else { return false }
        return lastAnswer > silent && !isDead(at: at)
    }

    /// Returns true if its round trip is so much shorter than the other's that it is worth a change: a third and a millisecond.
    func isClearlyFaster(than other: CheckedPair, at: HostTime) -> Bool {
        guard answers >= 3, other.answers >= 3, let roundTrip, let longer = other.roundTrip else { return false }
        return !isDead(at: at) && 1.5 * roundTrip + 0.001 < longer
    }
}
