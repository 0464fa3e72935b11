// SPDX-License-Identifier: Apache-2.0

extension IPAddress {
    /// Returns true if the address is valid on one link only: 169.254.0.0/16 (RFC 3927), fe80::/10 (RFC 4291).
    public var isLinkLocal: Bool {
        switch self {
        case .v4(let bits): bits >> 16 == 0xA9FE
        case .v6(let bits, _): bits >> 118 == 0xFE80 >> 6
        }
    }

    /// Returns the address with an interface's number as its scope if it is IPv6 link-local, and without a scope otherwise.
    package func scoped(to interface: UInt32) -> IPAddress {
        guard case .v6(let bits, _) = self else { return self }
        return .v6(bits, scope: isLinkLocal ? interface : 0)
    }

    /// Returns true if the address is IPv6 link-local, fe80::/10, and so needs an interface.
    var isLinkLocalV6: Bool { isV6 && isLinkLocal }

    /// The address without its scope, the number of an interface.
    var withoutScope: IPAddress { scoped(to: 0) }

    /// The address, with its scope only if it is IPv6 link-local: the kernel gives scopes to other addresses too.
    var withNeededScope: IPAddress { isLinkLocalV6 ? self : withoutScope }

    /// The IPv4 address for `::ffff:1.2.3.4`, the IPv6 form that a socket of both families uses; any other address unchanged.
    package var unmapped: IPAddress {
        guard case .v6(let bits, _) = self, bits >> 32 == 0xFFFF else { return self }
        return .v4(UInt32(truncatingIfNeeded: bits))
    }

    /// The address as a socket of both families needs it: an IPv4 one in the IPv6 form `::ffff:1.2.3.4`.
    var mapped: IPAddress {
        guard case .v4(let bits) = self else { return self }
        return .v6(0xFFFF << 32 | UInt128(bits), scope: 0)
    }
}
