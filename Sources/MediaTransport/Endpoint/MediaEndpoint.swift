// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// All remote peers' media on one UDP port, without socket, thread and clock: datagrams are received with their source and local
/// address, and sent with both.
///
/// The first byte tells the kind of a datagram (RFC 7983). A check is assigned to a remote peer by the user name, any other
/// datagram by its source, which only an authentic check makes known; a protected packet also by its source number (SSRC), so
/// that a peer that moves is heard before a check finds it. Other datagrams are dropped, and nothing grows by them.
///
/// For the media thread alone. No packet allocates.
@safe public struct MediaEndpoint: ~Copyable {
    /// Receives each datagram to send, its local address and its destination; valid during the call.
    public typealias Transmit = (UnsafeRawBufferPointer, _ from: IPAddress, _ to: SocketAddress) -> Void
    /// Receives what a remote peer sent and changes of its transport; valid during the call.
    public typealias Deliver = (PeerID, TransportEvent) -> Void

    /// The maximum number of remote peers.
    package static let maximumPeers = 64
    /// The maximum bytes of a sent packet, before protection.
    public static let maximumPacketSize = 2_048
    /// The maximum bytes of a message.
    public static let maximumMessageSize = DTLSSession.maximumMessageSize

    private let identity: Identity
    private var peers: [PeerTransport] = []
    private var routes: [Route] = []
    private var locals: [IPAddress] = []
    private let scratch: UnsafeMutableRawBufferPointer

    /// An address that a remote peer has proven by a check. The latest ones come first.
    private struct Route {
        let source: SocketAddress
        let peer: PeerTransport
    }
    /// The maximum routes of a peer: each of its addresses sends checks.
    private static let routesPerPeer = ICEAgent.maximumRemotes

    /// Creates an endpoint without remote peers.
    /// - Parameter identity: the local identity, whose certificate fingerprint remote peers know.
    public init(identity: Identity) {
        self.identity = identity
        unsafe scratch = .allocate(byteCount: Self.maximumPacketSize + SRTPSession.maximumOverhead, alignment: 16)
    }

    deinit { unsafe scratch.deallocate() }

    /// Sets the local addresses, the most preferred first. Call it at the beginning and at each change.
    public mutating func setLocalAddresses(_ addresses: [IPAddress], at now: HostTime) {
        locals = addresses
        for peer in peers { peer.setLocalAddresses(addresses, at: now) }
    }

    /// Notes that the machine slept, which ``HostTime`` does not count: consent has aged.
    package mutating func slept(for seconds: Double, at now: HostTime) {
        for peer in peers { peer.slept(for: seconds, at: now) }
    }

    /// Adds a remote peer that was offered a transport or has offered one.
    /// - Parameter generator: must be unpredictable, except in tests.
    /// - Returns: false if there are ``maximumPeers`` already.
    /// - Precondition: no other peer has its number or our credentials.
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

    /// Sets the parameters of a remote peer's description. From later ones only new candidates are used.
    public mutating func setRemote(_ remote: RemoteTransportParameters, of id: PeerID, at now: HostTime)
        throws(TransportError)
    {
        try peer(id)?.setRemote(remote, at: now)
    }

    /// Removes a remote peer and notifies it. Nothing is sent to it or received from it afterwards.
    public mutating func remove(_ id: PeerID, transmit: Transmit) {
        guard let index = peers.firstIndex(where: { $0.id == id }) else { return }
        let peer = peers.remove(at: index)
        unsafe peer.close(transmit)
        routes.removeAll { $0.peer === peer }
    }

    /// Receives a datagram, with any content.
    /// - Parameters:
    ///   - datagram: its bytes, decrypted in place.
    ///   - source: its source.
    ///   - local: the local address that it reached.
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

    /// Sends a message of 1 to ``maximumMessageSize`` bytes, which may be lost or reordered.
    public mutating func sendMessage(
        _ message: UnsafeRawBufferPointer, to id: PeerID, transmit: Transmit
    ) throws(DTLSError) {
        guard let peer = peer(id) else { throw .notEstablished }
        unsafe try peer.sendMessage(message, transmit)
    }

    /// Does what is due. Call it at ``nextDeadline``, and after adding a remote peer.
    public mutating func tick(at now: HostTime, transmit: Transmit, deliver: Deliver) {
        for peer in peers where unsafe peer.tick(at: now, transmit) {
            unsafe follow(peer, at: now, transmit, deliver)
        }
    }

    /// The time of the next ``tick(at:transmit:deliver:)``; nil if only another call can require one.
    public var nextDeadline: HostTime? {
        var next: HostTime?
        for peer in peers {
            if let due = peer.nextDeadline { next = min(due, next ?? due) }
        }
        return next
    }

    /// The IDs of all peers.
    package var peerIDs: [PeerID] { peers.map(\.id) }

    /// Returns the state of the transport to a remote peer; nil if it is unknown.
    public func state(of id: PeerID) -> TransportState? { peer(id)?.state }

    /// Returns a remote peer's verified key; nil before.
    package func key(of id: PeerID) -> PublicKey? { peer(id)?.key }

    /// Returns the seconds of a round trip to a remote peer, by its last checks; nil until known, and with browsers.
    package func roundTrip(of id: PeerID) -> Double? { peer(id)?.agent.roundTrip }

    /// Returns the pair of addresses of a remote peer's media; nil without one.
    public func pair(of id: PeerID) -> ICEPair? { peer(id)?.agent.mediaPair }

    /// Returns the counts of a remote peer; nil if it is unknown.
    public func statistics(of id: PeerID) -> TransportStatistics? { peer(id)?.statistics }

    // MARK: Demultiplexing

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

    /// Returns the source number of RTP or RTCP (RFC 5761 §4); nil if the packet is too short.
    static func source(_ packet: RawSpan) -> UInt32? {
        guard packet.byteCount >= RTPPacket.headerSize else { return nil }
        return packet.bigEndian32(RTCPCompound.isOne(packet) ? 4 : 8)
    }
}
