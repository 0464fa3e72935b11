// SPDX-License-Identifier: Apache-2.0

import Foundation

extension Firewall {
    /// The files and programs that are read. Tests replace them to imitate other machines.
    struct Places {
        /// The folder that replaces the root folder; empty for the real one.
        var root = ""
        /// The path of `nft`, which lists the kernel's rules for administrators; nil if it is not installed.
        // Unsafe in this file: a path is a C string for the call.
        var nft: String? = Self.programs.first { unsafe access($0, X_OK) == 0 }
        /// True if this process may read the kernel's rules.
        var isAdministrator = geteuid() == 0

        private static let programs = ["/usr/sbin/nft", "/sbin/nft", "/usr/bin/nft"]
    }

    /// Returns the firewall of this machine; nil if none is found. Reads files, and as administrator runs `nft` for at most a
    /// second.
    package static func detectLocal() -> Firewall? { detect(Places()) }

    static func detect(_ places: Places) -> Firewall? {
        let listed = places.isAdministrator ? places.nft.flatMap { listing(of: $0) } : nil
        let rules = listed.map { PacketRules($0) }
        if let ufw = ufw(places) { return ufw }
        if isRunning("firewalld", places) {
            let firewalldChains = rules?.chains.filter { $0.place.table == "firewalld" }
            return Firewall(.firewalld, openings: firewalldChains.map(PacketRules.openings))
        }
        guard let rules = rules ?? configured(places) else { return nil }
        let closed = rules.chains.filter(\.isClosed)
        guard !closed.isEmpty else { return nil }
        return Firewall(.nftables(closed.map(\.place)), openings: PacketRules.commonOpenings(closed))
    }

    private static func text(_ path: String, _ places: Places) -> String? {
        guard let bytes = FileManager.default.contents(atPath: places.root + path), bytes.count < 4 << 20 else {
            return nil
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the value of a shell variable by its last assignment in `text`; nil if there is none.
    private static func value(of name: String, in text: String) -> String? {
        let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        return lines.last { $0.hasPrefix("\(name)=") }.map {
            $0.dropFirst(name.count + 1).trimmingCharacters(in: CharacterSet(charactersIn: "\"' \t"))
        }
    }

    private static func ufw(_ places: Places) -> Firewall? {
        guard let text = text("/etc/ufw/ufw.conf", places), value(of: "ENABLED", in: text)?.lowercased() == "yes" else {
            return nil
        }
        let defaults = self.text("/etc/default/ufw", places) ?? ""
        guard value(of: "DEFAULT_INPUT_POLICY", in: defaults)?.uppercased() != "ACCEPT" else { return nil }
        return Firewall(.ufw, openings: self.text("/etc/ufw/user.rules", places).map(ufwOpenings))
    }

    /// Returns the ports that ufw's rules open. ufw stores each rule in a comment: action, protocol, ports, destination, the
    /// sender's ports, source and direction, as in `### tuple ### allow udp 47400 0.0.0.0/0 any 0.0.0.0/0 in`.
    private static func ufwOpenings(_ text: String) -> [TransportProtocol: PortSet] {
        var openings: [TransportProtocol: PortSet] = [:]
        for line in text.split(separator: "\n") where line.hasPrefix("### tuple ###") {
            let tokens = line.split(separator: " ").dropFirst(3).map(String.init)
            guard tokens.count >= 7, tokens[0] == "allow", tokens[6].hasPrefix("in") else { continue }
            let ports = tokens[2] == "any" ? PortSet.all : PortSet(tokens[2])
            for transport in TransportProtocol.allCases where tokens[1] == "any" || tokens[1] == transport.rawValue {
                openings[transport, default: PortSet()].formUnion(ports)
            }
        }
        return openings
    }

    /// Returns true if a process of that name runs; needs no privilege.
    private static func isRunning(_ name: String, _ places: Places) -> Bool {
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: places.root + "/proc")) ?? []
        return folders.contains { folder in
            folder.allSatisfy(\.isNumber) && text("/proc/\(folder)/comm", places) == "\(name)\n"
        }
    }

    /// Returns the rules that the system loads at boot; nil if it loads none. They stand for the kernel's present rules, which
    /// only an administrator may read.
    private static func configured(_ places: Places) -> PacketRules? {
        let wants = ["sysinit", "multi-user"].map { "/etc/systemd/system/\($0).target.wants/nftables.service" }
        var status = stat()
        guard wants.contains(where: { unsafe lstat(places.root + $0, &status) == 0 }) else { return nil }
        return text("/etc/nftables.conf", places).map { PacketRules($0) }
    }

    private static func listing(of nft: String) -> String? {
        let program = Subprocess([nft, "list", "ruleset"])
        return program.output(within: 1)
    }
}
