// SPDX-License-Identifier: Apache-2.0

/// An address of this machine at which peers may reach it.
public struct NetworkAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address, with the interface as its scope if it is IPv6 link-local.
    public var address: IPAddress
    /// The length of the network's prefix in bits; 0 to 128.
    public var prefixLength: Int
    /// The interface that has the address.
    public var interface: NetworkInterface
    /// True if the address is temporary, for privacy (RFC 8981).
    public var isTemporary: Bool
    /// True if existing connections may continue but new ones should not use it (RFC 4862).
    public var isDeprecated: Bool

    /// The address, its prefix length and its interface: `192.168.1.5/24 on eth0`.
    public var description: String { "\(address)/\(prefixLength) on \(interface.name)" }
}

/// A network interface.
public struct NetworkInterface: Hashable, Sendable {
    /// The medium of an interface.
    public enum Kind: Int, Hashable, Sendable, Comparable {
        /// Ethernet, or a virtual interface that behaves like it.
        case wired
        case wireless
        /// A VPN, or a modem.
        case pointToPoint
        /// The loopback interface, which exists only within this machine.
        case loopback

        /// Returns true if `a` is preferred to `b`.
        public static func < (a: Kind, b: Kind) -> Bool { a.rawValue < b.rawValue }
    }

    /// The kernel's number, which is the scope of link-local addresses.
    public var index: UInt32
    /// The interface's name: `eth0`, `wlp2s0`…
    public var name: String
    /// The interface's medium: wired, wireless…
    public var kind: Kind
}

/// The links and addresses of this machine, collected from the kernel's answers.
struct NetworkTable {
    private var links: [UInt32: NetworkLink] = [:]
    private var addresses: Set<LinkAddress> = []

    /// Applies a message to the table.
    mutating func applyMessage(_ message: NetlinkMessage) {
        switch message {
        case .link(let link): links[link.index] = link
        case .address(let address): addresses.insert(address)
        case .linkGone, .addressGone, .done, .error, .other: break  // no part of a list; lists are read as a whole
        }
    }

    /// Returns the addresses at which this machine can be reached, the most useful first: wired before wireless before VPNs, then
    /// link-local ones, and deprecated ones and loopback last.
    /// - Parameters:
    ///   - includingLoopback: true to include loopback although there are others. If there are no others it is always included.
    ///   - isWireless: returns true for the name of a wireless interface.
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
        // WireGuard and others declare no hardware (ARPHRD_NONE), instead of point-to-point.
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
