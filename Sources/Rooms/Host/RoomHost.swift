// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

/// The side of a room that admits: it judges who asks, keeps the roster, and passes offers on between members.
///
/// A value without socket, thread or clock. Its owner reports events by ``handle(_:at:)`` and executes the returned actions in
/// their order. Calls may not overlap.
package struct RoomHost: Sendable {
    /// A host's policy, and its description of itself.
    package struct Configuration: Sendable {
        /// The host's own name.
        package var name: PeerName
        /// The admission policy.
        package var policy: AdmissionPolicy = .ask
        /// The key of the room's PIN; nil for a room without one.
        package var pin: PINKey?
        /// True if the room is announced on the network; a new host keeps to it.
        package var isAnnounced = true
        /// Native members at most, the host among them: 1 to ``Roster/maximumNativeCount``.
        package var capacity = Roster.maximumNativeCount
        /// The host's addresses.
        package var addresses: [IPAddress]
        /// TCP and UDP.
        package var port: UInt16

        /// A host that asks its person about everybody.
        package init(name: PeerName, addresses: [IPAddress], port: UInt16 = JoinCode.usualPort) {
            self.name = name
            self.addresses = addresses
            self.port = port
        }
    }

    /// Seconds.
    package enum Limit {
        /// Timeout of the person's decision.
        package static let decision = 30.0
        /// Timeout of a member's answer to another's offer.
        package static let answer = 10.0
        /// A member silent for longer is away.
        package static let silence = 5.0
        /// A member silent for longer has left.
        package static let absence = 60.0
        /// Between signs of life on a quiet event stream.
        static let keepAlive = 2.0
        /// Between looks for members that are away.
        static let probe = 5.0
    }

    /// Guests that may be waiting for a decision at once; one more is told to come back.
    package static let maximumPendingCount = 16
    /// The greatest number of them without a key or with different keys, from one address.
    package static let maximumPendingCountPerAddress = 4
    /// Questions that one address may put to the person within ``Limit/decision``, those taken back among them.
    package static let maximumQuestionCountPerAddress = 8

    /// The room's roster.
    package internal(set) var roster: Roster
    /// The admission policy. A change does not affect pending requests.
    package internal(set) var policy: AdmissionPolicy
    /// The peers that this machine knows. Set again whenever the owner has noted somebody.
    package var knownPeers: KnownPeers
    /// Native members at most.
    package let capacity: Int
    /// Returns true if guests have to know a PIN.
    package var needsPIN: Bool { pin != nil }
    /// True if the room has ended here.
    package internal(set) var isClosed = false

    var hasSuccessor = false
    var clock = SuspendAwareClock()
    var pin: PINVerifier?
    let secret: [UInt8]
    var nextMember: MemberID
    var nextAsk: UInt64 = 1
    var pendingRequests: [PendingJoinRequest] = []
    var memberConnections: [MemberID: Attendance] = [:]
    var offers: [PendingOffer] = []
    var blockedAddresses: Set<IPAddress> = []
    /// Keys and tokens of those who were sent away, and may not have heard it.
    var removedKeys: Set<KeyFingerprint> = []
    var removedTokens: Set<String> = []
    var partsMet = PartitionDetector()
    var notices = RateLimiter(8, inSeconds: 30)
    var putQuestions: [PutQuestion] = []

    /// A new room.
    /// - Parameters:
    ///   - name: the room's.
    ///   - key: the host's own.
    ///   - secret: 32 random bytes, for tokens and nonces.
    package init(
        room: RoomID, name: PeerName, key: KeyFingerprint, secret: [UInt8], configuration: Configuration,
        knownPeers: KnownPeers = KnownPeers()
    ) {
        let host = Member(
            id: .first, name: configuration.name, key: key, addresses: configuration.addresses,
            port: configuration.port)
        let roster = Roster(
            room: room, name: name, epoch: .first, revision: 1, host: host.id, isAnnounced: configuration.isAnnounced,
            members: [host])
        self.init(roster: roster, nextMember: host.id.next, secret: secret, configuration, knownPeers)
    }

    /// Takes a room over, with all who are in it.
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
            memberConnections[member.id] = Attendance(
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

    /// The host itself.
    package var member: Member {
        guard let member = roster[roster.host] else { preconditionFailure("a roster without its host") }
        return member
    }

    /// Returns the answer to `GET /room`.
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
        for (id, seat) in memberConnections { times += dues(of: seat, id) }
        return times.min()
    }
}

/// The guests that a host admits.
public enum AdmissionPolicy: String, Hashable, Sendable, CaseIterable {
    /// Everybody who is not blocked.
    case all
    /// Admits a guest whose key a person let in before.
    case known
    /// Whomever the person at the host says yes to.
    case ask
}

/// A room that is to be taken over.
package struct HostHandover: Hashable, Sendable {
    /// The roster of the next epoch, with the new host.
    package let roster: Roster
    /// The greatest number that a member had, of those too who have left.
    let lastMember: MemberID
    /// True if the room had a PIN. The new host sets its own ``PINKey`` from the same PIN.
    package let needsPIN: Bool
    /// The new host's own changes that the old host was not told of.
    let update: MemberUpdate
}
