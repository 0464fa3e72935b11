// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The process's UDP socket for all peers: unconnected, of both families if the machine has both. It reports and selects the
/// local address of each datagram. Neither sending nor receiving allocates or waits.
///
/// It receives datagrams from anyone; ICE and SRTP verify the sender. One thread may send while another receives.
package struct MediaSocket: ~Copyable, Sendable {
    /// The descriptor for `poll`; do not close it.
    package var fileDescriptor: CInt { descriptor.number }
    /// The bound address with the actual port. `[::]` stands for every address of both families.
    package let localAddress: SocketAddress

    private let descriptor: Descriptor

    /// A socket's descriptor that closes itself. A separate type, since swiftc 6.3.1 misaligns the stack in the `deinit` of a
    /// type with a UInt128 in debug builds.
    @usableFromInline struct Descriptor: ~Copyable, Sendable {
        let number: CInt
        deinit { close(number) }
    }

    /// The bytes that the kernel may queue: more than a second of the largest call (L16, 2 × 96 kHz).
    private static let receiveBufferSize: CInt = 1 << 19

    /// Binds a socket. Its packets request expedited forwarding (DSCP 46, RFC 3246) in both families.
    /// - Parameters:
    ///   - address: nil for every address of this machine; of IPv4 alone if there is no IPv6.
    ///   - port: 0 lets the system choose.
    package init(address: IPAddress? = nil, port: UInt16) throws(UDPSocketError) {
        let (number, local) =
            if let address { try Self.open(SocketAddress(address, port: port)) } else { try Self.openToAll(port) }
        descriptor = Descriptor(number: number)
        localAddress = local
    }

    private static func openToAll(_ port: UInt16) throws(UDPSocketError) -> (CInt, SocketAddress) {
        do throws(UDPSocketError) {
            return try open(SocketAddress(.v6(0, scope: 0), port: port))
        } catch {
            guard case .addressNotAvailable = error else { throw error }
            return try open(SocketAddress(.any, port: port))
        }
    }

    private static func open(_ wanted: SocketAddress) throws(UDPSocketError) -> (CInt, SocketAddress) {
        let fd = socket(wanted.family, CInt(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard fd >= 0 else { throw UDPSocketError(errno, binding: wanted) }
        if wanted.address.isV6 {
            set(fd, CInt(IPPROTO_IPV6), IPV6_V6ONLY, wanted.address.isUnspecified ? 0 : 1)
            set(fd, CInt(IPPROTO_IPV6), IPV6_RECVPKTINFO, 1)
            set(fd, CInt(IPPROTO_IPV6), IPV6_TCLASS, 0xB8)
        } else {
            set(fd, CInt(IPPROTO_IP), IP_PKTINFO, 1)
        }
        set(fd, CInt(IPPROTO_IP), IP_TOS, 0xB8)
        set(fd, SOL_SOCKET, SO_RCVBUF, receiveBufferSize)
        set(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1)
        guard unsafe wanted.withKernelAddress({ unsafe bind(fd, $0, $1) }) == 0,
            let local = unsafe SocketAddress.filled(by: { unsafe getsockname(fd, $0, &$1) })
        else {
            let error = UDPSocketError(errno, binding: wanted)
            close(fd)
            throw error
        }
        return (fd, local)
    }

    /// Sets an option of the socket. Errors are ignored, because media flows without the option too.
    private static func set(_ fd: CInt, _ level: CInt, _ option: CInt, _ value: CInt) {
        var value = value
        _ = unsafe setsockopt(fd, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
    }

    /// Sends a datagram.
    /// - Parameters:
    ///   - local: the source address; nil lets the kernel choose.
    ///   - interface: the number of the outgoing interface, whatever the routes say; 0 follows the routes, or the scope of a
    ///     link-local address.
    /// - Returns: false if the kernel has no room; the datagram is then dropped, as a network might.
    /// - Throws: ``UDPSocketError/addressNotAvailable(_:)`` if `local` is not an address of this machine (for IPv4 the kernel
    ///   reports ``UDPSocketError/unreachable(_:)``); ``UDPSocketError/unreachable(_:)`` without a route;
    ///   ``UDPSocketError/permissionDenied(_:)`` (a firewall); ``UDPSocketError/tooLarge``. The socket stays usable. A closed
    ///   port at the peer is not reported, because the socket is unconnected.
    @discardableResult
    package func send(
        _ datagram: UnsafeRawBufferPointer, to peer: SocketAddress, from local: IPAddress? = nil, interface: UInt32 = 0
    ) throws(UDPSocketError) -> Bool {
        let fd = fileDescriptor
        let isV6 = localAddress.address.isV6
        let isTowardsV6 = peer.address.unmapped.isV6
        let peerOnSocket = isV6 ? peer.address.mapped : peer.address.unmapped
        let info = local == nil && interface == 0 ? nil : PacketInfo(local: local, interface: interface)
        var control = PacketInfo.Storage(repeating: 0)
        var code: CInt = 0
        repeat {
            code = unsafe SocketAddress(peerOnSocket, port: peer.port).withKernelAddress { name, nameSize in
                unsafe withUnsafeMutableBytes(of: &control) { control in
                    var message = unsafe msghdr()
                    unsafe message.msg_name = unsafe UnsafeMutableRawPointer(mutating: name)
                    unsafe message.msg_namelen = nameSize
                    if let info {
                        unsafe message.msg_control = control.baseAddress
                        var bytes = unsafe control.mutableBytes
                        unsafe message.msg_controllen =
                            isV6
                            ? info.writeV6(into: &bytes, isTowardsV6: isTowardsV6) : info.writeV4(into: &bytes)
                        guard unsafe message.msg_controllen > 0 else { return EADDRNOTAVAIL }
                    }
                    var bytes = unsafe iovec(
                        iov_base: UnsafeMutableRawPointer(mutating: datagram.baseAddress), iov_len: datagram.count)
                    return unsafe withUnsafeMutablePointer(to: &bytes) {
                        unsafe message.msg_iov = unsafe $0
                        unsafe message.msg_iovlen = 1
                        return unsafe sendmsg(fd, &message, CInt(MSG_NOSIGNAL)) >= 0 ? 0 : errno
                    }
                }
            }
        } while code == EINTR
        switch code {
        case 0: return true
        case EAGAIN, ENOBUFS: return false
        default: throw UDPSocketError(code, reaching: peer, from: local)
        }
    }

    /// Receives the next datagram. Call it until it returns nil.
    /// - Returns: nil if there is none.
    package func receive(into buffer: UnsafeMutableRawBufferPointer) throws(UDPSocketError) -> ReceivedDatagram? {
        let fd = fileDescriptor
        while true {
            var control = PacketInfo.Storage(repeating: 0)
            var message = unsafe msghdr()
            var count = 0
            var code: CInt = 0
            var messages: ControlMessages?
            let source = unsafe SocketAddress.filled { name, nameSize in
                unsafe withUnsafeMutableBytes(of: &control) { control in
                    unsafe message.msg_name = UnsafeMutableRawPointer(name)
                    unsafe message.msg_namelen = nameSize
                    unsafe message.msg_control = control.baseAddress
                    unsafe message.msg_controllen = control.count
                    var bytes = unsafe iovec(iov_base: buffer.baseAddress, iov_len: buffer.count)
                    unsafe withUnsafeMutablePointer(to: &bytes) {
                        unsafe message.msg_iov = unsafe $0
                        unsafe message.msg_iovlen = 1
                        count = unsafe recvmsg(fd, &message, CInt(MSG_TRUNC))
                        code = count < 0 ? errno : 0
                    }
                    if code == 0 {
                        messages = unsafe ControlMessages(
                            reading: control.bytes.extracting(..<message.msg_controllen))
                    }
                }
                return code == 0 ? 0 : -1
            }
            switch code {
            case 0: break
            case EINTR: continue
            case EAGAIN: return nil
            default: throw UDPSocketError(code, reaching: nil)
            }
            guard let source else { continue }  // not an IP address
            return ReceivedDatagram(
                size: count, isTruncated: count > buffer.count,
                source: SocketAddress(source.address.unmapped, port: source.port),
                local: messages?.info?.local ?? localAddress.address, interface: messages?.info?.interface ?? 0,
                stamp: messages?.stamp)
        }
    }
}

/// A datagram from ``MediaSocket/receive(into:)``.
package struct ReceivedDatagram: Hashable, Sendable {
    /// The datagram's full size in bytes, even if the buffer was smaller; may be 0.
    package var size: Int
    /// True if the datagram was larger than the buffer and was cut.
    package var isTruncated: Bool
    /// The sender's address as the network reports it. An IPv4 sender has an IPv4 address even on a socket of both families.
    package var source: SocketAddress
    /// The local address that the datagram reached; an IPv6 link-local one has its scope.
    package var local: IPAddress
    /// The number of the interface on which the datagram arrived; 0 if unknown.
    package var interface: UInt32
    /// The kernel's wall-clock time at the datagram's arrival; nil if unknown.
    package var stamp: WallTime?
}
