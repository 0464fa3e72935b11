// SPDX-License-Identifier: Apache-2.0

import EarshotNearby

/// The sentences about firewalls. They name the port, the protocol and the command that opens the port.
enum FirewallWords {
    /// Returns the sentence to print when a host starts; nil if no firewall was found, or if the firewall lets guests in.
    static func atStart(_ firewall: Firewall?, port: UInt16) -> String? {
        guard let firewall else { return nil }
        let closed = Firewall.TransportProtocol.allCases.filter { firewall.isOpen(port, $0) == false }
        if !closed.isEmpty {
            return
                "\(firewall) blocks guests: port \(port) is closed for \(names(closed)). Open it: "
                + firewall.command(opening: port, closed)
        }
        let unknown = Firewall.TransportProtocol.allCases.filter { firewall.isOpen(port, $0) == nil }
        guard !unknown.isEmpty else { return nil }
        return
            "\(firewall) may block guests on port \(port) (\(names(unknown))). Open it: "
            + firewall.command(opening: port, unknown)
    }

    /// Returns the sentence for a participant whose room connection works, but whose sound does not arrive.
    /// - Parameters:
    ///   - port: the local port.
    ///   - farPort: the remote port; 0 if unknown.
    static func noMedia(from name: String, _ firewall: Firewall?, port: UInt16, farPort: UInt16) -> String {
        let ports = farPort == 0 || farPort == port ? "port \(port)" : "port \(port) here or \(farPort) there"
        let begin = "No sound arrives from \(name): the room is connected, but UDP does not get through to \(ports). "
        if let firewall, firewall.isOpen(port, .udp) != true {
            return begin + "\(firewall) may block it. Open the port: \(firewall.command(opening: port, [.udp]))"
        }
        let here =
            firewall == nil
            ? "No firewall is seen here" : "The firewall here (\(firewall?.description ?? "")) lets it in"
        return
            begin
            + "\(here): most likely the Wi-Fi isolates its devices (\"client isolation\", common on guest networks), or a firewall "
            + "runs on \(name)'s machine, where Earshot names the command. Try a cable or another network."
    }

    private static func names(_ transports: [Firewall.TransportProtocol]) -> String {
        transports.map { $0.rawValue.uppercased() }.joined(separator: " and ")
    }
}
