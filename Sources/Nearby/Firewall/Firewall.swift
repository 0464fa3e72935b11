// SPDX-License-Identifier: Apache-2.0

/// The packet filter of this machine, as far as it can be read.
package struct Firewall: Hashable, Sendable {
    /// The transport protocol of packets.
    package enum TransportProtocol: String, Hashable, Sendable, CaseIterable {
        /// TCP, for signalling.
        case tcp
        /// UDP, for media.
        case udp
    }

    /// The program that maintains the rules.
    package enum Kind: Hashable, Sendable {
        /// Ubuntu's ufw.
        case ufw
        /// firewalld of Fedora and others.
        case firewalld
        /// The administrator's own rules: the chains that reject everything except named ports.
        case nftables([Chain])
    }

    /// A chain that packets to this machine pass.
    package struct Chain: Hashable, Sendable {
        /// `inet`, `ip` or `ip6`.
        package var family: String
        /// The table's name.
        package var table: String
        /// The chain's name.
        package var name: String
    }

    /// The program that maintains this machine's rules.
    package let kind: Kind
    /// The open ports of each protocol; nil if they are not known.
    let openings: [TransportProtocol: PortSet]?

    init(_ kind: Kind, openings: [TransportProtocol: PortSet]?) {
        self.kind = kind
        self.openings = openings
    }

    /// Returns true if packets to a port pass; nil if not known, for example because only an administrator may read the rules.
    package func isOpen(_ port: UInt16, _ transport: TransportProtocol) -> Bool? {
        openings.map { $0[transport]?.contains(port) ?? false }
    }
}

extension Firewall: CustomStringConvertible {
    /// The name: `ufw`, `firewalld` or `nftables`.
    package var description: String {
        switch kind {
        case .ufw: "ufw"
        case .firewalld: "firewalld"
        case .nftables: "nftables"
        }
    }
}

extension Firewall.TransportProtocol: CustomStringConvertible {
    /// The name: `tcp` or `udp`.
    package var description: String { rawValue }
}

/// A set of ports and ranges of ports.
struct PortSet: Hashable, Sendable {
    private var ranges: [ClosedRange<UInt16>] = []

    static let all = PortSet(ranges: [0...UInt16.max])

    init() {}

    private init(ranges: [ClosedRange<UInt16>]) { self.ranges = ranges }

    func contains(_ port: UInt16) -> Bool { ranges.contains { $0.contains(port) } }

    mutating func formUnion(_ other: PortSet) { ranges += other.ranges }

    /// Reads port numbers and ranges separated by commas or spaces, such as `22`, `8000-8100` or, in ufw, `8000:8100`. Skips
    /// invalid ones.
    init(_ list: some StringProtocol) {
        for item in list.split(whereSeparator: { $0 == "," || $0 == " " }) {
            let ends = item.split(whereSeparator: { $0 == "-" || $0 == ":" }).map { UInt16($0) }
            guard let first = ends.first.flatMap(\.self), let last = ends.last.flatMap(\.self), first <= last else {
                continue
            }
            ranges.append(first...last)
        }
    }
}
