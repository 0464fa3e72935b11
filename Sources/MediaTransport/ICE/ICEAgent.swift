// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Finds a path to a peer, keeps the peer's consent to receive, and follows when either side moves (RFC 8445, RFC 7675).
///
/// A value without socket, thread, clock or generator: datagrams and times are arguments, datagrams to send go to `transmit`, and
/// agents with the same seed behave alike. For one thread. Its tables are bounded.
///
/// **Full**, between native peers. Each side checks all pairs of its addresses and the peer's, at once and every 50 ms, until one
/// answers. The controlling side nominates the first that does, without waiting for better ones, and changes to another one when
/// its round trip is clearly shorter: the route of a virtual private network is never shorter than the local one. Then the pair
/// in use is checked every second, and all pairs every five seconds. A missing answer, a change of local addresses, or a peer's
/// check from a new address begins a second of checks of all pairs every 50 ms again. A pair is left when it does not answer
/// while another one does. So each side follows the other within a second, and checks lost by chance change nothing. A check is
/// never retransmitted: the next one has another id, so round trips are unambiguous.
///
/// **Lite**, towards browsers (RFC 8445 §2.5). Checks are answered and none is sent; the pair that the browser nominates is used.
///
/// Differences to RFC 8445: it sends on any pair that has answered, before its peer's nomination; there are no check lists to
/// freeze, because there is one stream and one component; it paces rounds instead of single checks, at 200 a second at most; and
/// an answer renews an expired consent without new credentials, since it proves as much as the first one.
package struct ICEAgent: Sendable {
    /// The maximum changes of role to resolve conflicts. Two agents need one or two.
    static let maximumRoleChanges = 8
    static let maximumLocals = 16
    /// The maximum addresses of the peer.
    static let maximumRemotes = 32
    static let maximumPairs = 64

    /// The local mode: full or lite.
    package let mode: ICEMode
    /// The local role, which may change if both sides have the same role (RFC 8445 §7.3.1.1).
    package internal(set) var role: ICERole
    /// The state after the last call.
    package internal(set) var state: State
    /// The local credentials.
    package let credentials: ICECredentials
    /// The time of the peer's last authentic datagram: a check, an answer, media. If an agent is disconnected but hears its peer,
    /// the peer does not hear it: a firewall passes datagrams in one direction only.
    package internal(set) var lastHeard: HostTime?

    let localKey: [UInt8]
    var remoteKey: [UInt8] = []  // empty until the peer's credentials are known
    /// The user name in the peer's checks: the local fragment, a colon, and the peer's fragment once that is known.
    var inboundName: [UInt8]
    /// The user name in local checks; empty until the peer's credentials are known.
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
    /// The time of the peer's last sign of life: in full mode a check of the pair in use that was answered, in lite mode any
    /// authentic datagram.
    var lastContact: HostTime?
    /// The time of the peer's last consent: in full mode a check of the pair in use that was answered, in lite mode a check from
    /// the peer.
    var lastConsent: HostTime?
    /// The time of the next round of checks of all pairs.
    var nextRound: HostTime?
    /// The time of the next check of the pair in use.
    var nextConsent: HostTime?
    var lastRound: HostTime?
    var lastTriggered: HostTime?
    var lastRevealed: HostTime?
    var roleChanges = 0
    /// The time since which rounds of checks are fast; nil if rounds are slow.
    var probingSince: HostTime?

    /// An address of the peer.
    struct RemoteAddress: Sendable {
        let address: SocketAddress
        let priority: UInt32
        /// True if the peer's description has the address; false if only a check or a media packet revealed it.
        var isDescribed: Bool
        /// The time at which the address became known.
        let since: HostTime
    }

    /// Creates an agent that does not know its peer yet.
    /// - Parameters:
    ///   - role: always controlled in lite mode.
    ///   - credentials: those of the local session description.
    ///   - at: the current time.
    ///   - generator: for the tie-breaker and the ids of checks; must be unpredictable, except in tests.
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

    /// The pair for media; nil before there is one, without the peer's consent, and after closing.
    package var mediaPair: ICEPair? {
        switch state {
        case .checking, .connected, .disconnected: selected
        case .consentExpired, .closed: nil
        }
    }

    /// The seconds of a round trip on the pair in use; nil until known, and in lite mode.
    package var roundTrip: Double? { selectedIndex.flatMap { pairs[$0].roundTrip } }

    /// Returns true if the peer has proven this address within the last 30 s: in full mode by an answer to a check, in lite mode
    /// by a check.
    package func trusts(_ address: SocketAddress, at: HostTime) -> Bool {
        guard state != .closed else { return false }
        let address = SocketAddress(address.address.withNeededScope, port: address.port)
        return pairs.contains { pair in
            pair.addresses.remote == address
                && pair.lastAnswer.map { at.seconds(since: $0) < Self.consentDuration } ?? false
        }
    }

    /// Closes the agent, which then sends nothing and ignores all datagrams.
    package mutating func close() {
        state = .closed
        selected = nil
        pairs.removeAll()
        remotes.removeAll()
    }
}

/// Makes the ids of checks: the HMAC-SHA1 of a counter with a secret key. So the ids do not repeat and cannot be guessed, but are
/// the same for the same seed.
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
