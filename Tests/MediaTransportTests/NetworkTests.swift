// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import Glibc
import TestSupport
import TestTraits
import Testing

@testable import EarshotMediaTransport

/// Tests the socket and the machine's addresses between hosts with their own networks.
@Suite(
    .serialized, .realTime(leastStandstill: 1),
    .enabled(if: NetworkHost.whyNot == nil, Comment(rawValue: NetworkHost.whyNot ?? "")))
struct NetworkTests {
    /// A socket that is created on one thread and used on others.
    private final class Peer: Sendable {
        let socket: MediaSocket
        init(port: UInt16 = 0) throws { socket = try MediaSocket(port: port) }
        var port: UInt16 { socket.localAddress.port }

        func next() throws -> (ReceivedDatagram, [UInt8])? {
            var found: (ReceivedDatagram, [UInt8])?
            _ = eventually {
                found = try? socket.take()
                return found != nil
            }
            return found
        }
    }

    @Test func `each local address is reachable, including a second one and a link-local one`() throws {
        let network = try TestNetwork("alpha", "beta")
        defer { withExtendedLifetime(network) {} }
        let (alpha, beta) = (network.hosts[0], network.hosts[1])
        try beta.run("ip address add 10.77.0.22/24 dev eth0")
        let a = try alpha.inside { try Peer() }
        let b = try beta.inside { try Peer(port: 47_400) }
        let addresses = try beta.inside { try NetworkAddress.current() }
        let own = try alpha.inside { try NetworkAddress.current() }
        let index = try #require(own.first?.interface.index)
        #expect(addresses.count == 3)
        for local in addresses.map(\.address) {
            // The remote peer's scope is a number on its machine; here it is the number of the interface that leads to it.
            let there = SocketAddress(local.scoped(to: index), port: b.port)
            try a.socket.send([1], to: there)
            let (asked, _) = try #require(try b.next())
            #expect(asked.local == local && asked.interface == addresses[0].interface.index)
            #expect(own.contains { $0.address.scoped(to: 0) == asked.source.address.scoped(to: 0) })
            try b.socket.send([2], to: asked.source, from: asked.local)
            let (answer, _) = try #require(try a.next())
            #expect(answer.source == there && answer.interface == index)
        }
    }

    @Test func `a requested interface is used regardless of the routes`() throws {
        let network = try TestNetwork("alpha", "beta")
        defer { withExtendedLifetime(network) {} }
        let (alpha, beta) = (network.hosts[0], network.hosts[1])
        try alpha.link("eth1", to: beta, "eth1")
        try beta.run("sysctl -q -w net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.eth1.rp_filter=0")
        let a = try alpha.inside { try Peer() }
        let b = try beta.inside { try Peer() }
        let indices = try alpha.inside { ["eth0", "eth1"].map { (name: String) in if_nametoindex(name) } }
        let far = try beta.inside { ["eth0", "eth1"].map { (name: String) in if_nametoindex(name) } }
        let there = SocketAddress(try #require(IPAddress(TestNetwork.address(1))), port: b.port)
        for (near, far) in zip(indices, far) {
            try a.socket.send([1], to: there, from: IPAddress(TestNetwork.address(0)), interface: near)
            #expect(try #require(try b.next()).0.interface == far)
        }
    }

    @Test func `the addresses match those that the ip command lists`() throws {
        let network = try TestNetwork("alpha")
        defer { withExtendedLifetime(network) {} }
        let alpha = network.hosts[0]
        try alpha.run("ip address add fd00:1:2::3/64 dev eth0")
        let found = try alpha.inside { try NetworkAddress.current(includingLoopback: true) }
        let told = try JSONDecoder().decode([Interface].self, from: Data(alpha.run("ip -j address").utf8))
        let expected = told.flatMap { interface in
            interface.addr_info.map { "\($0.local)/\($0.prefixlen) \(interface.ifname) \(interface.ifindex)" }
        }
        #expect(
            Set(found.map { "\($0.address.unscoped)/\($0.prefixLength) \($0.interface.name) \($0.interface.index)" })
                == Set(expected))
        #expect(found.count == expected.count && found.last?.interface.kind == .loopback)
        let outward = try alpha.inside { try NetworkAddress.current() }
        #expect(outward.map(\.address.unscoped) == ["10.77.0.1", "fd00:1:2::3", outward[2].address.unscoped])
        #expect(outward[2].address.isLinkLocal && outward.allSatisfy { $0.interface.kind == .wired })
        guard case .v6(_, scope: outward[0].interface.index) = outward[2].address else {
            Issue.record("the link-local address has no scope")
            return
        }
    }

    private struct Interface: Decodable {
        struct Address: Decodable {
            var local: String
            var prefixlen: Int
        }
        var ifindex: UInt32
        var ifname: String
        var addr_info: [Address]
    }

    @Test func `loopback addresses are listed if there are no others`() throws {
        let lonely = try NetworkHost("lonely")
        let found = try lonely.inside { try NetworkAddress.current() }
        #expect(found.map(\.address) == [.loopback, .loopbackV6])
    }

    @Test func `an added or removed address and an unplugged cable are reported`() throws {
        let network = try TestNetwork("alpha")
        defer { withExtendedLifetime(network) {} }
        let alpha = network.hosts[0]
        let watch = try alpha.inside { try Watch(on: alpha) }
        let first = watch.addresses
        try alpha.run("ip address add 10.77.0.99/24 dev eth0")
        #expect(try watch.next().contains { $0.address.description == "10.77.0.99" })
        try alpha.run("ip address del 10.77.0.99/24 dev eth0")
        #expect(try watch.next() == first)
        try network.setCable(of: 0, isConnected: false)
        #expect(try watch.next().map(\.interface.kind) == [.loopback, .loopback])
        try network.setCable(of: 0, isConnected: true)
        #expect(try watch.next { $0.count == first.count } == first)
        #expect(watch.addresses == first)
    }

    @Test func `an address is reported once it is usable, not while duplicate detection runs`() throws {
        let network = try TestNetwork("alpha")
        defer { withExtendedLifetime(network) {} }
        let alpha = network.hosts[0]
        try alpha.run("sysctl -q -w net.ipv6.conf.eth0.accept_dad=1 net.ipv6.conf.eth0.dad_transmits=1")
        let watch = try alpha.inside { try Watch(on: alpha) }
        let added = try #require(IPAddress("fd00::99"))
        try alpha.run("ip address add fd00::99/64 dev eth0")
        #expect(try !alpha.inside { try NetworkAddress.current() }.contains { $0.address == added })
        #expect(try watch.next().contains { $0.address == added })
        let isSent = try alpha.inside {
            let socket = try MediaSocket(port: 0)
            return try socket.send([1], to: SocketAddress(added, port: socket.localAddress.port), from: added)
        }
        #expect(isSent)
    }

    /// A monitor on a host. One test at a time uses it.
    private final class Watch: @unchecked Sendable {
        private let host: NetworkHost
        private var monitor: NetworkMonitor

        /// Creates it on the host.
        init(on host: NetworkHost) throws {
            self.host = host
            monitor = try NetworkMonitor()
        }

        var addresses: [NetworkAddress] { monitor.addresses }

        /// Serves the monitor as a thread would, until it reports addresses that `fit`.
        func next(_ fit: @escaping @Sendable ([NetworkAddress]) -> Bool = { _ in true }) throws -> [NetworkAddress] {
            try host.inside { [self] in
                let end = HostTime.now().advanced(bySeconds: 10)
                while HostTime.now() < end {
                    let wait = monitor.nextDeadline.map { max(0, $0.seconds(since: .now())) } ?? 0.2
                    var descriptor = pollfd(fd: monitor.fileDescriptor, events: Int16(POLLIN), revents: 0)
                    if poll(&descriptor, 1, CInt(wait * 1e3) + 1) > 0 { monitor.receive(at: .now()) }
                    if let addresses = monitor.tick(at: .now()), fit(addresses) { return addresses }
                }
                throw NetworkHost.HostError(description: "no change was told")
            }
        }
    }
}

extension IPAddress {
    fileprivate var unscoped: String { String(description.prefix { $0 != "%" }) }
}
