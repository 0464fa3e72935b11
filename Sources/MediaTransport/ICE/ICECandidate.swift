// SPDX-License-Identifier: Apache-2.0

/// A UDP address at which its owner may be reachable (RFC 8445 §5.1).
public struct ICECandidate: Hashable, Sendable {
    /// The origin of a candidate.
    public enum Kind: Hashable, Sendable, CaseIterable {
        /// An address of the owner's machine.
        case host
        /// An address that a check revealed.
        case peerReflexive

        /// The type preference (RFC 8445 §5.1.2.2).
        var preference: UInt32 {
            switch self {
            case .host: 126
            case .peerReflexive: 110
            }
        }
    }

    /// The component number of RTP, whose port also carries RTCP (RFC 5761).
    static let component: UInt32 = 1

    /// The foundation (RFC 8445 §5.1.1.3), a name for a group of similar candidates; 1 to 32 characters.
    package let foundation: String
    /// The priority, 1 to 2^31 − 1; higher is preferred.
    package let priority: UInt32
    /// The address without a scope, which has no meaning to the peer.
    public let address: SocketAddress

    /// Creates a candidate. Nil if the foundation or the priority is out of range, the port is 0, or the address is not that of
    /// one machine.
    package init?(foundation: String, priority: UInt32, address: SocketAddress) {
        guard (1...32).contains(foundation.utf8.count), ICECredentials.isValid(foundation),
            (1..<1 << 31).contains(priority), address.isUnicast
        else { return nil }
        self.foundation = foundation
        self.priority = priority
        self.address = SocketAddress(address.address.withoutScope, port: address.port)
    }

    /// Returns a host candidate for each usable address, in order of preference.
    public static func hosts(_ addresses: [IPAddress], port: UInt16) -> [ICECandidate] {
        addresses.enumerated().compactMap { index, address in
            ICECandidate(
                foundation: String(index + 1), priority: priority(.host, rank: index),
                address: SocketAddress(address, port: port))
        }
    }

    /// Returns a candidate's priority (RFC 8445 §5.1.2.1).
    /// - Parameter rank: the rank of the address among its owner's, from 0, the most preferred one.
    package static func priority(_ kind: Kind, rank: Int) -> UInt32 {
        let local = UInt32(65_535 - Swift.min(Swift.max(rank, 0), 65_535))
        return kind.preference << 24 | local << 8 | (256 - component)
    }
}

extension SocketAddress {
    /// Returns true if this is the address of one machine, to which datagrams can be sent.
    var isUnicast: Bool {
        guard port != 0, !address.isUnspecified else { return false }
        switch address {
        case .v4(let bits): return bits >> 28 < 0xE  // not multicast, reserved or broadcast
        case .v6(let bits, _): return bits >> 120 != 0xFF
        }
    }
}

extension IPAddress {
    /// Returns this address of the peer with the scope that is needed to reach it from `local`. Nil if it cannot be reached: the
    /// families differ, or only one of the two addresses is loopback or IPv6 link-local (RFC 8445 §6.1.2.2).
    func reached(from local: IPAddress) -> IPAddress? {
        guard isV6 == local.isV6, isLoopback == local.isLoopback, isLinkLocalV6 == local.isLinkLocalV6 else {
            return nil
        }
        guard isLinkLocalV6, case .v6(let bits, _) = self, case .v6(_, let scope) = local else { return withoutScope }
        return .v6(bits, scope: scope)
    }
}
