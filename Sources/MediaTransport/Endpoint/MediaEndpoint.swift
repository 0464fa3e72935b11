// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The media of all remote peers on one UDP port, without a socket, thread or clock. The caller passes received datagrams with
/// their source and local address, and gets datagrams to send with their local address and destination.
///
/// The first byte tells the kind of a datagram (RFC 7983). A check is assigned to a remote peer by the user name, any other
/// datagram by its source, which only an authentic check makes known; a protected packet also by its source number (SSRC), so
/// that a peer that moves is heard before a check finds it. Other datagrams are dropped and use no memory.
///
/// For the media thread alone. No packet allocates.
@safe public struct MediaEndpoint: ~Copyable {
    /// Receives each datagram to send, its local address and its destination; valid during the call.
    public typealias Transmit = (UnsafeRawBufferPointer, _ from: IPAddress, _ to: SocketAddress) -> Void
    /// Receives what a remote peer sent, and changes of that peer's transport; the event is valid during the call.
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
    /// The remote peers whose path has changed since the last ``takeMovedPeers()``.
    package private(set) var movedPeers: [PeerID] = []

    /// An address that a remote peer has proven by a check, with that peer. The latest proven address comes first in the list.
    private struct Route {
        let source: SocketAddress
        let peer: PeerTransport
    }
    /// The maximum routes of one peer, which may send checks from each of its addresses.
    private static let routesPerPeer = ICEAgent.maximumRemotes

    /// Creates an endpoint without remote peers.
    /// - Parameter identity: the local identity, whose certificate fingerprint remote peers know.
    public init(identity: Identity) {
        self.identity = identity
        unsafe scratch = .allocate(byteCount: Self.maximumPacketSize + SRTPSession.maximumOverhead, alignment: 16)
    }

    deinit { unsafe scratch.deallocate() }

    /// Sets the local addresses, the most preferred first. Call it at the beginning and whenever they change.
    public mutating func setLocalAddresses(_ addresses: [IPAddress], at now: HostTime) {
        locals = addresses
        for peer in peers { peer.setLocalAddresses(addresses, at: now) }
    }

    /// Notes that the machine slept, a time that ``HostTime`` does not count: the remote peers' consent has aged by it.
    package mutating func slept(for seconds: Double, at now: HostTime) {
        for peer in peers { peer.slept(for: seconds, at: now) }
    }

    /// Adds a remote peer that was offered a transport or has offered one.
    /// - Parameter generator: must be unpredictable, except in tests.
    /// - Returns: false if there are ``maximumPeers`` already.
    /// - Precondition: no other remote peer has this ID or the same local credentials.
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

    /// Sets the parameters from a remote peer's session description. From later descriptions only new candidates are used.
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
    ///   - datagram: the datagram's bytes; a packet is decrypted in place.
    ///   - source: the address that sent the datagram.
    ///   - local: the local address that the datagram reached.
    public mutating func receive(
        _ datagram: UnsafeMutableRawBufferPointer, from source: SocketAddress, to local: IPAddress, at now: HostTime,
        transmit: Transmit, deliver: Deliver
    ) {
        guard let first = unsafe datagram.first else { return }
        let bytes = UnsafeRawBufferPointer(datagram)
        switch first {
        case 0...3: unsafe receiveSTUN(bytes, from: source, to: local, at: now, transmit, deliver)
        case 20...63:
            guard let peer = peer(at: source) else { return }
            unsafe peer.receiveHandshake(bytes, at: now, transmit) { unsafe deliver(peer.id, .message($0)) }
            unsafe follow(peer, at: now, transmit, deliver)
        case 128...191: unsafe receivePacket(datagram, from: source, to: local, at: now, transmit, deliver)
        default: break
        }
    }

    /// Protects and sends a packet, RTP or RTCP.
    /// - Returns: true if the packet was sent. False if it was dropped: the peer is unknown, its transport has no keys, path or
    ///   consent, or the packet is too large. ``TransportStatistics/unsent`` counts the dropped packets of known peers.
    @discardableResult
    public mutating func send(_ packet: UnsafeRawBufferPointer, to id: PeerID, transmit: Transmit) -> Bool {
        unsafe send(packet, to: id, later: 0, transmit: transmit)
    }

    /// Protects and sends a packet.
    /// - Parameter later: the microseconds since the packet's send time was written, which are added to it.
    @discardableResult
    package mutating func send(
        _ packet: UnsafeRawBufferPointer, to id: PeerID, later: UInt32, transmit: Transmit
    ) -> Bool {
        guard let peer = peer(id) else { return false }
        guard packet.count <= Self.maximumPacketSize else {
            peer.countUnsent()
            return false
        }
        unsafe scratch.copyMemory(from: packet)
        if later > 0 {
            let copy = unsafe UnsafeMutableRawBufferPointer(rebasing: scratch[..<packet.count])
            var bytes = unsafe copy.mutableBytes
            SendTimeExtension.advance(&bytes, by: later)
        }
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

    package var peerIDs: [PeerID] { peers.map(\.id) }

    /// Returns the state of the transport to a remote peer; nil for an unknown peer.
    public func state(of id: PeerID) -> TransportState? { peer(id)?.state }

    /// Returns a remote peer's verified public key; nil until verified, and for an unknown peer.
    package func key(of id: PeerID) -> PublicKey? { peer(id)?.key }

    /// Returns the seconds of a round trip to a remote peer, as measured by checks; nil until known, and with browsers.
    package func roundTrip(of id: PeerID) -> Double? { peer(id)?.agent.roundTrip }

    /// Returns the local and remote address between which a remote peer's media flows; nil without a path.
    public func pair(of id: PeerID) -> ICEPair? { peer(id)?.agent.mediaPair }

    /// Returns the remote peers whose path has changed since the last call.
    package mutating func takeMovedPeers() -> [PeerID] {
        defer { movedPeers = [] }
        return movedPeers
    }

    /// Returns the counts of the transport to a remote peer; nil for an unknown peer.
    public func statistics(of id: PeerID) -> TransportStatistics? { peer(id)?.statistics }

    // MARK: Demultiplexing

    private func peer(_ id: PeerID) -> PeerTransport? { peers.first { $0.id == id } }

    private func peer(at source: SocketAddress) -> PeerTransport? { routes.first { $0.source == source }?.peer }

    private mutating func receiveSTUN(
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
        let ssrc = unsafe Self.source(packet.bytes)
        // A peer that moves is recognized by its source number until a check proves its new address. The source number of
        // retransmissions differs in the lowest bit.
        guard let peer = peer(at: source) ?? peers.first(where: { Self.isSameSource($0.source, ssrc) }) else { return }
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

    private mutating func follow(
        _ peer: PeerTransport, at now: HostTime, _ transmit: Transmit, _ deliver: Deliver
    ) {
        let moves = peer.statistics.moves
        defer {
            if peer.statistics.moves != moves, !movedPeers.contains(peer.id) { movedPeers.append(peer.id) }
        }
        if unsafe peer.follow(at: now, transmit, { unsafe deliver(peer.id, .message($0)) }) {
            deliver(peer.id, .state(peer.state))
        }
    }

    private static func isSameSource(_ a: UInt32?, _ b: UInt32?) -> Bool {
        guard let a, let b else { return false }
        return a ^ b <= 1
    }

    /// Returns the source number (SSRC) of an RTP or RTCP packet (RFC 5761 §4); nil if the packet is too short.
    static func source(_ packet: RawSpan) -> UInt32? {
        guard packet.byteCount >= RTPPacket.headerSize else { return nil }
        return packet.bigEndian32(RTCPCompound.isOne(packet) ? 4 : 8)
    }
}
