// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

/// The local peer in rooms, without sockets, thread and clock: the core of its current role, its media negotiation, and its
/// transports.
///
/// Its owner reports events by ``handle(_:at:)`` and executes the returned actions in sequence: `NearbySession`, or a simulation
/// on virtual time. Transports are added, described and removed at once, by ``TransportPort``.
package struct SessionCore {
    /// The local peer's description of itself.
    package struct LocalPeer {
        package var identity: Identity
        package var name: PeerName
        package var addresses: [IPAddress]
        /// The local peer's port, the same for TCP and UDP.
        package var port: UInt16
        package var isMuted: Bool
        /// True while the local peer records.
        package var isRecording = false
        /// True if others may record the local peer's voice, false if not; nil if the local peer has not answered. An answer
        /// applies to one room.
        package var allowsRecording: Bool?
        /// True if the identity is temporary.
        package var isEphemeral: Bool

        package init(
            identity: Identity, name: PeerName, addresses: [IPAddress], port: UInt16, isMuted: Bool = false,
            isEphemeral: Bool = false
        ) {
            self.identity = identity
            self.name = name
            self.addresses = addresses
            self.port = port
            self.isMuted = isMuted
            self.isEphemeral = isEphemeral
        }
    }

    package enum Role {
        case none
        case host(RoomHost)
        case guest(RoomGuest)
    }

    /// The settings of a host, also for a guest that may take over.
    package struct HostChoices {
        package var policy = AdmissionPolicy.ask
        package var capacity = Roster.maximumNativeCount
        package var isAnnounced = false
    }

    package internal(set) var role = Role.none
    package internal(set) var local: LocalPeer
    package var choices = HostChoices()
    /// The local peer's purpose as a guest; nil for none.
    package var purpose: Purpose?
    /// True if the user has given a PIN.
    package var hasPIN = false
    /// The PIN's key that is needed if the local peer takes the room over; nil until it is derived.
    package var ownPINKey: PINKey?

    let port: any TransportPort
    let media: (any MediaNegotiator)?
    var generator: any RandomNumberGenerator
    var negotiation: MediaNegotiation
    /// The session id of all descriptions without media (`sessionID`), and the version of the last one (`lastVersion`).
    let sessionID: UInt64
    var lastVersion: UInt64 = 0
    /// True if the local peer has been in its current room: it hosts the room, or was admitted. Its answer about recordings is
    /// then cleared when the stay ends.
    var hasEntered = false
    /// The number of the first call of the next ``RoomGuest``, so that replies to calls of an earlier one are recognized.
    var nextCall: UInt64 = 1
    var transports: [MemberID: MemberTransport] = [:]
    /// The events to handle (`queue`), and the actions for the owner from the events already handled (`actions`).
    var queue: [Event] = []
    var actions: [Action] = []
    var time = HostTime(nanoseconds: 0)

    /// Creates a peer outside any room.
    /// - Parameters:
    ///   - port: has the transports.
    ///   - media: describes the local peer's media; nil for none.
    ///   - generator: must be unpredictable, except in tests.
    package init(
        _ local: LocalPeer, port: any TransportPort, media: (any MediaNegotiator)?,
        generator: any RandomNumberGenerator = SystemRandomNumberGenerator()
    ) {
        self.local = local
        self.port = port
        self.media = media
        self.generator = generator
        sessionID = .random(in: 1...UInt64(Int64.max), using: &self.generator)
        negotiation = MediaNegotiation(firstOffer: .random(in: 0 ... .max, using: &self.generator))
    }

    /// The roster of the room; nil outside any room.
    package var roster: Roster? {
        switch role {
        case .none: nil
        case .host(let host): host.roster
        case .guest(let guest): guest.roster
        }
    }

    /// True if the local peer is a guest that looks for its host.
    package var isHostLost: Bool { if case .guest(let guest) = role { guest.isHostLost } else { false } }

    /// The local peer's number in the room; nil outside any room.
    package var memberID: MemberID? {
        switch role {
        case .none: nil
        case .host(let host): host.member.id
        case .guest(let guest): guest.memberID
        }
    }

    /// The known peers that the host or guest uses; a change applies at once. Outside any room, they are empty and changes are
    /// ignored.
    package var knownPeers: KnownPeers {
        get {
            switch role {
            case .none: KnownPeers()
            case .host(let host): host.knownPeers
            case .guest(let guest): guest.knownPeers
            }
        }
        set {
            switch role {
            case .none: break
            case .host(var host):
                role = .none
                host.knownPeers = newValue
                role = .host(host)
            case .guest(var guest):
                role = .none
                guest.knownPeers = newValue
                role = .guest(guest)
            }
        }
    }

    /// Returns the pending offer to a member; nil if there is none.
    package func pendingOffer(to id: MemberID) -> OfferID? { negotiation.pendingOffer(to: id) }

    /// Returns the offer that led to the session with a member; nil without a session.
    package func session(with id: MemberID) -> OfferID? { negotiation.session(with: id) }

    /// Returns the transport to a member; nil if there is none.
    package func transportID(to id: MemberID) -> MediaPort.TransportID? { transports[id]?.transportID }

    // MARK: Start

    /// Draws a random identity for a new room.
    package mutating func makeRoomID() -> RoomID { RoomID(using: &generator) }

    /// Opens a room and hosts it.
    /// - Precondition: the local peer is in no room.
    package mutating func host(_ room: RoomID, name: PeerName, pin: PINKey? = nil, knownPeers: KnownPeers) {
        hasEntered = true
        role = .host(
            RoomHost(
                room: room, name: name, key: local.identity.fingerprint, secret: randomBytes(32),
                configuration: hostConfiguration(pin), knownPeers: knownPeers))
    }

    /// Asks the host at this endpoint to be admitted.
    /// - Precondition: the local peer is in no room.
    package mutating func join(_ endpoint: Endpoint, knownPeers: KnownPeers, at now: HostTime) -> [Action] {
        role = .guest(makeGuest(knowing: knownPeers))
        return handle([.guest(.join(endpoint))], at: now)
    }

    func makeGuest(knowing peers: KnownPeers) -> RoomGuest {
        var configuration = RoomGuest.Configuration(name: local.name, addresses: local.addresses, port: local.port)
        configuration.purpose = purpose
        configuration.isMuted = local.isMuted
        configuration.isRecording = local.isRecording
        configuration.allowsRecording = local.allowsRecording
        configuration.isEphemeral = local.isEphemeral
        configuration.hasPIN = hasPIN
        var guest = RoomGuest(configuration, signer: Signer(local.identity), knownPeers: peers)
        guest.nextCall = nextCall
        return guest
    }

    func hostConfiguration(_ key: PINKey?) -> RoomHost.Configuration {
        var configuration = RoomHost.Configuration(name: local.name, addresses: local.addresses, port: local.port)
        configuration.policy = choices.policy
        configuration.capacity = choices.capacity
        configuration.pin = key
        configuration.isAnnounced = choices.isAnnounced
        configuration.isMuted = local.isMuted
        configuration.isRecording = local.isRecording
        configuration.allowsRecording = local.allowsRecording
        return configuration
    }

    mutating func randomBytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in .random(in: 0...255, using: &generator) }
    }

    // MARK: The user

    /// Sets whom to admit from now on.
    package mutating func setPolicy(_ policy: AdmissionPolicy, at now: HostTime) -> [Action] {
        choices.policy = policy
        return handle([.host(.setPolicy(policy))], at: now)
    }

    /// Changes what others know of the local peer; nil keeps a value. The values stay set after the stay in a room, except the
    /// answer `allowsRecording`. An answer before the local peer is in a room stays set if the peer is refused.
    package mutating func update(
        name: PeerName? = nil, isMuted: Bool? = nil, isRecording: Bool? = nil, allowsRecording: Bool? = nil,
        at now: HostTime
    ) -> [Action] {
        if let name { local.name = name }
        if let isMuted { local.isMuted = isMuted }
        if let isRecording { local.isRecording = isRecording }
        if let allowsRecording { local.allowsRecording = allowsRecording }
        return notify(
            MemberUpdate(name: name, isMuted: isMuted, isRecording: isRecording, allowsRecording: allowsRecording),
            at: now)
    }

    mutating func notify(_ update: MemberUpdate, at now: HostTime) -> [Action] {
        handle([.host(.update(update)), .guest(.update(update))], at: now)
    }
}
