// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTraits
import Testing

/// Calls between machines whose network changes or is unusual. Each machine is a network namespace.
///
/// Time is not slowed: the kernel repeats lost TCP segments in real time.
@Suite(.serialized, .realTime(time: .real), .enabled(if: NetworkHost.whyNot == nil)) struct RoomStayingTests {
    private func start(_ arguments: [String], on host: NetworkHost) throws -> ChildProcess {
        try host.start(
            [Earshot.program] + arguments + ["--device", "simulated", "--speak", Earshot.speech, "--json"],
            environment: [
                "XDG_DATA_HOME": TestFolders.next("machine"), "XDG_RUNTIME_DIR": nil, "JACK_DEFAULT_SERVER": nil,
                "LC_ALL": "C.UTF-8",
            ])
    }

    private func host(on host: NetworkHost) throws -> ChildProcess {
        let program = try start(
            ["host", "Blue Room", "--name", "Ann", "--accept", "all", "--no-announce"], on: host)
        try #require(program.says("Waiting for guests"), "\(program.errors)")
        return program
    }

    private func join(_ address: String, on host: NetworkHost, _ name: String = "Bob", seconds: Double) throws
        -> ChildProcess
    {
        try start(["join", address, "--name", name, "--duration", "\(seconds)"], on: host)
    }

    private func received(_ report: [String: Any], _ peer: Int = 0) throws -> [String: Any] {
        let peers = try #require(report["peers"] as? [[String: Any]])
        let found = try #require(peers.indices.contains(peer) ? peers[peer] : nil)
        return try #require(found["received"] as? [String: Any])
    }

    /// Returns the link-local address on the Ethernet.
    private func localAddress(of host: NetworkHost) throws -> String {
        let shown = try host.run("ip -6 -o address show dev eth0 scope link")
        let words = shown.split(separator: " ").map(String.init)
        return String(try #require(words.first { $0.hasPrefix("fe80") }?.split(separator: "/").first))
    }

    @Test func `a call works with IPv6 only and with link-local addresses only`() throws {
        let network = try TestNetwork("alpha", "beta")
        try withExtendedLifetime(network) {
            for (n, host) in network.hosts.enumerated() {
                try host.run("ip -4 address flush dev eth0")
                try host.run("ip -6 address add fd00:77::\(n + 1)/64 dev eth0 nodad")
            }
            let room = try host(on: network.hosts[0])
            let guest = try join("fd00:77::1", on: network.hosts[1], seconds: 0.5)
            #expect(guest.wait() == .exit(0), "\(guest.errors)")
            #expect(try received(theReport(guest))["packets"] as? Int ?? 0 > 20)

            for host in network.hosts { try host.run("ip -6 address flush dev eth0 scope global") }
            let local = try localAddress(of: network.hosts[0])
            let near = try join("[\(local)%eth0]", on: network.hosts[1], "Cleo", seconds: 0.5)
            #expect(near.wait() == .exit(0), "\(near.errors)")
            #expect(try received(theReport(near))["packets"] as? Int ?? 0 > 20)
            withExtendedLifetime(room) {}
        }
    }

    @Test func `a VPN that takes over the default route does not affect the call`() throws {
        let network = try TestNetwork("alpha", "beta")
        try withExtendedLifetime(network) {
            for (n, host) in network.hosts.enumerated() {
                try host.run("ip link add tun0 type veth peer name tun1")
                try host.run("ip link set tun1 up")
                try host.run("ip address add 10.99.0.\(n + 1)/32 dev tun0")
                try host.run("ip link set tun0 up")
                try host.run("ip route add default dev tun0")
            }
            let room = try host(on: network.hosts[0])
            #expect(room.errors.contains("earshot join 10.77.0.1\n"), "\(room.errors)")
            let guest = try join("10.77.0.1", on: network.hosts[1], seconds: 0.5)
            #expect(guest.wait() == .exit(0), "\(guest.errors)")
            // On the Ethernet, by the address that answered first.
            let address = try #require(try thePeer(theReport(guest))["address"] as? String)
            let local = try localAddress(of: network.hosts[0])
            #expect(address == "10.77.0.1:47400" || address.contains(local), "\(address)")
        }
    }

    @Test func `a call survives a switch to another network, and the participant keeps its place`() throws {
        let network = try TestNetwork("alpha", "beta")
        try withExtendedLifetime(network) {
            let (alpha, beta) = (network.hosts[0], network.hosts[1])
            try alpha.link("eth1", to: beta, "eth1")
            try alpha.run("ip address add 10.78.0.1/24 dev eth1")
            try beta.run("ip address add 10.78.0.2/24 dev eth1")
            let room = try host(on: alpha)
            let guest = try join("10.77.0.1", on: beta, seconds: 6)
            #expect(guest.says("In a call with Ann"), "\(guest.errors)")
            usleep(1_500_000)
            try beta.run("ip link set eth0 down")
            #expect(guest.wait(seconds: 20) == .exit(0), "\(guest.errors)")
            #expect(!room.errors.contains("did not return"), "\(room.errors)")
            let peer = try thePeer(theReport(guest))
            #expect((peer["transport"] as? [String: Any])?["moves"] as? Int ?? 0 >= 1, "\(peer)")
            #expect(peer["address"] as? String == "10.78.0.1:47400")
            // One packet every 10 ms: a second, plus the machine's own pauses.
            #expect(try received(theReport(guest))["lost"] as? Int ?? .max < 200, "\(peer)")
        }
    }

    @Test func `all participants keep their places after a seven-second network outage`() throws {
        let network = try TestNetwork("alpha", "beta")
        try withExtendedLifetime(network) {
            let room = try host(on: network.hosts[0])
            let guest = try join("10.77.0.1", on: network.hosts[1], seconds: 10)
            #expect(guest.says("In a call with Ann"), "\(guest.errors)")
            usleep(700_000)
            try network.setCable(of: 1, isConnected: false)
            #expect(room.says("Lost contact with Bob", seconds: 8), "\(room.errors)")
            usleep(1_000_000)
            try network.setCable(of: 1, isConnected: true)
            #expect(room.says("Bob is back", seconds: 8), "\(room.errors)")
            #expect(guest.wait(seconds: 20) == .exit(0), "\(guest.errors)")
            #expect(!room.errors.contains("did not return"))
            let report = try theReport(guest)
            #expect(try received(report)["packets"] as? Int ?? 0 > 100, "\(report)")
        }
    }

    @Test func `the next host takes over when the host is killed, without a gap between the others`() throws {
        let network = try TestNetwork("alpha", "beta", "gamma")
        try withExtendedLifetime(network) {
            let room = try host(on: network.hosts[0])
            let bob = try join("10.77.0.1", on: network.hosts[1], seconds: 8)
            #expect(bob.says("In a call with Ann"), "\(bob.errors)")
            let cleo = try join("10.77.0.1", on: network.hosts[2], "Cleo", seconds: 6)
            #expect(cleo.says("In a call with Ann") && cleo.says("In a call with Bob"), "\(cleo.errors)")
            room.signalGroup(SIGKILL)
            #expect(bob.says("You are the host now"), "\(bob.errors)")
            #expect(cleo.says("Bob is the host now"), "\(cleo.errors)")
            #expect(cleo.wait(seconds: 15) == .exit(0), "\(cleo.errors)")
            let report = try theReport(cleo)
            let peers = try #require(report["peers"] as? [[String: Any]])
            let way = try #require(peers.first { $0["name"] as? String == "Bob" })
            let counts = try #require(way["received"] as? [String: Any])
            #expect(counts["lost"] as? Int == 0 && counts["packets"] as? Int ?? 0 > 300, "\(way)")
            // The new host admits those that its own user would: without a terminal, no unknown guest.
            let late = try join("10.77.0.2", on: network.hosts[0], "Dan", seconds: 0.3)
            #expect(late.wait() == .exit(77), "\(late.errors)")
        }
    }
}
