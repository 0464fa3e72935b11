// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

/// The host of a room: it admits guests, keeps the roster, and passes offers between members.
///
/// A value without socket, thread or clock. Its owner reports events by ``handle(_:at:)`` and executes the returned actions in
/// order. Calls must not overlap.
package struct RoomHost: Sendable {
    /// A host's policy, and its description of itself.
    package struct Configuration: Sendable {
        /// The host's name.
        package var name: PeerName
        /// The admission policy.
        package var policy: AdmissionPolicy = .ask
        /// The key of the room's PIN; nil for no PIN.
        package var pin: PINKey?
        /// True if the room is announced on the network; a new host keeps this setting.
        package var isAnnounced = true
        /// The maximum native members, including the host: 1 to ``Roster/maximumNativeCount``.
        package var capacity = Roster.maximumNativeCount
        /// The host's addresses.
        package var addresses: [IPAddress]
        /// The port, the same for TCP and UDP.
        package var port: UInt16
        /// True if the host of a new room is muted from the start.
        package var isMuted = false
        /// True if the host of a new room records from the start.
        package var isRecording = false
        /// True if others may record the voice of a new room's host, false if not; nil if the host has not answered.
        package var allowsRecording: Bool?

        /// Creates a configuration; by default the user is asked about every guest.
        package init(name: PeerName, addresses: [IPAddress], port: UInt16 = JoinCode.usualPort) {
            self.name = name
            self.addresses = addresses
            self.port = port
        }
    }

    /// Time limits in seconds.
    package enum Limit {
        /// The seconds that the user has to decide about a guest.
        package static let decision = 30.0
        /// The seconds that a member has to answer another member's offer.
        package static let answer = 10.0
        /// The seconds of silence after which a member counts as away.
        package static let silence = 5.0
        /// The seconds of silence after which a member is removed.
        package static let absence = 60.0
        /// The seconds between signs of life on a quiet event stream.
        static let keepAlive = 2.0
        /// The seconds between questions to a member that is away.
        static let probe = 5.0
    }

    /// The maximum guests that wait for the user's decision; further ones are told to try again.
    package static let maximumPendingCount = 16
    /// The maximum waiting guests from one address, without a key or with different keys.
    package static let maximumPendingCountPerAddress = 4
    /// The maximum questions about guests from one address within ``Limit/decision`` seconds, including withdrawn ones.
    package static let maximumQuestionCountPerAddress = 8

    /// The room's roster.
    package internal(set) var roster: Roster
    /// The admission policy. A change does not affect pending requests.
    package internal(set) var policy: AdmissionPolicy
    /// A copy of this machine's known peers. The owner sets the copy after each change.
    package var knownPeers: KnownPeers
    /// The maximum native members, including the host.
    package let capacity: Int
    /// True if guests need a PIN.
    package var needsPIN: Bool { pin != nil }
    /// True if this peer hosts no longer, because the room has ended or another member takes over.
    package internal(set) var isClosed = false

    var hasSuccessor = false
    var clock = SuspendAwareClock()
    var pin: PINVerifier?
    let secret: [UInt8]
    var nextMember: MemberID
    var nextJoinRequest: UInt64 = 1
    var pendingRequests: [PendingJoinRequest] = []
    var memberConnections: [MemberID: MemberConnection] = [:]
    var offers: [PendingOffer] = []
    var blockedAddresses: Set<IPAddress> = []
    /// The keys (`removedKeys`) and tokens of removed members, so that their next request is refused with this reason.
    var removedKeys: Set<KeyFingerprint> = []
    var removedTokens: Set<String> = []
    var partsMet = PartitionDetector()
    var notices = RateLimiter(8, inSeconds: 30)
    var putQuestions: [PutQuestion] = []

    /// Opens a new room.
    /// - Parameters:
    ///   - name: the room's name.
    ///   - key: the host's key.
    ///   - secret: 32 random bytes, for tokens and nonces.
    package init(
        room: RoomID, name: PeerName, key: KeyFingerprint, secret: [UInt8], configuration: Configuration,
        knownPeers: KnownPeers = KnownPeers()
    ) {
        let host = Member(
            id: .first, name: configuration.name, key: key, addresses: configuration.addresses,
            port: configuration.port, isMuted: configuration.isMuted, isRecording: configuration.isRecording,
            allowsRecording: configuration.allowsRecording)
        let roster = Roster(
            room: room, name: name, epoch: .first, revision: 1, host: host.id, isAnnounced: configuration.isAnnounced,
            members: [host])
        self.init(roster: roster, nextMember: host.id.next, secret: secret, configuration, knownPeers)
    }

    /// Takes over a room with all its members.
    /// - Parameter secret: 32 random bytes, for tokens and nonces.
    package init(
        succeeding succession: HostHandover, secret: [UInt8], configuration: Configuration,
        knownPeers: KnownPeers = KnownPeers(), at time: HostTime
    ) {
        self.init(
            roster: succession.roster, nextMember: succession.lastMember.next, secret: secret, configuration, knownPeers
        )
        let now = clock.time(at: time, due: nil)
        for member in roster.members where member.id != roster.host {
            memberConnections[member.id] = MemberConnection(
                address: member.addresses.first ?? .any, lastHeard: now, lastSent: now, token: nil)
        }
        change(roster.host, succession.update, seenAt: nil)
    }

    private init(
        roster: Roster, nextMember: MemberID, secret: [UInt8], _ configuration: Configuration, _ knownPeers: KnownPeers
    ) {
        precondition(secret.count == 32 && (1...Roster.maximumNativeCount).contains(configuration.capacity))
        self.roster = roster
        self.nextMember = nextMember
        self.secret = secret
        self.knownPeers = knownPeers
        policy = configuration.policy
        capacity = configuration.capacity
        pin = configuration.pin.map { PINVerifier($0, secret: secret) }
    }

    /// The host's own entry in the roster.
    package var member: Member {
        guard let member = roster[roster.host] else { preconditionFailure("a roster without its host") }
        return member
    }

    /// Returns the host's description of the room, which answers `GET /room`.
    func info(at now: HostTime) -> RoomInfo {
        guard let key = member.key else { preconditionFailure("a host without a key") }
        return RoomInfo(
            room: roster.room, name: roster.name, epoch: roster.epoch, role: .host, hostName: member.name, hostKey: key,
            isHostHeard: true, memberCount: roster.members.count, capacity: capacity, needsPIN: pin != nil,
            nonce: pin.map { Base64($0.nonce(at: now)) })
    }

    /// The time by which ``Event/tick`` must be handled; nil if nothing is due.
    package var nextDeadline: HostTime? { due.map(clock.hostTime) }

    var due: HostTime? {
        guard !isClosed else { return nil }
        var times = pendingRequests.map(\.deadline)
        if !offers.isEmpty { times += offers.map(\.deadline) }
        for (id, connection) in memberConnections { times += dues(of: connection, id) }
        return times.min()
    }
}

/// The guests that a host admits.
public enum AdmissionPolicy: String, Hashable, Sendable, CaseIterable {
    /// Every guest that is not blocked.
    case all
    /// A guest whose key a user admitted before.
    case known
    /// A guest whose request the user at the host accepts. The user is asked about known keys too.
    case ask
}

/// The state of a room that the local peer takes over as its new host.
package struct HostHandover: Hashable, Sendable {
    /// The roster of the next epoch, with the new host.
    package let roster: Roster
    /// The greatest member number so far, including members that have left.
    let lastMember: MemberID
    /// True if the room had a PIN. The new host sets its own ``PINKey`` from the same PIN.
    package let needsPIN: Bool
    /// The new host's changes of itself that the old host has not confirmed, or has lost.
    let update: MemberUpdate
}
