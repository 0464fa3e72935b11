// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTraits
import Testing

/// Rooms between machines: each is a network namespace, some with their own Avahi daemon.
@Suite(.serialized, .realTime, .needs("avahi-daemon"), .enabled(if: NetworkHost.whyNot == nil)) struct RoomNetworkTests
{
    private static let card = ["--device", "simulated"]

    private func start(
        _ arguments: [String], on host: NetworkHost, terminal: PseudoTerminal? = nil
    ) throws -> ChildProcess {
        try host.start(
            [Earshot.program] + arguments,
            environment: [
                "XDG_DATA_HOME": TestFolders.next("machine"), "XDG_RUNTIME_DIR": nil, "JACK_DEFAULT_SERVER": nil,
                "LC_ALL": "C.UTF-8",
            ], terminal: terminal)
    }

    /// Returns the join code that a host has shown.
    private func code(_ host: ChildProcess) throws -> String {
        let lines = host.errors.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        let codes = lines.compactMap { line -> String? in
            let word = line.split(separator: " ").last.map(String.init) ?? ""
            return line.hasPrefix("Join code") && word.filter({ $0 == "-" }).count >= 3 ? word : nil
        }
        return try #require(codes.first, "\(host.errors)")
    }

    @Test func `a room is found by its name, in the list and by a number`() throws {
        let network = try TestNetwork("alpha", "beta")
        try withExtendedLifetime(network) {
            let servers = try AvahiServer.starting(on: network.hosts)
            try withExtendedLifetime(servers) {
                let host = try start(["host", "Blue Room", "--accept", "all"] + Self.card, on: network.hosts[0])
                #expect(host.says("people nearby find the room as 'Blue Room'"), "\(host.errors)")
                let list = try start(["join", "--list", "--json"], on: network.hosts[1])
                #expect(list.wait() == .exit(0), "\(list.errors)")
                let rooms = try theReport(list)["rooms"] as? [[String: Any]] ?? []
                #expect(rooms.map { $0["name"] as? String } == ["Blue Room"] && rooms[0]["pin"] as? Bool == false)
                #expect((rooms[0]["addresses"] as? [String] ?? []).contains("10.77.0.1:47400"), "\(rooms)")

                let named = try start(
                    ["join", "blue room", "--name", "Bob", "--duration", "0.5"] + Self.card, on: network.hosts[1])
                #expect(named.wait() == .exit(0), "\(named.errors)")
                #expect(named.errors.contains("In a call with"))

                let terminal = try PseudoTerminal()
                let picking = try start(
                    ["join", "--name", "Cleo", "--duration", "0.5"] + Self.card, on: network.hosts[1],
                    terminal: terminal)
                #expect(picking.says("1  Blue Room, host alpha.local"), "\(picking.errors)")
                terminal.type("1")
                #expect(picking.says("In a call with"), "\(picking.errors)")
                #expect(picking.wait() == .exit(0), "\(picking.errors)")

                let wrong = try start(["join", "Blue Rom", "--timeout", "2"] + Self.card, on: network.hosts[1])
                #expect(wrong.wait() == .exit(68), "\(wrong.errors)")
                #expect(theFailure(wrong).contains("Did you mean 'Blue Room'"))
                let second = try PseudoTerminal()
                let watching = try start(["join"] + Self.card, on: network.hosts[1], terminal: second)
                #expect(watching.says("1  Blue Room"))
                let duet = try start(
                    ["duet", "host", "--beat", "96", "--room", "Choir", "--accept", "all"] + Self.card,
                    on: network.hosts[1])
                #expect(watching.says(", sings Beat 96, second part free, host beta.local"), "\(watching.errors)")
                let singer = try start(["join", "Choir"] + Self.card, on: network.hosts[0])
                #expect(singer.says("'Choir' sings Beat 96: joining as a duet."), "\(singer.errors)")
                #expect(singer.says("Your voices will be recorded."), "\(singer.errors)")
                for program in [singer, duet] { program.signal(SIGTERM) }
                host.signal(SIGINT)
                #expect(watching.says("1  Blue Room: closed"), "\(watching.errors)")
                second.type("q")
                #expect(watching.wait() == .exit(130), "\(watching.errors)")
            }
        }
    }

    @Test func `without Avahi the address and the code still work, and the missing service is reported`() throws {
        let network = try TestNetwork("alpha", "beta")
        try withExtendedLifetime(network) {
            let host = try start(["host", "Blue Room", "--accept", "all"] + Self.card, on: network.hosts[0])
            #expect(host.says("Waiting for guests"), "\(host.errors)")
            #expect(host.says("room discovery is off"), "\(host.errors)")
            #expect(host.errors.contains("earshot join 10.77.0.1\n"), "\(host.errors)")
            let code = try code(host)
            for target in [code, code.lowercased().replacing("-", with: ""), "10.77.0.1", "10.77.0.1:47400"] {
                let guest = try start(
                    ["join", target, "--name", target, "--duration", "0.3"] + Self.card, on: network.hosts[1])
                #expect(guest.wait() == .exit(0), "\(target): \(guest.errors)")
            }
            let named = try start(["join", "Blue Room"] + Self.card, on: network.hosts[1])
            #expect(named.wait() == .exit(69) && theFailure(named).contains("discovery is off"), "\(named.errors)")
            host.signal(SIGINT)
            // The address has another key, for which the code is not valid.
            #expect(eventually { host.processID == nil })
            let impostor = try start(["host", "--accept", "all"] + Self.card, on: network.hosts[0])
            #expect(impostor.says("Waiting for guests"), "\(impostor.errors)")
            let careful = try start(["join", code] + Self.card, on: network.hosts[1])
            #expect(careful.wait() == .exit(77), "\(careful.errors)")
            #expect(theFailure(careful).contains("which is not the one expected"), "\(careful.errors)")
        }
    }

    @Test func `when UDP is blocked both sides name the port, the protocol and the command`() throws {
        let network = try TestNetwork("alpha", "beta")
        try withExtendedLifetime(network) {
            let rules = """
                table inet filter { chain input { type filter hook input priority 0; policy drop; iif lo accept
                meta l4proto { icmp, ipv6-icmp } accept; tcp dport 47400 accept; meta l4proto tcp ct state established accept; }; }
                """
            try rules.write(toFile: network.hosts[0].path("/run/rules.nft"), atomically: false, encoding: .utf8)
            try network.hosts[0].run("nft -f /run/rules.nft")
            let host = try start(["host", "Blue Room", "--accept", "all"] + Self.card, on: network.hosts[0])
            #expect(host.says("Waiting for guests"), "\(host.errors)")
            let command = "sudo nft insert rule inet filter input udp dport 47400 accept"
            #expect(host.says("closed for UDP. Open it: \(command)"), "\(host.errors)")
            let guest = try start(["join", "10.77.0.1", "--name", "Bob"] + Self.card, on: network.hosts[1])
            #expect(guest.says("No sound arrives from"), "\(guest.errors)")
            #expect(guest.says("UDP does not get through to port 47400"), "\(guest.errors)")
            #expect(guest.says("isolates its devices"), "\(guest.errors)")
            #expect(host.says("No sound arrives from Bob"), "\(host.errors)")
            #expect(host.says("Open the port: \(command)"), "\(host.errors)")
            try network.hosts[0].run(String(command.dropFirst("sudo ".count)))
            #expect(guest.says("In a call with", seconds: 20), "\(guest.errors)")
        }
    }
}
