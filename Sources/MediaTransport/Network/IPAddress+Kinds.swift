// SPDX-License-Identifier: Apache-2.0

extension IPAddress {
    /// Returns true if it is valid on one link only: 169.254.0.0/16 (RFC 3927), fe80::/10 (RFC 4291).
    public var isLinkLocal: Bool {
        switch self {
        case .v4(let bits): bits >> 16 == 0xA9FE
        case .v6(let bits, _): bits >> 118 == 0xFE80 >> 6
        }
    }

    /// Returns the address with an interface's number if it is IPv6 link-local; without one otherwise.
    package func scoped(to interface: UInt32) -> IPAddress {
        guard case .v6(let bits, _) = self else { return self }
        return .v6(bits, scope: isLinkLocal ? interface : 0)
    }

    /// Returns true if it needs an interface: fe80::/10.
    var isLinkLocalV6: Bool { isV6 && isLinkLocal }

    /// The address without an interface.
    var withoutScope: IPAddress { scoped(to: 0) }

    /// The address with a scope only if it is link-local: the kernel also gives scopes to others.
    var withNeededScope: IPAddress { isLinkLocalV6 ? self : withoutScope }

    /// The IPv4 address of `::ffff:1.2.3.4`, which stands for it on a socket of both families; others unchanged.
    package var unmapped: IPAddress {
        guard case .v6(let bits, _) = self, bits >> 32 == 0xFFFF else { return self }
        return .v4(UInt32(truncatingIfNeeded: bits))
    }

    /// The address on a socket of both families.
    var mapped: IPAddress {
        guard case .v4(let bits) = self else { return self }
        return .v6(0xFFFF << 32 | UInt128(bits), scope: 0)
    }
}
