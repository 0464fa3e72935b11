import Glibc

/// A non-blocking UDP socket for one peer. Neither sending nor receiving allocates.
public struct UDPSocket: ~Copyable, Sendable {
    /// For `poll`; not to be closed.
    public let fileDescriptor: CInt
    /// Where it is bound, the chosen port included.
    public let localAddress: SocketAddress
    /// Whose packets are let in; nil until connected.
    public private(set) var peerAddress: SocketAddress?

    /// Bytes the kernel may queue for us: a second of the fattest call (L16, 2 × 96 kHz) and some.
    private static let receiveBufferSize: CInt = 1 << 19

    /// Binds a socket. Its packets ask for expedited forwarding (DSCP 46, RFC 3246).
    /// - Parameter port: 0 lets the system choose.
    public init(address: IPAddress, port: UInt16) throws(UDPSocketError) {
        let wanted = SocketAddress(address, port: port)
        let fd = socket(wanted.family, CInt(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard fd >= 0 else { throw UDPSocketError(errno, binding: wanted) }
        if address.isV6 {
            Self.set(fd, CInt(IPPROTO_IPV6), IPV6_V6ONLY, 1)
            Self.set(fd, CInt(IPPROTO_IPV6), IPV6_TCLASS, 0xB8)
        } else {
            Self.set(fd, CInt(IPPROTO_IP), IP_TOS, 0xB8)
        }
        Self.set(fd, SOL_SOCKET, SO_RCVBUF, Self.receiveBufferSize)
        guard wanted.withKernelAddress({ bind(fd, $0, $1) }) == 0,
            let local = SocketAddress.filled(by: { getsockname(fd, $0, &$1) })
        else {
            let error = UDPSocketError(errno, binding: wanted)
            close(fd)
            throw error
        }
        fileDescriptor = fd
        localAddress = local
    }

    deinit { close(fileDescriptor) }

    /// Options are wishes: a kernel that refuses one still carries the call.
    private static func set(_ fd: CInt, _ level: CInt, _ option: CInt, _ value: CInt) {
        var value = value
        _ = setsockopt(fd, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
    }

    /// Sends to `peer` from now on and lets in only its packets; also lets a refusal by its machine show as an error.
    public mutating func connect(to peer: SocketAddress) throws(UDPSocketError) {
        let fd = fileDescriptor
        guard peer.withKernelAddress({ Glibc.connect(fd, $0, $1) }) == 0 else {
            throw UDPSocketError(errno, reaching: peer)
        }
        peerAddress = peer
    }

    /// Sends a datagram to the connected peer.
    /// - Returns: false when the kernel has no room for it now; the datagram is then dropped, as the network might.
    @discardableResult
    public func send(_ datagram: UnsafeRawBufferPointer) throws(UDPSocketError) -> Bool {
        while true {
            if Glibc.send(fileDescriptor, datagram.baseAddress, datagram.count, CInt(MSG_NOSIGNAL)) >= 0 {
                return true
            }
            switch errno {
            case EINTR: continue
            case EAGAIN, ENOBUFS: return false
            case let code: throw UDPSocketError(code, reaching: peerAddress)
            }
        }
    }

    /// Takes the next datagram. Call it until it returns nil to take all that came. Datagrams larger than the buffer,
    /// and those of others that were queued before ``connect(to:)``, are dropped.
    /// - Returns: its size in bytes, which may be 0; nil when there is none.
    /// - Throws: ``UDPSocketError/refused(_:)`` when the peer's machine says that nobody listens. The socket stays good.
    public func receive(into buffer: UnsafeMutableRawBufferPointer) throws(UDPSocketError) -> Int? {
        let fd = fileDescriptor
        while true {
            var count = 0
            let from = SocketAddress.filled { address, size in
                count = recvfrom(fd, buffer.baseAddress, buffer.count, CInt(MSG_TRUNC), address, &size)
                return count < 0 ? -1 : 0
            }
            if count < 0 {
                switch errno {
                case EINTR: continue
                case EAGAIN: return nil
                case let code: throw UDPSocketError(code, reaching: peerAddress)
                }
            }
            if count <= buffer.count, isFromPeer(from) { return count }
        }
    }

    private func isFromPeer(_ from: SocketAddress?) -> Bool {
        guard let peer = peerAddress, let from else { return true }
        switch (peer.address, from.address) {  // the scope is the receiving side's matter
        case (.v6(let a, _), .v6(let b, _)): return a == b && peer.port == from.port
        default: return peer == from
        }
    }
}
