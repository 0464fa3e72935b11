// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import Testing

@testable import EarshotMediaTransport

/// Tests how two peers connect.
@Suite struct ICEConnectionTests {
    @Test func `both peers are connected after one round trip on a quiet network`() throws {
        let network = ICENetwork.pair(seed: 1)
        let seconds = try #require(network.run(until: { $0.areConnected }, within: 1))
        #expect(seconds < 0.0031)
        #expect(network.nodes.allSatisfy { $0.agent.roundTrip.map { abs($0 - 0.002) < 1e-6 } ?? false })
        #expect(
            network[0].mediaPair == network.connection(0)
                && network[0].trusts(network[0].mediaPair!.remote, at: network.now))
    }

    @Test func `the controlled side receives the nomination at once`() throws {
        let network = ICENetwork.pair(seed: 1)
        network.run(0.0045)
        let nominations = network.record.filter { (try? STUNContents($0.bytes))?.usesCandidate ?? false }
        #expect(nominations.first.map { $0.at <= .seconds(0.0021) } ?? false)
        #expect(network.nodes[1].agent.role == .controlled)
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `a connection is made within a second despite 33% loss`(seed: UInt64) throws {
        let network = ICENetwork.pair(seed: seed, ["10.0.0.1", "192.168.7.1"], ["10.0.0.2", "172.16.0.9"])
        network.path = { ICENetwork.areNeighbours($0, $1) ? .init(delay: 0.005, jitter: 0.02, loss: 0.33) : nil }
        let seconds = try #require(network.run(until: { $0.areConnected("10.0.0.1", "10.0.0.2") }, within: 2))
        #expect(seconds < 1, "\(seconds) s")
    }

    @Test func `a path with a round trip of about 700 ms is found and kept`() throws {
        let network = ICENetwork.pair(seed: 2)
        network.path = { _, _ in .init(delay: 0.3, jitter: 0.1) }
        #expect(try #require(network.run(until: { $0.areConnected }, within: 3)) < 1.5)
        network.run(60)
        #expect(network.areConnected && network[0].roundTrip.map { (0.6...0.8).contains($0) } ?? false)
    }

    @Test(arguments: [true, false])
    func `a faster direct path replaces a VPN path that answered first`(isFirstControlling: Bool) throws {
        let roles: (ICERole, ICERole) =
            isFirstControlling ? (.controlling, .controlled) : (.controlled, .controlling)
        let network = ICENetwork.pair(
            seed: 3, ["10.8.0.1", "192.168.1.10"], ["10.8.0.2", "192.168.1.20"], roles: roles)
        func way(lan hasLAN: Bool) -> (IPAddress, IPAddress) -> ICENetwork.Path? {
            return { from, to in
                guard ICENetwork.areNeighbours(from, to) else { return nil }
                let isDetour = ICENetwork.areNeighbours(from, IPAddress("10.8.0.1")!)
                return isDetour
                    ? .init(delay: 0.012, jitter: 0.004) : hasLAN ? .init(delay: 0.001, jitter: 0.002) : nil
            }
        }
        network.path = way(lan: false)
        network.run(0.2)
        #expect(network.areConnected("10.8.0.1", "10.8.0.2"))
        network.path = way(lan: true)
        #expect(network.run(until: { $0.areConnected("192.168.1.10", "192.168.1.20") }, within: 0.8) != nil)
        network.run(300)
        #expect(network.areConnected("192.168.1.10", "192.168.1.20"), "and it stays")
    }

    @Test func `two equally good paths are not swapped`() {
        let network = ICENetwork.pair(seed: 4, ["10.0.0.1", "10.1.0.1"], ["10.0.0.2", "10.1.0.2"])
        network.path = { ICENetwork.areNeighbours($0, $1) ? .init(delay: 0.002, jitter: 0.003) : nil }
        network.run(0.1)
        let first = network.connection(0)
        network.run(600)
        #expect(first != nil && network.connection(0) == first && network.areConnected)
    }

    @Test func `IPv6 link-local addresses find their link despite different interface numbers`() throws {
        let network = ICENetwork.pair(
            seed: 5, ["fe80::a:1%2", "fe80::b:1%3"], ["fe80::c:1%7"])
        // Only the second link of the first machine leads to the other.
        network.path = { from, to in
            [from, to].contains { $0.withoutScope == IPAddress("fe80::a:1")! } ? nil : .init()
        }
        network.run(0.5)
        #expect(network.areConnected("fe80::b:1%3", "fe80::c:1%7") == false, "each side has its own scope")
        #expect(network.connection(0)?.local == IPAddress("fe80::b:1%3")!)
        #expect(network.connection(0)?.remote.address == IPAddress("fe80::c:1%3")!)
        #expect(network.connection(1)?.remote.address == IPAddress("fe80::b:1%7")!)
    }

    @Test func `only addresses of the same family and scope are paired`() {
        let network = ICENetwork.pair(
            seed: 6, ["10.0.0.1", "fe80::1%2", "2001:db8::1", "127.0.0.1"],
            ["10.0.0.2", "fe80::2%4", "2001:db8::2", "127.0.0.1"])
        #expect(
            network[0].pairs.map(\.addresses.description).sorted() == [
                "10.0.0.1 to 10.0.0.2:50000", "127.0.0.1 to 127.0.0.1:50000", "2001:db8::1 to [2001:db8::2]:50000",
                "fe80::1%2 to [fe80::2%2]:50000",
            ])
        network.run(0.1)
        #expect(network.areConnected)
    }

    @Test func `checks from one side suffice when the other side's candidates are unknown`() {
        let network = ICENetwork(seed: 7)
        let a = network.add(.controlling, ["10.0.0.1"])
        let b = network.add(.controlled, ["10.0.0.2"])
        network.notify(a, of: b, candidates: false)
        network.notify(b, of: a)
        network.run(0.2)
        #expect(network.areConnected && network[a].remotes.count == 1)
    }

    @Test func `checks that arrive before the answer are answered, and count once it has arrived`() {
        let network = ICENetwork(seed: 8)
        let a = network.add(.controlling, ["10.0.0.1"])
        let b = network.add(.controlled, ["10.0.0.2"])
        network.notify(b, of: a)
        network.run(0.3)
        #expect(network.connection(a) == nil && network.nodes[a].sent > 0, "it answers, and knows nobody to check")
        #expect(network.connection(b) != nil)
        network.notify(a, of: b, candidates: false)
        #expect(network.run(until: { $0.areConnected }, within: 0.1) != nil)
    }

    @Test func `agents that share a port are distinguished by username and transaction`() throws {
        let network = ICENetwork(seed: 13)
        for n in 1...4 { _ = network.add(n % 2 == 1 ? .controlling : .controlled, ["10.0.0.\(n)"]) }
        for (a, b) in [(0, 1), (2, 3)] {
            network.notify(a, of: b)
            network.notify(b, of: a)
        }
        network.run(0.0005)
        let checks = network.record
        #expect(checks.count == 4)
        for (sender, check) in checks.enumerated() {
            let receiver = network.nodes.firstIndex { $0.addresses == [check.to.address] }!
            let id = try STUNContents(check.bytes).id
            let answer = stun(.success, id: id) { $0.seal("any") }
            let indication = stun(.indication, id: id) { $0.seal("any") }
            let nameless = stun(.request) { $0.seal("any") }
            try check.bytes.withUnsafeBytes { bytes in
                let message = try STUNMessage(parsing: bytes.bytes)
                #expect(network.nodes.indices.filter { network[$0].isAddressed(by: message) } == [receiver])
            }
            try answer.withUnsafeBytes { bytes in
                let message = try STUNMessage(parsing: bytes.bytes)
                #expect(network.nodes.indices.filter { network[$0].isAddressed(by: message) } == [sender])
            }
            for nobodys in [indication, nameless] {
                try nobodys.withUnsafeBytes { bytes in
                    let message = try STUNMessage(parsing: bytes.bytes)
                    #expect(!network.nodes.contains { $0.agent.isAddressed(by: message) })
                }
            }
        }
    }

    // MARK: Roles

    @Test(arguments: [ICERole.controlling, .controlled], 0..<20 as Range<UInt64>)
    func `a role conflict is resolved`(role: ICERole, seed: UInt64) {
        let network = ICENetwork.pair(seed: seed, roles: (role, role))
        network.path = { _, _ in .init(delay: 0.005, jitter: 0.01, loss: 0.1) }
        network.run(1)
        #expect(network.areConnected)
        #expect(Set(network.nodes.map(\.agent.role)).count == 2)
        network.run(30)
        #expect(network.areConnected && network[0].role != network[1].role)
    }

    @Test(arguments: [ICERole.controlling, .controlled])
    func `a role conflict is resolved even with equal tie-breakers`(role: ICERole) {
        let network = ICENetwork.pair(seed: 9, roles: (role, role))
        network.nodes[0].agent.tieBreaker = 7
        network.nodes[1].agent.tieBreaker = 7
        network.run(1)
        #expect(network.areConnected && network[0].role != network[1].role)
    }

    // MARK: Bounds

    @Test func `many addresses on both sides are checked at no more than 200 per second`() {
        let ours = (1...20).map { "10.0.\($0).1" }
        let theirs = (1...30).map { "10.0.\($0 + 100).1" }
        let network = ICENetwork.pair(seed: 10, ours, theirs)
        #expect(network[0].locals.count == 16 && network[0].remotes.count == 24 && network[0].pairs.count == 64)
        network.run(10)
        #expect(network.nodes[0].sent <= 64 + 2_000)
        #expect(network[0].checks.count <= ICECheckTable.capacity)
        #expect(network.state(0) == "checking")
    }

    @Test func `an unreachable peer is checked less and less often`() {
        let network = ICENetwork.pair(seed: 11)
        network.path = { _, _ in nil }
        network.run(5)
        #expect(network.nodes[0].sent == 101)
        network.run(25)
        let sent = network.nodes[0].sent
        #expect((220...230).contains(sent))
        network.run(100)
        #expect((195...205).contains(network.nodes[0].sent - sent))
        #expect(network[0].state == .checking(since: .seconds(0)))
    }

    @Test func `a stable connection is checked once per second, and all pairs every five seconds`() {
        let network = ICENetwork.pair(seed: 12, ["10.0.0.1", "10.1.0.1"], ["10.0.0.2", "10.1.0.2"])
        network.run(10)
        let requests = network.record.filter { $0.bytes[0] == 0 && $0.bytes[1] == 1 }.count
        network.run(100)
        let more = network.record.filter { $0.bytes[0] == 0 && $0.bytes[1] == 1 }.count - requests
        // Four pairs on each side, of which two work: 100 checks of the one in use, 20 of the other three.
        #expect((300...330).contains(more), "\(more)")
    }
}
