// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotRooms
import Foundation

/// A session in a room with people nearby: the room is advertised or found, guests are admitted, and media and messages are
/// encrypted. It replaces MultipeerConnectivity's session, advertiser and browser.
///
/// The session listens on one port, TCP for signalling (HTTPS) and UDP for media, from its creation until ``close(endsRoom:)``.
/// It can host or join a room, leave, and host or join again. ``events`` reports every change.
public actor NearbySession {
    /// The identity and addresses of a session.
    public struct Configuration: Sendable {
        /// The local peer's name, which others see.
        public var name: PeerName
        /// The port of TCP and UDP.
        public var port = JoinCode.usualPort
        /// True if another port may be used when this one is taken: for guests, which need no fixed port.
        public var takesAnyPort = false
        /// The local address to listen on; nil for all addresses of this machine, including later ones.
        public var address: IPAddress?
        /// The store of the identity and the known peers.
        public var store: NearbyStore
        /// The negotiator of media with each member; nil for a session without media.
        public var media: (any MediaNegotiator)?
        /// True if the local peer is muted from the start.
        public var isMuted = false

        /// Creates the configuration of a session without media on the default port.
        public init(name: PeerName, store: NearbyStore = .standard) {
            self.name = name
            self.store = store
        }
    }

    /// The events from the beginning, for one reader.
    public nonisolated let events: AsyncStream<NearbyEvent>
    /// The members' unreliable messages, for one reader: of more than 256 waiting ones the oldest are dropped.
    public nonisolated let datagrams: AsyncStream<NearbyDatagram>
    /// The members' reliable messages, streams and files. If they are not read, only their senders wait.
    public nonisolated let arrivals = Mailbox<IncomingTransfer>(capacity: 32)
    /// The local key's fingerprint, which others pin.
    public nonisolated let fingerprint: KeyFingerprint
    /// The port of TCP and UDP.
    public nonisolated let port: UInt16

    nonisolated let eventContinuation: AsyncStream<NearbyEvent>.Continuation
    nonisolated let datagramContinuation: AsyncStream<NearbyDatagram>.Continuation
    nonisolated let identity: Identity
    nonisolated let tls: TLSIdentity
    nonisolated let server: HTTPSServer
    nonisolated let mediaPort: MediaPort
    nonisolated let store: NearbyStore

    var core: SessionCore
    var isClosed = false
    /// The version of the file from which the core's known peers were read.
    var knownPeersVersion: NearbyStore.Version?

    var discovery = RoomDiscovery()
    var incoming = IncomingRequests()
    var outgoing = OutgoingRequests()
    var timer = CoreTimer()
    /// Messages, streams and files between members; nil outside any room.
    var transfers: Transfers?
    /// The tasks that serve the ports until the session is closed.
    var tasks: [Task<Void, Never>] = []

    /// The PIN that the user has given.
    var pin: PIN? {
        didSet { core.hasPIN = pin != nil }
    }
    /// The room and the host's key for which a PIN is awaited.
    var pinWanted: (RoomID, KeyFingerprint)?

    /// Creates a session and opens its ports. Announces nothing and admits nobody before
    /// ``host(_:policy:pin:capacity:isAdvertised:)`` or ``join(_:pin:purpose:)``.
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
        (datagrams, datagramContinuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
        guard mediaPort.start() else { throw .noThread }
        serve()
    }

    // MARK: Orders

    /// Opens a room and hosts it.
    /// - Parameters:
    ///   - policy: the guests to admit.
    ///   - pin: the PIN that guests need; nil for none.
    ///   - capacity: the maximum native members, including this one: 2 to ``Roster/maximumNativeCount``.
    ///   - isAdvertised: true to announce the room on the local networks; ``NearbyEvent/discovery(_:)`` reports the
    ///     announcement's state.
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

    /// Asks to be admitted to a room. ``events`` reports the progress, such as `asking` and `pinNeeded`, and then `joined` or
    /// `ended`.
    public func join(_ endpoint: Endpoint, pin: PIN? = nil, purpose: Purpose? = nil) async throws(NearbyError) {
        try requireIdle()
        let peers = try await readKnownPeers()
        try requireIdle()
        self.pin = pin
        core.purpose = purpose
        act { core, now in core.join(endpoint, knownPeers: peers, at: now) }
    }

    /// Provides the room's PIN after the event `pinNeeded`. Ignored if no PIN is awaited.
    public func provide(_ pin: PIN) {
        guard let (room, host) = pinWanted else { return }
        self.pin = pin
        findPINKey(room, host)
    }

    /// Answers a guest's request to join. Ignored if the guest has stopped waiting.
    public func decide(_ ask: JoinRequestID, isWelcome: Bool) {
        handleHostEvent(.decide(ask, isWelcome: isWelcome))
    }

    /// Declines a guest and blocks its key.
    public func block(_ ask: JoinRequestID) { handleHostEvent(.blockGuest(ask)) }

    /// Removes a member, who may ask again. For hosts only.
    public func remove(_ member: MemberID) { handleHostEvent(.remove(member)) }

    /// Removes a member and blocks it. For hosts only.
    public func block(_ member: MemberID) { handleHostEvent(.block(member)) }

    /// Sets the admission policy for later requests.
    public func setPolicy(_ policy: AdmissionPolicy) {
        act { core, now in core.setPolicy(policy, at: now) }
    }

    /// Changes the local peer's name and state, which others see; nil keeps a value. The values also apply to the next room,
    /// except `allowsRecording`.
    /// - Parameters:
    ///   - isRecording: true while the local peer records the room's sound. The session itself records nothing.
    ///   - allowsRecording: true if others may record the local peer's voice, false if not. The answer applies to one room: this
    ///     one, or outside any room the next that the session enters.
    public func update(
        name: PeerName? = nil, isMuted: Bool? = nil, isRecording: Bool? = nil, allowsRecording: Bool? = nil
    ) {
        act { core, now in
            core.update(
                name: name, isMuted: isMuted, isRecording: isRecording, allowsRecording: allowsRecording, at: now)
        }
    }

    /// The room's roster; nil outside any room.
    public var roster: Roster? { core.roster }

    /// The local member's number in the room; nil outside any room.
    public var memberID: MemberID? { core.memberID }

    /// True if this session is the host.
    public var isHost: Bool {
        if case .host = core.role { true } else { false }
    }

    /// The join codes for this machine's addresses, the most likely first.
    public var joinCodes: [JoinCode] {
        core.local.addresses.filter { !$0.isLoopback }.compactMap {
            try? JoinCode(address: $0, port: port, key: fingerprint)
        }
    }

    /// Returns the state of the media transport to a member; nil if there is none.
    public nonisolated func report(of member: MemberID) -> MediaPortReport? { mediaPort.report(of: PeerID(member)) }

    /// Sends a message over the media transport. It may be lost or reordered, and is dropped without a transport.
    /// - Precondition: 1 to ``NearbyDatagram/maximumSize`` bytes.
    public nonisolated func sendDatagram(_ bytes: [UInt8], to member: MemberID) {
        mediaPort.send(bytes, to: PeerID(member))
    }

    /// Offers a member the local peer's current media, after `Configuration.media` has changed its offer.
    ///
    /// The running session continues until the answer and keeps its transport: ICE and DTLS do not start again. While an offer to
    /// or from the member is pending, another offer follows it. Does nothing if there is no such member. Returns before the
    /// answer; an unusable answer is reported by ``NearbyEvent/negotiationFailed(_:_:)``.
    public func renegotiate(_ member: MemberID) { handle([.media(.renegotiate(member))]) }

    /// Leaves the room. If this session hosts, the member that has been there longest takes over. Nothing is sent to the room or
    /// read from it afterwards.
    public func leave() async {
        switch core.role {
        case .none: return
        case .host: handleHostEvent(.leave)
        case .guest: handleGuestEvent(.leave)
        }
        await settle()
    }

    /// Leaves and closes the ports. The session cannot be used afterwards.
    /// - Parameter endsRoom: true to end a hosted room for all.
    public func close(endsRoom: Bool = false) async {
        guard !isClosed else { return }
        isClosed = true
        if endsRoom { handleHostEvent(.close) }
        await leave()
        discovery.stop()
        await store.elsewhere { _ in }  // waits until the last changes of the known peers are written
        timer.cancel()
        server.stop()
        mediaPort.stop()
        for task in tasks { _ = await task.value }
        outgoing.closeAll()
        arrivals.finish()
        eventContinuation.finish()
        datagramContinuation.finish()
    }

    /// Waits briefly until the last messages are sent: a guest's goodbye to the host, or the host's to all guests.
    private func settle() async {
        let end = ContinuousClock.now + .milliseconds(300)
        for feed in incoming.feeds.values { await feed.drained(by: end) }
        let pendingCalls = Array(outgoing.calls.values)
        let timeout = Task {
            try await Task.sleep(for: .milliseconds(500))
            for call in pendingCalls { call.cancel() }
        }
        for call in pendingCalls { await call.value }
        timeout.cancel()
    }

    // MARK: Helpers

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

    /// Derives a PIN's key in the background, because that takes some 50 ms; nil without a PIN.
    static func key(of pin: PIN?, room: RoomID, host: KeyFingerprint) async -> PINKey? {
        guard let pin else { return nil }
        return await Task.detached { PINKey(pin, room: room, host: host) }.value
    }
}
