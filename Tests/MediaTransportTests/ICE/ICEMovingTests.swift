// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import Testing

@testable import EarshotMediaTransport

/// Peers whose addresses change.
@Suite struct ICEMovingTests {
    private static let roles: [ICERole] = [.controlling, .controlled]

    private func connected(_ seed: UInt64, moverIs role: ICERole, loss: Double = 0) -> ICENetwork {
        let network = ICENetwork.pair(
            seed: seed, ["10.0.0.1"], ["10.0.0.2", "10.0.5.2"], roles: (role, role.opposite))
        network.path = { from, to in
            let isConnected = ICENetwork.areNeighbours(from, to)
            return isConnected ? ICENetwork.Path(delay: 0.002, jitter: 0.004, loss: loss) : nil
        }
        network.run(10)
        return network
    }

    @Test(arguments: roles, 0..<20 as Range<UInt64>)
    func `a peer that moves to another network is followed within a second`(role: ICERole, seed: UInt64) throws {
        let network = connected(seed, moverIs: role, loss: 0.05)
        network.run(Double(seed) * 0.05)  // at any phase of the checks
        #expect(network.areConnected("10.0.0.1", "10.0.0.2"))
        network.move(0, to: ["10.0.5.1"])
        #expect(network[0].mediaPair == nil, "nothing is sent from an address that is gone")
        let seconds = try #require(
            network.run(until: { $0.areConnected("10.0.5.1", "10.0.5.2") }, within: 2))
        #expect(seconds < 1, "\(seconds) s")
        network.run(30)
        #expect(network.areConnected("10.0.5.1", "10.0.5.2"))
    }

    @Test(arguments: roles, 0..<20 as Range<UInt64>)
    func `a peer whose address changes within its network is followed within a second`(
        role: ICERole, seed: UInt64
    ) throws {
        let network = connected(seed, moverIs: role)
        network.run(Double(seed) * 0.05)
        network.move(0, to: ["10.0.0.77"])
        let seconds = try #require(network.run(until: { $0.areConnected("10.0.0.77", "10.0.0.2") }, within: 2))
        #expect(seconds < 1, "\(seconds) s")
    }

    @Test(arguments: roles)
    func `a peer that moved can send again after one round trip`(role: ICERole) throws {
        let network = connected(1, moverIs: role)
        network.move(0, to: ["10.0.0.76"])
        network.run(0.01)
        network.move(0, to: ["10.0.0.77"])
        let seconds = try #require(network.run(until: { $0[0].mediaPair != nil }, within: 1))
        #expect(seconds < 0.013)
    }

    @Test(arguments: roles)
    func `a peer that moves ten times is followed each time`(role: ICERole) throws {
        let network = connected(2, moverIs: role, loss: 0.05)
        for n in 0..<10 {
            let address = n % 2 == 0 ? ("10.0.5.\(10 + n)", "10.0.5.2") : ("10.0.0.\(10 + n)", "10.0.0.2")
            network.move(0, to: [address.0])
            #expect(network.run(until: { $0.areConnected(address.0, address.1) }, within: 1) != nil, "hop \(n)")
            network.run(3)
        }
        network.run(20)
        #expect(network[1].remotes.count <= 3, "where it was is forgotten")
    }

    @Test(arguments: roles, 0..<10 as Range<UInt64>)
    func `a faster cable is used when plugged in, and abandoned when unplugged`(
        role: ICERole, seed: UInt64
    ) throws {
        let network = ICENetwork.pair(seed: seed, ["10.0.0.1"], ["10.0.0.2"], roles: (role, role.opposite))
        network.path = { from, to in
            let isWireless = [from, to].contains(IPAddress("10.0.0.1")!)
            return isWireless ? .init(delay: 0.003, jitter: 0.004) : .init(delay: 0.0002, jitter: 0.0001)
        }
        network.run(20)
        network.move(0, to: ["10.0.0.1", "10.0.0.9"])
        #expect(network.run(until: { $0.areConnected("10.0.0.9", "10.0.0.2") }, within: 1) != nil)
        network.run(20 + 0.1 * Double(seed))  // at any phase of the checks
        network.move(0, to: ["10.0.0.1"])
        #expect(network.run(until: { $0.areConnected("10.0.0.1", "10.0.0.2") }, within: 1) != nil)
    }

    @Test(arguments: roles, 0..<10 as Range<UInt64>)
    func `a path that fails silently is replaced by another`(role: ICERole, seed: UInt64) throws {
        let network = ICENetwork.pair(
            seed: seed, ["10.0.0.1", "10.1.0.1"], ["10.0.0.2", "10.1.0.2"], roles: (role, role.opposite))
        let slow = IPAddress("10.1.0.1")!
        network.path = { from, to in
            ICENetwork.areNeighbours(from, to)
                ? .init(delay: ICENetwork.areNeighbours(from, slow) ? 0.01 : 0.001) : nil
        }
        network.run(10 + Double(seed) * 0.1)
        #expect(network.areConnected("10.0.0.1", "10.0.0.2"))
        network.path = { from, to in
            ICENetwork.areNeighbours(from, to) && ICENetwork.areNeighbours(from, slow) ? .init(delay: 0.01) : nil
        }
        let seconds = try #require(network.run(until: { $0.areConnected("10.1.0.1", "10.1.0.2") }, within: 5))
        #expect(seconds < 1.6, "\(seconds) s")
        // The fast path returns.
        network.path = { from, to in
            ICENetwork.areNeighbours(from, to)
                ? .init(delay: ICENetwork.areNeighbours(from, slow) ? 0.01 : 0.001) : nil
        }
        #expect(network.run(until: { $0.areConnected("10.0.0.1", "10.0.0.2") }, within: 30) != nil)
    }

    @Test(arguments: roles)
    func `a path that fails in one direction is replaced by another`(role: ICERole) {
        let network = ICENetwork.pair(
            seed: 4, ["10.0.0.1", "10.1.0.1"], ["10.0.0.2", "10.1.0.2"], roles: (role, role.opposite))
        let slow = IPAddress("10.1.0.1")!
        network.path = { from, to in
            ICENetwork.areNeighbours(from, to)
                ? .init(delay: ICENetwork.areNeighbours(from, slow) ? 0.01 : 0.001) : nil
        }
        network.run(10)
        network.path = { from, to in
            guard ICENetwork.areNeighbours(from, to), from != IPAddress("10.0.0.1")! else { return nil }
            return .init(delay: ICENetwork.areNeighbours(from, slow) ? 0.01 : 0.001)
        }
        #expect(network.run(until: { $0.areConnected("10.1.0.1", "10.1.0.2") }, within: 1.6) != nil)
        network.run(60)
        #expect(network.areConnected("10.1.0.1", "10.1.0.2"))
    }

    // MARK: A router in between

    /// Puts the first machine behind a router, on which it appears as `port` of 10.0.0.99.
    private func routed(_ network: ICENetwork, port: UInt16) {
        network.translated = [
            SocketAddress(IPAddress("10.0.0.1")!, port: 47_400): SocketAddress(IPAddress("10.0.0.99")!, port: port)
        ]
    }

    @Test(arguments: roles)
    func `a changed router port is followed at the next check`(role: ICERole) throws {
        let network = ICENetwork.pair(seed: 5, roles: (role, role.opposite))
        routed(network, port: 1_111)
        network.run(10)
        #expect(network.connection(1)?.remote == SocketAddress(IPAddress("10.0.0.99")!, port: 1_111))
        routed(network, port: 2_222)
        let wanted = SocketAddress(IPAddress("10.0.0.99")!, port: 2_222)
        let seconds = try #require(network.run(until: { $0.connection(1)?.remote == wanted }, within: 5))
        #expect(seconds < 1.4, "\(seconds) s")
        network.run(30)
        #expect(network.connection(1)?.remote == wanted && network.connection(0) != nil)
    }

    @Test(arguments: roles)
    func `media from the new router port speeds up the switch`(role: ICERole) throws {
        let network = ICENetwork.pair(seed: 6, roles: (role, role.opposite))
        routed(network, port: 1_111)
        network.run(10.05)
        routed(network, port: 2_222)
        let wanted = SocketAddress(IPAddress("10.0.0.99")!, port: 2_222)
        network.nodes[1].agent.heard(from: wanted, to: IPAddress("10.0.0.2")!, at: network.now)
        #expect(!network[1].trusts(wanted, at: network.now))
        let seconds = try #require(network.run(until: { $0.connection(1)?.remote == wanted }, within: 5))
        #expect(seconds < 0.4, "\(seconds) s")
        #expect(network[1].trusts(wanted, at: network.now))
    }

    @Test func `an agent keeps the newest of ten thousand announced addresses, and the one in use`() throws {
        let network = ICENetwork.pair(seed: 31)
        network.run(5)
        #expect(network.areConnected)
        for n in 0..<10_000 {
            let candidate = ICECandidate.hosts([.v4(0x0B00_0000 + UInt32(n))], port: 9)
            network.nodes[0].agent.add(candidate, at: network.now)
            #expect(network[0].remotes.count <= ICEAgent.maximumRemotes)
        }
        #expect(network[0].remotes.contains { $0.address.address == .v4(0x0B00_0000 + 9_999) })
        #expect(network.areConnected)
        // The peer moves and reports its new address.
        network.move(1, to: ["10.0.0.9"])
        network.nodes[0].agent.add(ICECandidate.hosts(network.nodes[1].addresses, port: 50_000), at: network.now)
        #expect(network.run(until: { $0.areConnected("10.0.0.1", "10.0.0.9") }, within: 2) != nil)
    }

    @Test func `announced peer-reflexive addresses leave room for further ones`() {
        let network = ICENetwork.pair(seed: 32)
        network.run(5)
        // The agent sends media from each of its addresses.
        for n in 0..<200 {
            let source = SocketAddress(.v4(0x0A00_0010 + UInt32(n)), port: 50_000)
            network.nodes[0].agent.heard(from: source, to: network.nodes[0].addresses[0], at: network.now)
            network.nodes[0].agent.add(ICECandidate.hosts([source.address], port: 50_000), at: network.now)
            network.run(0.01)
            #expect(network[0].remotes.count <= ICEAgent.maximumRemotes)
            #expect(network[0].remotes.contains { $0.address == source })
        }
        #expect(network.areConnected)
    }
}
