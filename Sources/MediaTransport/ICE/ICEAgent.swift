// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Finds a way to a peer, keeps the peer's consent to be sent to, and follows when either side moves (RFC 8445, RFC 7675).
///
/// A value without socket, thread, clock or generator: datagrams and instants come in as arguments, what is to be sent goes
/// out by `transmit`, and an agent seeded alike behaves alike. All calls come from one thread. Its tables are bounded.
///
/// **Full**, between native peers. Each side checks all pairs of its addresses and the peer's, at once and each 50 ms, until
/// one answers. The controlling side nominates the first that does, with no waiting for better ones, and goes over to another
/// when that one's round trip proves clearly shorter: on a virtual private network's route nobody is nearer than on the
/// local one. Then the pair in use is checked each second, and all of them each five seconds. An answer that is missing, an
/// address of ours that has come or gone, or a check of the peer's from a new address begins a second of checks each 50 ms
/// on all pairs again; a pair is left when it does not answer while another does. So each side follows the other within a
/// second, and checks that are lost by chance change nothing. A check is never retransmitted: the next has an id of its own,
/// so a round trip cannot be mistaken.
///
/// **Lite**, towards browsers (RFC 8445 §2.5). Checks are answered and none is sent; the pair that the browser nominates is
/// used.
///
/// It departs from RFC 8445: it sends on any pair that has answered rather than wait for its peer's nomination; there are no check
/// lists to freeze, as there is one stream and one component; it paces rounds, and not single checks, at 200 a second at most; and
/// consent that has expired is renewed by an answer, without new credentials, since an answer proves just as much as the first did.
package struct ICEAgent: Sendable {
    /// The greatest number of changes of our role to settle conflicts. Two agents need one change or two.
    static let maximumRoleChanges = 8
    /// Addresses of ours that are used at most, of the peer's, and pairs of both.
    static let maximumLocals = 16
    static let maximumRemotes = 32
    static let maximumPairs = 64

    /// Full or lite.
    package let mode: ICEMode
    /// May change when both sides took the same (RFC 8445 §7.3.1.1).
    package internal(set) var role: ICERole
    /// The state after the last call.
    package internal(set) var state: State
    /// Ours.
    package let credentials: ICECredentials
    /// When anything authentic last came from the peer: a check, an answer, media. An agent that is disconnected and hears
    /// its peer is not heard by it: a firewall lets datagrams through in one direction only.
    package internal(set) var lastHeard: HostTime?

    let localKey: [UInt8]
    var remoteKey: [UInt8] = []  // empty until the peer's credentials are known
    /// The user names of the peer's checks, of which the peer's part may not be known yet, and of ours.
    var inboundName: [UInt8]
    var outboundName: [UInt8] = []
    var tieBreaker: UInt64
    var ids: TransactionIDs

    var locals: [IPAddress] = []
    var remotes: [RemoteAddress] = []
    var pairs: [CheckedPair] = []
    var checks = ICECheckTable()
    var replays = ICEReplayWindow()

    /// The pair in use.
    var selected: ICEPair?
    /// When something last came back by the pair in use, and when the peer last consented to be sent to. In full mode both
    /// are when a check of it was answered; in lite mode when something authentic came, and when a check came.
    var lastContact: HostTime?
    var lastConsent: HostTime?
    /// When a round of checks on all pairs is due, and a check of the pair in use.
    var nextRound: HostTime?
    var nextConsent: HostTime?
    var lastRound: HostTime?
    var lastTriggered: HostTime?
    var lastRevealed: HostTime?
    var roleChanges = 0
    /// Since when rounds are quick; nil when they are not.
    var probingSince: HostTime?

    /// An address of the peer's.
    struct RemoteAddress: Sendable {
        let address: SocketAddress
        let priority: UInt32
        /// True if the peer has told it; else a check has revealed it.
        var isTold: Bool
        /// When it was first told or revealed.
        let since: HostTime
    }

    /// An agent that knows nothing of its peer.
    /// - Parameters:
    ///   - role: in lite mode it is always controlled.
    ///   - credentials: as our session description has them.
    ///   - at: now.
    ///   - generator: for the tie-breaker and the ids of checks; one that cannot be guessed, but in tests.
    package init(
        _ mode: ICEMode, role: ICERole, credentials: ICECredentials, at: HostTime,
        using generator: inout some RandomNumberGenerator
    ) {
        self.mode = mode
        self.role = mode == .lite ? .controlled : role
        self.credentials = credentials
        localKey = Array(credentials.password.utf8)
        inboundName = Array((credentials.usernameFragment + ":").utf8)
        tieBreaker = generator.next()
        ids = TransactionIDs(using: &generator)
        state = .checking(since: at)
    }

    /// The pair to send media by; nil before there is one, without the peer's consent, and after the end.
    package var mediaPair: ICEPair? {
        switch state {
        case .checking, .connected, .disconnected: selected
        case .consentExpired, .closed: nil
        }
    }

    /// Seconds to the peer and back on the pair in use; nil until known, and in lite mode.
    package var roundTrip: Double? { selectedIndex.flatMap { pairs[$0].roundTrip } }

    /// Returns true if `address` is one from which the peer has proven, within the last 30 s, that it is the peer: in full mode by
    /// an answer to a check, in lite mode by a check.
    package func trusts(_ address: SocketAddress, at: HostTime) -> Bool {
        guard state != .closed else { return false }
        let address = SocketAddress(address.address.withNeededScope, port: address.port)
        return pairs.contains { pair in
            pair.addresses.remote == address
                && pair.lastAnswer.map { at.seconds(since: $0) < Self.consentDuration } ?? false
        }
    }

    /// Ends everything: from now on nothing is sent and everything is ignored.
    package mutating func close() {
        state = .closed
        selected = nil
        pairs.removeAll()
        remotes.removeAll()
    }
}

/// Ids of checks: the code of a counter under a secret, so that they do not repeat, cannot be guessed, and are the same for
/// the same seed.
struct TransactionIDs: Sendable {
    private let secret: InlineArray<2, UInt64>
    private var counter: UInt64 = 0

    init(using generator: inout some RandomNumberGenerator) {
        secret = [generator.next(), generator.next()]
    }

    mutating func next() -> STUNTransactionID {
        counter += 1
        let count: InlineArray<1, UInt64> = [counter]
        let code = unsafe HMACSHA1.code(of: count.span.bytes, key: secret.span.bytes)
        let bytes = unsafe code.span.bytes
        return STUNTransactionID(
            high: bytes.bigEndian32(0), low: UInt64(bytes.bigEndian32(4)) << 32 | UInt64(bytes.bigEndian32(8)))
    }
}
