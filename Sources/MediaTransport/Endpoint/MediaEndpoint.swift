// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// All remote peers' media on one UDP port, without socket, thread and clock: datagrams come in with the addresses they went
/// between, and go out with the addresses to take.
///
/// Datagrams are told apart by their first byte (RFC 7983). Checks find their remote peer by the user name, all else by where it
/// comes from, which only an authentic check makes known; protected packets also by their source number (SSRC), so that who moves
/// is heard before it is found. What fits nobody is dropped, and costs nothing that grows.
///
/// One thread, the media thread's. Nothing is allocated for a packet.
@safe public struct MediaEndpoint: ~Copyable {
    /// Receives each datagram to send, its local address and its destination; valid during the call.
    public typealias Transmit = (UnsafeRawBufferPointer, _ from: IPAddress, _ to: SocketAddress) -> Void
    /// Receives what a remote peer sent and changes of its transport; valid during the call.
    public typealias Deliver = (PeerID, TransportEvent) -> Void

    /// Remote peers at most.
    package static let maximumPeers = 64
    /// Bytes of a packet that is sent, at most, before it is protected.
    public static let maximumPacketSize = 2_048
    /// Bytes of a message at most.
    public static let maximumMessageSize = DTLSSession.maximumMessageSize

    private let identity: Identity
    private var peers: [PeerTransport] = []
    private var routes: [Route] = []
    private var locals: [IPAddress] = []
    private let scratch: UnsafeMutableRawBufferPointer

    /// An address from which a remote peer has proven, by a check, to send. Those that last did so are first.
    private struct Route {
        let source: SocketAddress
        let peer: PeerTransport
    }
    /// Routes of one peer: each of its addresses sends checks.
    private static let routesPerPeer = ICEAgent.maximumRemotes

    /// Creates an endpoint without remote peers.
    /// - Parameter identity: whose certificate the remote peers were told of.
    public init(identity: Identity) {
        self.identity = identity
        unsafe scratch = .allocate(byteCount: Self.maximumPacketSize + SRTPSession.maximumOverhead, alignment: 16)
    }

    deinit { unsafe scratch.deallocate() }

    /// Tells which addresses this machine has, the most preferred first; at the beginning and whenever they change.
    public mutating func setLocalAddresses(_ addresses: [IPAddress], at now: HostTime) {
        locals = addresses
        for peer in peers { peer.setLocalAddresses(addresses, at: now) }
    }

    /// Tells that this machine has slept, of which ``HostTime`` knows nothing: consent grew older by that.
    package mutating func slept(for seconds: Double, at now: HostTime) {
        for peer in peers { peer.slept(for: seconds, at: now) }
    }

    /// Awaits a remote peer that was offered a way or has offered one.
    /// - Parameter generator: cannot be guessed, but in tests.
    /// - Returns: false if there are ``maximumPeers`` already.
    /// - Precondition: nobody else has its number or our credentials.
    public mutating func add(
        _ id: PeerID, _ setup: LocalTransportParameters, at now: HostTime,
        using generator: inout some RandomNumberGenerator
    ) -> Bool {
        precondition(peer(id) == nil)
        guard peers.count < Self.maximumPeers else { return false }
        var agent = ICEAgent(
            setup.mode, role: setup.role, credentials: setup.credentials, at: now, using: &generator)
        agent.setLocalAddresses(locals, at: now)
        peers.append(PeerTransport(id, setup, identity: identity, agent: agent, at: now))
        return true
    }

    /// Tells what a remote peer's description says. Later ones may name more candidates; nothing else of them counts.
    public mutating func setRemote(_ remote: RemoteTransportParameters, of id: PeerID, at now: HostTime)
        throws(TransportError)
    {
        try peer(id)?.setRemote(remote, at: now)
    }

    /// Ends the way to a remote peer, which is told. From now on nothing is sent to it and nothing of it taken.
    public mutating func remove(_ id: PeerID, transmit: Transmit) {
        guard let index = peers.firstIndex(where: { $0.id == id }) else { return }
        let peer = peers.remove(at: index)
        unsafe peer.close(transmit)
        routes.removeAll { $0.peer === peer }
    }

    /// Takes a datagram, whatever is in it.
    /// - Parameters:
    ///   - datagram: its bytes, which are decrypted in their place.
    ///   - source: where it came from.
    ///   - local: which of our addresses it came to.
    public mutating func receive(
        _ datagram: UnsafeMutableRawBufferPointer, from source: SocketAddress, to local: IPAddress, at now: HostTime,
        transmit: Transmit, deliver: Deliver
    ) {
        guard let first = unsafe datagram.first else { return }
        let bytes = UnsafeRawBufferPointer(datagram)
        switch first {
        case 0...3: unsafe receiveCheck(bytes, from: source, to: local, at: now, transmit, deliver)
        case 20...63:
            guard let peer = peer(at: source) else { return }
            unsafe peer.receiveHandshake(bytes, at: now, transmit) { unsafe deliver(peer.id, .message($0)) }
            unsafe follow(peer, at: now, transmit, deliver)
        case 128...191: unsafe receivePacket(datagram, from: source, to: local, at: now, transmit, deliver)
        default: break
        }
    }

    /// Protects and sends a packet, RTP or RTCP.
    /// - Returns: true if it was sent; false if it was dropped and counted: no path, no consent, or too large.
    @discardableResult
    public mutating func send(_ packet: UnsafeRawBufferPointer, to id: PeerID, transmit: Transmit) -> Bool {
        guard let peer = peer(id) else { return false }
        guard packet.count <= Self.maximumPacketSize else {
            peer.countUnsent()
            return false
        }
        unsafe scratch.copyMemory(from: packet)
        return unsafe peer.send(scratch, count: packet.count, transmit)
    }

    /// Sends a message, which may be lost or overtaken on its way; 1 to ``maximumMessageSize`` bytes.
    public mutating func sendMessage(
        _ message: UnsafeRawBufferPointer, to id: PeerID, transmit: Transmit
    ) throws(DTLSError) {
        guard let peer = peer(id) else { throw .notEstablished }
        unsafe try peer.sendMessage(message, transmit)
    }

    /// Does what is due. To be called when ``nextDeadline`` has come, and after the way to a remote peer was set up.
    public mutating func tick(at now: HostTime, transmit: Transmit, deliver: Deliver) {
        for peer in peers where unsafe peer.tick(at: now, transmit) {
            unsafe follow(peer, at: now, transmit, deliver)
        }
    }

    /// When ``tick(at:transmit:deliver:)`` has something to do next; nil when only another call can change that.
    public var nextDeadline: HostTime? {
        var next: HostTime?
        for peer in peers {
            if let due = peer.nextDeadline { next = min(due, next ?? due) }
        }
        return next
    }

    /// The numbers of all peers.
    package var peerIDs: [PeerID] { peers.map(\.id) }

    /// Returns the state of the transport to a remote peer; nil if it is unknown.
    public func state(of id: PeerID) -> TransportState? { peer(id)?.state }

    /// The key that a remote peer has proven to have; nil before.
    package func key(of id: PeerID) -> PublicKey? { peer(id)?.key }

    /// Seconds to a remote peer and back, by its last checks; nil until known, and with browsers.
    package func roundTrip(of id: PeerID) -> Double? { peer(id)?.agent.roundTrip }

    /// The pair of addresses that a remote peer's media uses; nil without a path.
    public func pair(of id: PeerID) -> ICEPair? { peer(id)?.agent.mediaPair }

    /// Returns the counts of a remote peer; nil if it is unknown.
    public func statistics(of id: PeerID) -> TransportStatistics? { peer(id)?.statistics }

    // MARK: Whose it is

    private func peer(_ id: PeerID) -> PeerTransport? { peers.first { $0.id == id } }

    private func peer(at source: SocketAddress) -> PeerTransport? { routes.first { $0.source == source }?.peer }

    private mutating func receiveCheck(
        _ datagram: UnsafeRawBufferPointer, from source: SocketAddress, to local: IPAddress, at now: HostTime,
        _ transmit: Transmit, _ deliver: Deliver
    ) {
        guard let message = unsafe try? STUNMessage(parsing: datagram.bytes),
            let peer = peers.first(where: { $0.isAddressed(by: message) })
        else { return }
        if unsafe peer.receiveCheck(message, from: source, to: local, at: now, transmit) { learn(source, peer) }
        unsafe follow(peer, at: now, transmit, deliver)
    }

    private mutating func receivePacket(
        _ packet: UnsafeMutableRawBufferPointer, from source: SocketAddress, to local: IPAddress, at now: HostTime,
        _ transmit: Transmit, _ deliver: Deliver
    ) {
        let number = unsafe Self.source(packet.bytes)
        // A peer that moves is known by its source number until a check tells its address; retransmissions have another lowest bit.
        guard let peer = peer(at: source) ?? peers.first(where: { Self.isSame($0.source, number) }) else { return }
        guard let opened = unsafe peer.open(packet, from: source, to: local, at: now) else { return }
        unsafe deliver(peer.id, .packet(opened))
        unsafe follow(peer, at: now, transmit, deliver)
    }

    private mutating func learn(_ source: SocketAddress, _ peer: PeerTransport) {
        if let index = routes.firstIndex(where: { $0.source == source }) { routes.remove(at: index) }
        routes.insert(Route(source: source, peer: peer), at: 0)
        guard routes.count(where: { $0.peer === peer }) > Self.routesPerPeer else { return }
        if let oldest = routes.lastIndex(where: { $0.peer === peer }) { routes.remove(at: oldest) }
    }

    private func follow(_ peer: PeerTransport, at now: HostTime, _ transmit: Transmit, _ deliver: Deliver) {
        if unsafe peer.follow(at: now, transmit, { unsafe deliver(peer.id, .message($0)) }) {
            deliver(peer.id, .state(peer.state))
        }
    }

    private static func isSame(_ a: UInt32?, _ b: UInt32?) -> Bool {
        guard let a, let b else { return false }
        return a ^ b <= 1
    }

    /// The source number of RTP or RTCP (RFC 5761 §4); nil if it is too short to have one.
    static func source(_ packet: RawSpan) -> UInt32? {
        guard packet.byteCount >= RTPPacket.headerSize else { return nil }
        return packet.bigEndian32(RTCPCompound.isOne(packet) ? 4 : 8)
    }
}
