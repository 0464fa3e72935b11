// SPDX-License-Identifier: Apache-2.0

/// A UDP address where its owner may be reached (RFC 8445 §5.1).
public struct ICECandidate: Hashable, Sendable {
    /// The origin of a candidate.
    public enum Kind: Hashable, Sendable, CaseIterable {
        /// An address of its own machine.
        case host
        /// One that a check revealed.
        case peerReflexive

        /// RFC 8445 §5.1.2.2.
        var preference: UInt32 {
            switch self {
            case .host: 126
            case .peerReflexive: 110
            }
        }
    }

    /// Only RTP's, on which RTCP travels too (RFC 5761).
    static let component: UInt32 = 1

    /// Candidates of one kind and interface have the same; 1 to 32 characters.
    package let foundation: String
    /// The higher, the rather it is used; 1 to 2^31 − 1.
    package let priority: UInt32
    /// The address; without a scope, which is the sender's affair.
    public let address: SocketAddress

    /// A candidate. Nil when the foundation or the priority is out of its range, the port 0, or the address no one
    /// machine's.
    package init?(foundation: String, priority: UInt32, address: SocketAddress) {
        guard (1...32).contains(foundation.utf8.count), ICECredentials.isValid(foundation),
            (1..<1 << 31).contains(priority), address.isOneMachines
        else { return nil }
        self.foundation = foundation
        self.priority = priority
        self.address = SocketAddress(address.address.withoutScope, port: address.port)
    }

    /// One host candidate an address, the first preferred most; what cannot be one is left out.
    public static func hosts(_ addresses: [IPAddress], port: UInt16) -> [ICECandidate] {
        addresses.enumerated().compactMap { index, address in
            ICECandidate(
                foundation: String(index + 1), priority: priority(.host, rank: index),
                address: SocketAddress(address, port: port))
        }
    }

    /// RFC 8445 §5.1.2.1.
    /// - Parameter rank: of the address among its owner's, from 0, the most preferred one's.
    package static func priority(_ kind: Kind, rank: Int) -> UInt32 {
        let local = UInt32(65_535 - Swift.min(Swift.max(rank, 0), 65_535))
        return kind.preference << 24 | local << 8 | (256 - component)
    }
}

extension SocketAddress {
    /// Returns true if a datagram can be sent there, and to one machine.
    var isOneMachines: Bool {
        guard port != 0, !address.isUnspecified else { return false }
        switch address {
        case .v4(let bits): return bits >> 28 < 0xE  // neither a group's, nor reserved, nor everyone's
        case .v6(let bits, _): return bits >> 120 != 0xFF
        }
    }
}

extension IPAddress {
    /// This, an address of the peer's, as it is reached from `local`; nil when it is not: of the other family, or one that
    /// only the machine, or only the link, itself can mean (RFC 8445 §6.1.2.2).
    func reached(from local: IPAddress) -> IPAddress? {
        guard isV6 == local.isV6, isLoopback == local.isLoopback, isLinkLocalV6 == local.isLinkLocalV6 else {
            return nil
        }
        guard isLinkLocalV6, case .v6(let bits, _) = self, case .v6(_, let scope) = local else { return withoutScope }
        return .v6(bits, scope: scope)
    }
}
