// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotRooms
import Foundation

/// A room with people near: advertised or found, with admission, media and messages, encrypted. The successor to
/// MultipeerConnectivity's session, advertiser and browser in one.
///
/// It listens on one port, TCP for signalling (HTTPS) and UDP for media, from its making until ``close(endsRoom:)``. It then
/// hosts a room or joins one, leaves, and may do so again. What happens is told by ``events``.
public actor NearbySession {
    /// The identity and addresses of a session.
    public struct Configuration: Sendable {
        /// The local name, as others see it.
        public var name: PeerName
        /// TCP and UDP.
        public var port = JoinCode.usualPort
        /// True if another port will do if this one is taken: for guests, which need no known port.
        public var takesAnyPort = false
        /// Nil for all of this machine's addresses, also later ones.
        public var address: IPAddress?
        /// The identity and the known peers.
        public var store: NearbyStore
        /// The negotiator of media with each member; nil for messages and files alone.
        public var media: (any MediaNegotiator)?
        /// True if one is muted from the start: what others are told.
        public var isMuted = false

        /// Creates the configuration of a session without media on the default port.
        public init(name: PeerName, store: NearbyStore = .standard) {
            self.name = name
            self.store = store
        }
    }

    /// The events, for one reader, from the beginning.
    public nonisolated let events: AsyncStream<NearbyEvent>
    /// Unreliable messages that members send, for one reader: the oldest of more than 256 that wait are dropped.
    public nonisolated let datagrams: AsyncStream<NearbyDatagram>
    /// Reliable messages, streams and files that members send. If they are not read, only their senders wait.
    public nonisolated let arrivals = Mailbox<IncomingTransfer>(capacity: 32)
    /// The local key, which others pin.
    public nonisolated let fingerprint: KeyFingerprint
    /// TCP and UDP.
    public nonisolated let port: UInt16

    nonisolated let eventContinuation: AsyncStream<NearbyEvent>.Continuation
    nonisolated let datagramNews: AsyncStream<NearbyDatagram>.Continuation
    nonisolated let identity: Identity
    nonisolated let tls: TLSIdentity
    nonisolated let server: HTTPSServer
    nonisolated let mediaPort: MediaPort
    nonisolated let store: NearbyStore

    var core: SessionCore
    var isClosed = false
    /// The version of the file that the role's known peers came from.
    var knownPeersVersion: NearbyStore.Version?

    var discovery = RoomDiscovery()
    var incoming = IncomingRequests()
    var outgoing = OutgoingRequests()
    var timer = CoreTimer()
    /// Messages, streams and files between members; nil in no room.
    var transfers: Transfers?
    /// Serve the ports until the session is closed.
    var tasks: [Task<Void, Never>] = []

    /// The PIN that the person has given.
    var pin: PIN? {
        didSet { core.hasPIN = pin != nil }
    }
    /// The room and the host's key that a PIN is awaited for.
    var pinWanted: (RoomID, KeyFingerprint)?

    /// Opens the ports. Announces nothing and admits nobody before ``host(_:policy:pin:capacity:isAdvertised:)`` or
    /// ``join(_:pin:purpose:)``.
    public init(_ configuration: Configuration) async throws(NearbyError) {
        let hostName = ProcessInfo.processInfo.hostName.split(separator: ".").first.map { "\($0).local" } ?? "earshot"
        do throws(NearbyStoreError) {
            identity = try await configuration.store.elsewhere { (store) throws(NearbyStoreError) in
                try store.identity(
                    hostNames: hostName.allSatisfy(\.isASCII) ? [hostName] : [],
                    addresses: configuration.address.map { [$0] }
                        ?? Array((try? NetworkAddress.current())?.map(\.address).prefix(32) ?? []))
            }
        } catch {
            throw .store(error)
        }
        fingerprint = identity.fingerprint
        do throws(HTTPSError) {
            tls = try TLSIdentity(
                certificatePEM: Array(identity.certificatePEM.utf8), privateKeyPEM: Array(identity.privateKeyPEM.utf8))
        } catch {
            throw NearbyError(error)
        }
        (server, mediaPort) = try await Self.open(configuration, identity, tls)
        port = server.localAddress.port
        store = configuration.store
        core = SessionCore(
            SessionCore.LocalPeer(
                identity: identity, name: configuration.name, addresses: mediaPort.addresses, port: port,
                isMuted: configuration.isMuted, isEphemeral: configuration.store.directory == nil),
            port: mediaPort, media: configuration.media)
        (events, eventContinuation) = AsyncStream.makeStream()
        (datagrams, datagramNews) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
        guard mediaPort.start() else { throw .noThread }
        serve()
    }

    // MARK: What one may ask of it

    /// Opens a room, and hosts it.
    /// - Parameters:
    ///   - policy: whom to let in.
    ///   - pin: what guests have to know.
    ///   - capacity: native members at most, this one among them: 2 to ``Roster/maximumNativeCount``.
    ///   - isAdvertised: whether others near find it; how that stands is told by `discovery`.
    public func host(
        _ room: PeerName, policy: AdmissionPolicy = .ask, pin: PIN? = nil, capacity: Int = Roster.maximumNativeCount,
        isAdvertised: Bool = true
    ) async throws(NearbyError) {
        try requireIdle()
        let id = core.makeRoomID()
        let key = await Self.key(of: pin, room: id, host: fingerprint)
        let peers = try await readKnownPeers()
        try requireIdle()
        self.pin = pin
        core.choices.isAnnounced = isAdvertised
        core.choices.policy = policy
        core.choices.capacity = capacity
        core.host(id, name: room, pin: key, knownPeers: peers)
        beginTransfers()
        if let roster, let memberID { eventContinuation.yield(.joined(roster, as: memberID)) }
        advertise()
        handle([])
    }

    /// Asks to be let in. How it goes on is told by ``events``: `asking`, then `joined` or `ended`.
    public func join(_ endpoint: Endpoint, pin: PIN? = nil, purpose: Purpose? = nil) async throws(NearbyError) {
        try requireIdle()
        let peers = try await readKnownPeers()
        try requireIdle()
        self.pin = pin
        core.purpose = purpose
        act { core, now in core.join(endpoint, knownPeers: peers, at: now) }
    }

    /// The room's PIN, after `pinNeeded`.
    public func provide(_ pin: PIN) {
        guard let (room, host) = pinWanted else { return }
        self.pin = pin
        findPINKey(room, host)
    }

    /// The person at the host has decided. Too late is no harm.
    public func decide(_ ask: JoinRequestID, isWelcome: Bool) {
        tellHost(.decide(ask, isWelcome: isWelcome))
    }

    /// Declines, and does not let the guest ask again.
    public func block(_ ask: JoinRequestID) { tellHost(.blockGuest(ask)) }

    /// Sends a member away; it may ask again. Only a host can.
    public func remove(_ member: MemberID) { tellHost(.remove(member)) }

    /// Sends a member away, and does not let it ask again. Only a host can.
    public func block(_ member: MemberID) { tellHost(.block(member)) }

    /// Sets the admission policy for later requests.
    public func setPolicy(_ policy: AdmissionPolicy) {
        act { core, now in core.setPolicy(policy, at: now) }
    }

    /// Changes what others are told of this member.
    public func update(name: PeerName? = nil, isMuted: Bool? = nil) {
        act { core, now in core.update(name: name, isMuted: isMuted, at: now) }
    }

    /// The room's roster; nil while there is none.
    public var roster: Roster? { core.roster }

    /// The local member's number in the room.
    public var memberID: MemberID? { core.memberID }

    /// Returns true if this session admits.
    public var isHost: Bool {
        if case .host = core.role { true } else { false }
    }

    /// The codes to type elsewhere to join, for each address of this machine that a code can name, the likeliest first.
    public var joinCodes: [JoinCode] {
        core.local.addresses.filter { !$0.isLoopback }.compactMap {
            try? JoinCode(address: $0, port: port, key: fingerprint)
        }
    }

    /// Returns the state of the media transport to a member; nil if there is none.
    public nonisolated func report(of member: MemberID) -> MediaPortReport? { mediaPort.report(of: PeerID(member)) }

    /// Sends a message over the media transport; it may be lost or reordered, and is lost without one.
    /// - Precondition: 1 to ``NearbyDatagram/maximumSize`` bytes.
    public nonisolated func sendDatagram(_ bytes: [UInt8], to member: MemberID) {
        mediaPort.send(bytes, to: PeerID(member))
    }

    /// Offers a member the local peer's media as it is now, after `Configuration.media` has changed what it offers.
    ///
    /// The running session goes on until the answer, and its transport stays: ICE and DTLS do not begin anew. While an
    /// offer to or from the member is pending, another offer follows it. Does nothing if there is no such member. Returns before
    /// the answer; an answer that cannot be used is told by ``NearbyEvent/disagreed(_:_:)``.
    public func renegotiate(_ member: MemberID) { handle([.media(.renegotiate(member))]) }

    /// Leaves the room; if this session hosts, the member that has been there longest takes over. Nothing is sent or read of the
    /// room afterwards.
    public func leave() async {
        switch core.role {
        case .none: return
        case .host: tellHost(.leave)
        case .guest: tellGuest(.leave)
        }
        await settle()
    }

    /// Leaves, and closes the ports. Nothing can be done with it afterwards.
    /// - Parameter endsRoom: whether a room that this session hosts ends for all.
    public func close(endsRoom: Bool = false) async {
        guard !isClosed else { return }
        isClosed = true
        if endsRoom { tellHost(.close) }
        await leave()
        discovery.stop()
        await store.elsewhere { _ in }  // what was last noted is written
        timer.cancel()
        server.stop()
        mediaPort.stop()
        for task in tasks { _ = await task.value }
        outgoing.closeAll()
        arrivals.finish()
        eventContinuation.finish()
        datagramNews.finish()
    }

    /// Waits a moment for the last messages: goodbyes to the host, or the host's to all.
    private func settle() async {
        let end = ContinuousClock.now + .milliseconds(300)
        for feed in incoming.feeds.values { await feed.drained(by: end) }
        let leaving = Array(outgoing.calls.values)
        let timeout = Task {
            try await Task.sleep(for: .milliseconds(500))
            for call in leaving { call.cancel() }
        }
        for call in leaving { await call.value }
        timeout.cancel()
    }

    // MARK: Small things

    private func requireIdle() throws(NearbyError) {
        guard !isClosed else { throw .closed }
        guard case .none = core.role else { throw .busy }
    }

    private func readKnownPeers() async throws(NearbyError) -> KnownPeers {
        do throws(NearbyStoreError) {
            let read = try await store.elsewhere { (store) throws(NearbyStoreError) in
                try store.knownPeers(unless: nil)
            }
            knownPeersVersion = read?.1
            return read?.0 ?? KnownPeers()
        } catch {
            throw .store(error)
        }
    }

    /// Computed elsewhere: it takes some 50 ms.
    static func key(of pin: PIN?, room: RoomID, host: KeyFingerprint) async -> PINKey? {
        guard let pin else { return nil }
        return await Task.detached { PINKey(pin, room: room, host: host) }.value
    }
}
