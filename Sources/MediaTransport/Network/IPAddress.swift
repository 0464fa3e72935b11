// SPDX-License-Identifier: Apache-2.0

import Glibc

/// An IPv4 or IPv6 address.
public enum IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// An IPv4 address in host order: 127.0.0.1 is 0x7F00_0001.
    case v4(UInt32)
    /// An IPv6 address in host order; the scope is the interface's number for link-local addresses, else 0.
    case v6(UInt128, scope: UInt32)

    /// Reads a numeric address; an IPv6 one may end in `%` and an interface's name or number.
    public init?(_ text: String) {
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first, address.utf8.allSatisfy({ $0 != 0 }) else { return nil }
        var v4 = in_addr()
        if parts.count == 1, unsafe inet_pton(AF_INET, text, &v4) == 1 {
            self = .v4(UInt32(bigEndian: v4.s_addr))
            return
        }
        var v6 = in6_addr()
        guard unsafe inet_pton(AF_INET6, String(address), &v6) == 1 else { return nil }
        var scope: UInt32 = 0
        if parts.count == 2 {
            scope = unsafe UInt32(parts[1]) ?? if_nametoindex(String(parts[1]))
            guard scope != 0 else { return nil }
        }
        self = .v6(UInt128(v6), scope: scope)
    }

    /// The IPv4 loopback address, 127.0.0.1.
    public static let loopback = IPAddress.v4(0x7F00_0001)
    /// The IPv6 loopback address, ::1.
    package static let loopbackV6 = IPAddress.v6(1, scope: 0)
    /// 0.0.0.0: every IPv4 address of this machine.
    package static let any = IPAddress.v4(0)

    /// Returns true if packets to the address stay on this machine: 127.0.0.0/8, ::1, and 127.0.0.0/8 mapped into IPv6.
    public var isLoopback: Bool {
        switch self {
        case .v4(let bits): bits >> 24 == 127
        case .v6(let bits, _): bits == 1 || bits >> 24 == 0xFFFF_7F
        }
    }

    /// Returns true if the address stands for every address of a machine: 0.0.0.0 or ::.
    public var isUnspecified: Bool {
        switch self {
        case .v4(let bits): bits == 0
        case .v6(let bits, _): bits == 0
        }
    }

    package var isV6: Bool {
        if case .v6 = self { true } else { false }
    }

    /// The numeric address, with the scope's number if there is one.
    public var description: String {
        switch self {
        case .v4(let bits):
            return "\(bits >> 24).\(bits >> 16 & 255).\(bits >> 8 & 255).\(bits & 255)"
        case .v6(let bits, let scope):
            var address = in6_addr(bits)
            let text = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
                unsafe inet_ntop(AF_INET6, &address, buffer.baseAddress, socklen_t(buffer.count)).map {
                    unsafe String(cString: $0)
                }
            }
            return (text ?? "::") + (scope == 0 ? "" : "%\(scope)")
        }
    }
}

extension UInt128 {
    init(_ address: in6_addr) {
        self = unsafe withUnsafeBytes(of: address) { unsafe UInt128(bigEndian: $0.loadUnaligned(as: UInt128.self)) }
    }
}

extension in6_addr {
    init(_ bits: UInt128) {
        self.init()
        unsafe withUnsafeMutableBytes(of: &self) { unsafe $0.storeBytes(of: bits.bigEndian, as: UInt128.self) }
    }
}
