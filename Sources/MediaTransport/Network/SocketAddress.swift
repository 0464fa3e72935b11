// SPDX-License-Identifier: Apache-2.0

import Glibc

/// An address and a port.
public struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address.
    public var address: IPAddress
    /// The port of UDP or TCP; 0 lets the system choose when binding.
    public var port: UInt16

    /// Creates an address with a port.
    public init(_ address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// The address and the port: `127.0.0.1:5004` or `[::1]:5004`.
    public var description: String { address.isV6 ? "[\(address)]:\(port)" : "\(address):\(port)" }

    /// Resolves a host's numeric address or name. Waits for the system's name servers.
    /// - Returns: the host's addresses in the system's order of preference; at least one.
    public static func resolve(_ host: String, port: UInt16) throws(ResolutionError) -> [SocketAddress] {
        if let address = IPAddress(host) { return [SocketAddress(address, port: port)] }
        guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 32 }) else {
            throw ResolutionError(host: host, reason: "no such name")
        }
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = CInt(SOCK_STREAM.rawValue)  // lists each address once; the type does not matter
        var list: UnsafeMutablePointer<addrinfo>?
        let status = unsafe getaddrinfo(host, nil, &hints, &list)
        guard status == 0 else {
            throw unsafe ResolutionError(host: host, reason: String(cString: gai_strerror(status)))
        }
        defer { unsafe freeaddrinfo(list) }
        var found: [SocketAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            if let raw = unsafe entry.pointee.ai_addr, let parsed = unsafe SocketAddress(raw),
                !found.contains(where: { $0.address == parsed.address })
            {
                found.append(SocketAddress(parsed.address, port: port))
            }
            unsafe next = unsafe entry.pointee.ai_next
        }
        guard !found.isEmpty else { throw ResolutionError(host: host, reason: "it has no IP address") }
        return found
    }

    /// Reads a `sockaddr`; nil for a family other than IP.
    init?(_ raw: UnsafePointer<sockaddr>) {
        switch unsafe CInt(raw.pointee.sa_family) {
        case AF_INET:
            let v4 = unsafe UnsafeRawPointer(raw).loadUnaligned(as: sockaddr_in.self)
            self.init(.v4(UInt32(bigEndian: v4.sin_addr.s_addr)), port: UInt16(bigEndian: v4.sin_port))
        case AF_INET6:
            let v6 = unsafe UnsafeRawPointer(raw).loadUnaligned(as: sockaddr_in6.self)
            self.init(.v6(UInt128(v6.sin6_addr), scope: v6.sin6_scope_id), port: UInt16(bigEndian: v6.sin6_port))
        default: return nil
        }
    }

    /// The address family: `AF_INET` or `AF_INET6`.
    package var family: CInt { address.isV6 ? AF_INET6 : AF_INET }

    /// Calls `body` with the address as a `sockaddr`.
    package func withKernelAddress<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        var storage = sockaddr_storage()
        let size: Int
        switch address {
        case .v4(let bits):
            var v4 = sockaddr_in()
            v4.sin_family = sa_family_t(AF_INET)
            v4.sin_port = port.bigEndian
            v4.sin_addr.s_addr = bits.bigEndian
            size = MemoryLayout<sockaddr_in>.size
            unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: v4, as: sockaddr_in.self) }
        case .v6(let bits, let scope):
            var v6 = sockaddr_in6()
            v6.sin6_family = sa_family_t(AF_INET6)
            v6.sin6_port = port.bigEndian
            v6.sin6_addr = in6_addr(bits)
            v6.sin6_scope_id = scope
            size = MemoryLayout<sockaddr_in6>.size
            unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: v6, as: sockaddr_in6.self) }
        }
        return unsafe withUnsafePointer(to: storage) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, socklen_t(size)) }
        }
    }

    /// Returns the address that `body` fills in (`getsockname`, `accept`); nil if it returns a negative number or fills in no IP
    /// address.
    package static func filled(by body: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> CInt) -> SocketAddress? {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &storage) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, &size) < 0 ? nil : SocketAddress(UnsafePointer($0))
            }
        }
    }
}

/// A host name could not be resolved.
public struct ResolutionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The host name.
    public let host: String
    /// The reason, in most cases the system's message.
    public let reason: String

    package init(host: String, reason: String) {
        self.host = host
        self.reason = reason
    }

    /// One sentence that says what happened.
    public var description: String {
        "unknown host '\(host)' (\(reason))"
    }
}
