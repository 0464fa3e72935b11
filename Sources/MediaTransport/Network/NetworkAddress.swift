// SPDX-License-Identifier: Apache-2.0

/// An address of this machine at which peers may reach it.
public struct NetworkAddress: Hashable, Sendable, CustomStringConvertible {
    /// With the interface as its scope if it is an IPv6 link-local one.
    public var address: IPAddress
    /// Bits that all machines on the link have in common; 0 to 128.
    public var prefixLength: Int
    /// The interface that has it.
    public var interface: NetworkInterface
    /// True if the address is random for privacy and soon replaced (RFC 8981).
    public var isTemporary: Bool
    /// True if it goes on for what uses it already, but nothing new should (RFC 4862).
    public var isDeprecated: Bool

    /// The address as `ip address` writes it: `192.168.1.5/24 on eth0`.
    public var description: String { "\(address)/\(prefixLength) on \(interface.name)" }
}

/// A network interface.
public struct NetworkInterface: Hashable, Sendable {
    /// The medium of an interface.
    public enum Kind: Int, Hashable, Sendable, Comparable {
        /// Ethernet, or something virtual that behaves like it.
        case wired
        case wireless
        /// A VPN, or a modem.
        case pointToPoint
        /// Within this machine.
        case loopback

        /// In the order in which to prefer them.
        public static func < (a: Kind, b: Kind) -> Bool { a.rawValue < b.rawValue }
    }

    /// The kernel's number, which is a link-local address's scope.
    public var index: UInt32
    /// `eth0`, `wlp2s0`…
    public var name: String
    /// Wired, wireless…
    public var kind: Kind
}

/// The kernel's links and addresses, gathered from its answers.
struct NetworkTable {
    private var links: [UInt32: NetworkLink] = [:]
    private var addresses: Set<LinkAddress> = []

    /// Takes what an answer says in.
    mutating func applyMessage(_ message: NetlinkMessage) {
        switch message {
        case .link(let link): links[link.index] = link
        case .address(let address): addresses.insert(address)
        case .linkGone, .addressGone, .done, .error, .other: break  // news; what is there is asked for as a whole
        }
    }

    /// Those at which this machine can be reached now, the most useful first: wired before wireless before VPNs, what holds
    /// on one link only last.
    /// - Parameters:
    ///   - includingLoopback: whether loopback's are wanted although there are others. Where there are none they are told.
    ///   - isWireless: asked of an interface's name.
    func reachable(includingLoopback: Bool, isWireless: (String) -> Bool) -> [NetworkAddress] {
        let all = addresses.compactMap { address -> NetworkAddress? in
            guard let link = links[address.index], link.isRunning, !address.isTentative else { return nil }
            let kind = kind(of: link, isWireless)
            return NetworkAddress(
                address: address.address, prefixLength: Int(address.prefixLength),
                interface: NetworkInterface(index: link.index, name: link.name, kind: kind),
                isTemporary: address.isTemporary, isDeprecated: address.isDeprecated)
        }
        let outward = all.filter { $0.interface.kind != .loopback }
        return (includingLoopback || outward.isEmpty ? all : outward).sorted { $0.precedes($1) }
    }

    private func kind(of link: NetworkLink, _ isWireless: (String) -> Bool) -> NetworkInterface.Kind {
        if link.isLoopback { return .loopback }
        // WireGuard's and others' say that they have no hardware (ARPHRD_NONE), and not that they are point-to-point.
        if link.isPointToPoint || link.hardware == 0xFFFE || link.driver == "wireguard" { return .pointToPoint }
        return isWireless(link.name) ? .wireless : .wired
    }
}

extension NetworkAddress {
    fileprivate func precedes(_ other: NetworkAddress) -> Bool {
        func rank(_ a: NetworkAddress) -> (Int, Int, Int, UInt32) {
            let isLast = a.isDeprecated || a.interface.kind == .loopback
            return (isLast ? 1 : 0, a.address.isLinkLocal ? 1 : 0, a.interface.kind.rawValue, a.interface.index)
        }
        let (mine, others) = (rank(self), rank(other))
        if mine != others { return mine < others }
        switch (address, other.address) {
        case (.v4(let a), .v4(let b)): return a < b
        case (.v6(let a, _), .v6(let b, _)): return a < b
        case (.v4, .v6): return true
        case (.v6, .v4): return false
        }
    }
}
