// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import EarshotNearby

@Suite struct FirewallTests {
    /// A machine's files in a folder.
    private final class Machine {
        let root = "\(NSTemporaryDirectory())earshot-firewall-\(getpid())-\(UInt32.random(in: 0 ... .max))"

        init(_ files: [String: String]) throws {
            for (path, text) in files {
                let url = URL(filePath: root + path)
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(text.utf8).write(to: url)
            }
        }

        deinit { try? FileManager.default.removeItem(atPath: root) }

        func firewall() -> Firewall? { Firewall.detect(.init(root: root, nft: nil, isAdministrator: false)) }
    }

    private static let wanted = "/etc/systemd/system/sysinit.target.wants/nftables.service"

    @Test func `no firewall is detected if none is installed, enabled or filtering`() throws {
        #expect(try Machine(["/etc/hostname": "studio\n"]).firewall() == nil)
        #expect(try Machine(["/etc/ufw/ufw.conf": "ENABLED=no\n"]).firewall() == nil)
        let open = ["/etc/ufw/ufw.conf": "ENABLED=yes\n", "/etc/default/ufw": "DEFAULT_INPUT_POLICY=\"ACCEPT\"\n"]
        #expect(try Machine(open).firewall() == nil)
    }

    @Test func `ufw is detected, and its open ports are known if its rules are readable`() throws {
        let files = [
            "/etc/ufw/ufw.conf": "# comment\nENABLED=yes\nLOGLEVEL=low\n",
            "/etc/default/ufw": "DEFAULT_INPUT_POLICY=\"DROP\"\n",
        ]
        let hidden = try #require(try Machine(files).firewall())
        #expect(hidden.kind == .ufw && hidden.isOpen(47_400, .udp) == nil)
        let rules = """
            *filter
            ### RULES ###

            ### tuple ### allow tcp 22 0.0.0.0/0 any 0.0.0.0/0 in
            -A ufw-user-input -p tcp --dport 22 -j ACCEPT

            ### tuple ### allow udp 47000:47500 0.0.0.0/0 any 0.0.0.0/0 in
            ### tuple ### deny tcp 47400 0.0.0.0/0 any 0.0.0.0/0 in
            ### tuple ### allow any 5000,5002 0.0.0.0/0 any 0.0.0.0/0 in
            """
        let shown = try #require(try Machine(files.merging(["/etc/ufw/user.rules": rules]) { $1 }).firewall())
        #expect(shown.isOpen(47_400, .udp) == true && shown.isOpen(47_400, .tcp) == false)
        #expect(shown.isOpen(5_002, .tcp) == true && shown.isOpen(5_001, .udp) == false)
    }

    @Test func `firewalld is detected by its running process`() throws {
        let machine = try Machine([
            "/proc/812/comm": "firewalld\n", "/proc/1/comm": "systemd\n", "/proc/self/comm": "x\n",
        ])
        let firewall = try #require(machine.firewall())
        #expect(firewall.kind == .firewalld && firewall.isOpen(47_400, .udp) == nil)
    }

    @Test(arguments: [
        "type filter hook input priority 0; policy drop;\n tcp dport ssh accept",
        "type filter hook input priority filter; policy accept\n ct state established accept\n counter packets 5 bytes 300 drop",
        "type filter hook input priority 0\n tcp dport { 22,\n 80 } accept; reject with icmpx type admin-prohibited",
    ]) func `custom nftables rules that block everything else are detected as a firewall`(chain: String) throws {
        let text =
            "#!/usr/sbin/nft -f\nflush ruleset\ntable inet my_filter {\n set x { type ipv4_addr; elements = { 10.0.0.1,\n 10.0.0.2 } }\n chain incoming {\n \(chain)\n }\n chain forward { type filter hook forward priority 0; policy drop; }\n}\n"
        let firewall = try #require(try Machine(["/etc/nftables.conf": text, Self.wanted: ""]).firewall())
        #expect(firewall.isOpen(47_400, .udp) == false && firewall.isOpen(47_400, .tcp) == false)
        #expect(firewall.kind == .nftables([.init(family: "inet", table: "my_filter", name: "incoming")]))
        // The file alone is not enough: it is loaded only if the system is told to.
        #expect(try Machine(["/etc/nftables.conf": text]).firewall() == nil)
    }

    @Test(arguments: [
        ("udp dport 47400 accept", true), ("udp dport { 5353, 47000-48000 } accept", true),
        ("meta l4proto { tcp, udp } th dport 47400 accept", true), ("ip saddr 10.0.0.0/8 udp dport 47400 accept", true),
        ("tcp dport 47400 accept", false), ("udp dport 47401 accept", false), ("udp dport 47400 drop", false),
        ("accept", true), ("counter accept", true), ("udp dport", false),
    ]) func `a rule that accepts the port opens it`(rule: String, isOpen: Bool) throws {
        let text = "table ip filter { chain INPUT { type filter hook input priority 0; policy drop; \(rule); } }"
        let firewall = try #require(try Machine(["/etc/nftables.conf": text, Self.wanted: ""]).firewall())
        #expect(firewall.isOpen(47_400, .udp) == isOpen)
    }

    @Test(arguments: [
        "", "{", "}}}}", "table", "table inet x {", "table inet x { chain", "table inet x { chain y { policy drop",
        "table inet x { chain y { type filter hook; } }", "chain y { type filter hook input priority 0; policy drop; }",
        "table inet x { chain y { type filter hook input priority 0; policy accept; udp dport { 1, 2 } drop } }",
        "table arp x { chain y { type filter hook input priority 0; policy drop; } }", "\u{0}{;{;}\u{FFFD}",
    ]) func `an nftables file without a valid rule that blocks packets is not a firewall`(text: String) throws {
        #expect(try Machine(["/etc/nftables.conf": text, Self.wanted: ""]).firewall() == nil)
    }

    @Test(.enabled(if: NetworkHost.whyNot == nil))
    func `the kernel's nftables rules are detected, and so is a port that they open`()
        throws
    {
        let host = try NetworkHost("alpha")
        try withExtendedLifetime(host) {
            #expect(try host.inside { Firewall.detectLocal() } == nil)
            let rules =
                "table inet filter { chain input { type filter hook input priority 0; policy drop; iif lo accept; }; }"
            try rules.write(toFile: host.path("/run/rules.nft"), atomically: false, encoding: .utf8)
            try host.run("nft -f /run/rules.nft")
            let firewall = try #require(try host.inside { Firewall.detectLocal() })
            #expect(firewall.isOpen(47_400, .udp) == false)
            #expect(firewall.kind == .nftables([.init(family: "inet", table: "filter", name: "input")]))
            // The program's Firewall.command(opening:_:) gives the same.
            try host.run("nft insert rule inet filter input udp dport 47400 accept")
            let opened = try #require(try host.inside { Firewall.detectLocal() })
            #expect(opened.isOpen(47_400, .udp) == true && opened.isOpen(47_400, .tcp) == false)
        }
    }

    @Test func `a subprocess that hangs is killed`() throws {
        // If it is not killed, it creates a file at its end, for which `output` waits.
        let file = FileManager.default.temporaryDirectory.appending(path: "earshot-ended-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        let script = "sleep 20; open F, '>', '\(file)'"
        #expect(Subprocess(["/usr/bin/perl", "-e", script]).output(within: 0.1) == nil)
        #expect(!FileManager.default.fileExists(atPath: file))
        #expect(Subprocess(["/nonexistent/nft"]).output(within: 0.1) == nil)
        #expect(Subprocess(["/bin/sh", "-c", "echo rules"]).output(within: 5) == "rules\n")
        #expect(Subprocess(["/bin/false"]).output(within: 5) == nil)
    }
}
