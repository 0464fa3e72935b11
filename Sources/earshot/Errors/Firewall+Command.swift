// SPDX-License-Identifier: Apache-2.0

import EarshotNearby

extension Firewall {
    /// Returns the administrator's command that opens a port, at least until a restart of the machine.
    func command(opening port: UInt16, _ transports: [TransportProtocol]) -> String {
        switch kind {
        case .ufw:
            let isAll = Set(transports) == Set(TransportProtocol.allCases)
            return isAll ? "sudo ufw allow \(port)" : commands(transports) { "sudo ufw allow \(port)/\($0)" }
        case .firewalld:
            return "sudo firewall-cmd " + transports.map { "--add-port=\(port)/\($0)" }.joined(separator: " ")
        case .nftables(let chains):
            // `insert` puts the rule at the front of its chain, since a rule after one that drops everything has no effect.
            return chains.map { chain in
                commands(transports) {
                    "sudo nft insert rule \(chain.family) \(chain.table) \(chain.name) \($0) dport \(port) accept"
                }
            }.joined(separator: " && ")
        }
    }

    private func commands(_ transports: [TransportProtocol], _ body: (TransportProtocol) -> String) -> String {
        transports.map(body).joined(separator: " && ")
    }
}
