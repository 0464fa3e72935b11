// SPDX-License-Identifier: Apache-2.0

/// The packet filter of this machine, as far as it can be read.
package struct Firewall: Hashable, Sendable {
    /// The protocol of packets to a port.
    package enum TransportProtocol: String, Hashable, Sendable, CaseIterable {
        /// Signalling.
        case tcp
        /// Media.
        case udp
    }

    /// The program that maintains the rules.
    package enum Kind: Hashable, Sendable {
        /// Ubuntu's "uncomplicated firewall".
        case ufw
        /// Fedora's, which other distributions have too.
        case firewalld
        /// Rules of the administrator's own: the chains that let nothing in but what they name.
        case nftables([Chain])
    }

    /// A chain that packets for this machine pass.
    package struct Chain: Hashable, Sendable {
        /// `inet`, `ip` or `ip6`.
        package var family: String
        /// The table's name.
        package var table: String
        /// The chain's name.
        package var name: String
    }

    /// Which it is.
    package let kind: Kind
    /// The open ports, if they may be read.
    let openings: [TransportProtocol: PortSet]?

    init(_ kind: Kind, openings: [TransportProtocol: PortSet]?) {
        self.kind = kind
        self.openings = openings
    }

    /// Returns true if it lets packets to a port through; nil if only the administrator may know.
    package func isOpen(_ port: UInt16, _ transport: TransportProtocol) -> Bool? {
        openings.map { $0[transport]?.contains(port) ?? false }
    }
}

extension Firewall: CustomStringConvertible {
    /// Its name: `ufw`, `firewalld` or `nftables`.
    package var description: String {
        switch kind {
        case .ufw: "ufw"
        case .firewalld: "firewalld"
        case .nftables: "nftables"
        }
    }
}

extension Firewall.TransportProtocol: CustomStringConvertible {
    /// `tcp` or `udp`.
    package var description: String { rawValue }
}

/// Ports that rules name.
struct PortSet: Hashable, Sendable {
    private var ranges: [ClosedRange<UInt16>] = []

    static let all = PortSet(ranges: [0...UInt16.max])

    init() {}

    private init(ranges: [ClosedRange<UInt16>]) { self.ranges = ranges }

    func contains(_ port: UInt16) -> Bool { ranges.contains { $0.contains(port) } }

    mutating func formUnion(_ other: PortSet) { ranges += other.ranges }

    /// Numbers and ranges with commas between, as `22`, `8000-8100` or, of ufw, `8000:8100`. What is none is left out.
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
