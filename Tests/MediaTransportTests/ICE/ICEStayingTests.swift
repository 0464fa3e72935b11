// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import Testing

@testable import EarshotMediaTransport

/// Peers that are cut off, are stopped, leave and return.
@Suite struct ICEStayingTests {
    private func cut(_ network: ICENetwork) { network.path = { _, _ in nil } }
    private func mend(_ network: ICENetwork) { network.path = { _, _ in .init() } }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func `a vanished peer is reported as disconnected after two to three seconds`(seed: UInt64) throws {
        let network = ICENetwork.pair(seed: seed)
        network.run(10 + Double(seed) * 0.1)
        cut(network)
        let start = network.now
        for i in 0..<2 {
            _ = try #require(network.run(until: { $0.state(i) == "disconnected" }, within: 6))
            #expect((1.9...3.2).contains(network.now.seconds(since: start)))
        }
        guard case .disconnected(let since) = network[0].state else { Issue.record("\(network[0].state)"); return }
        #expect(since <= start && start.seconds(since: since) <= 1.1, "it says since when")
        #expect(network[0].mediaPair != nil, "the consent lasts")
    }

    @Test func `an outage of just under two seconds does not disconnect`() {
        let network = ICENetwork.pair(seed: 1)
        network.run(10)
        for _ in 0..<10 {
            cut(network)
            let wasLost = network.run(until: { $0.state(0) != "connected" || $0.state(1) != "connected" }, within: 1.9)
            #expect(wasLost == nil)
            mend(network)
            network.run(7.3)
        }
    }

    @Test(arguments: [4.0, 20, 29, 31, 45, 60, 75, 600])
    func `both peers reconnect by themselves soon after an outage`(length: Double) throws {
        let network = ICENetwork.pair(seed: 2)
        network.run(10)
        cut(network)
        network.run(length)
        let word = length < 30 ? "disconnected" : "expired"
        #expect(network.state(0) == word && network.state(1) == word)
        #expect((network[0].mediaPair == nil) == (length > 30))
        mend(network)
        let seconds = try #require(network.run(until: { $0.areConnected }, within: 5))
        #expect(seconds < 0.6, "\(seconds) s")
        network.run(10)
        #expect(network.areConnected)
    }

    @Test func `a peer that reconnects first makes the other reconnect at once`() throws {
        let network = ICENetwork(seed: 9)
        _ = network.add(.controlling, ["10.0.0.1"])
        _ = network.add(.controlled, ["10.0.0.2"])
        network.notify(0, of: 1)
        network.run(0.13)  // so that the rounds of the two are not at one time
        network.notify(1, of: 0)
        network.run(10)
        #expect(network.areConnected)
        cut(network)
        network.run(100)
        mend(network)
        let isFirst: (ICENetwork) -> Bool = { $0.connection(0) != nil || $0.connection(1) != nil }
        #expect(network.run(until: isFirst, within: 1) != nil)
        #expect(network.run(until: { $0.areConnected }, within: 0.005) != nil)
    }

    @Test func `the shorter path is used again within a second after an outage`() throws {
        let network = ICENetwork.pair(seed: 10, ["10.0.0.1", "10.1.0.1"], ["10.0.0.2", "10.1.0.2"])
        func ways(_ isUsable: @escaping (_ isShort: Bool) -> Bool) {
            network.path = { from, to in
                guard ICENetwork.areNeighbours(from, to) else { return nil }
                let isShort = ICENetwork.areNeighbours(from, IPAddress("10.0.0.1")!)
                return isUsable(isShort) ? .init(delay: isShort ? 0.001 : 0.02) : nil
            }
        }
        ways { !$0 }
        network.run(10)
        ways { _ in false }
        network.run(60)
        ways { !$0 }
        #expect(network.run(until: { $0.areConnected("10.1.0.1", "10.1.0.2") }, within: 1) != nil)
        network.run(0.3)
        ways { _ in true }
        #expect(network.run(until: { $0.areConnected("10.0.0.1", "10.0.0.2") }, within: 1) != nil)
    }

    @Test func `media stops thirty seconds after the last consent`() throws {
        let network = ICENetwork.pair(seed: 3)
        network.run(10.5)
        let last = try #require(network[0].lastConsent)
        cut(network)
        _ = try #require(network.run(until: { $0[0].mediaPair == nil }, within: 60))
        #expect(abs(network.now.seconds(since: last) - 30) < 0.001)
        #expect(network[0].state == .consentExpired(since: network.now))
        #expect(!network[0].trusts(SocketAddress(IPAddress("10.0.0.2")!, port: 50_000), at: network.now))
    }

    @Test(arguments: [0, 1])
    func `both sides detect an outage in one direction, and the one that still hears its peer knows it`(deaf: Int)
        throws
    {
        let network = ICENetwork.pair(seed: 4)
        network.run(10)
        let addresses = [IPAddress("10.0.0.1")!, IPAddress("10.0.0.2")!]
        network.path = { _, to in to == addresses[deaf] ? nil : .init() }
        network.run(5)
        #expect(network.state(0) == "disconnected" && network.state(1) == "disconnected")
        let heard = network.nodes.map { network.now.seconds(since: $0.agent.lastHeard!) }
        #expect(heard[deaf] > 4 && heard[1 - deaf] < 1.1)
        network.run(60)
        #expect(network.state(0) == "expired" && network.state(1) == "expired")
        mend(network)
        #expect(network.run(until: { $0.areConnected }, within: 0.6) != nil)
    }

    @Test(arguments: [5.0, 90], [0, 1])
    func `a peer suspended in a debugger reconnects on its previous path`(length: Double, stopped: Int) throws {
        let network = ICENetwork.pair(seed: 5, ["10.0.0.1", "10.1.0.1"], ["10.0.0.2", "10.1.0.2"])
        network.path = { from, to in
            guard ICENetwork.areNeighbours(from, to) else { return nil }
            return .init(delay: ICENetwork.areNeighbours(from, IPAddress("10.1.0.1")!) ? 0.02 : 0.001)
        }
        network.run(10)
        #expect(network.areConnected("10.0.0.1", "10.0.0.2"))
        network.stop(stopped)
        network.run(length)
        #expect(network.state(1 - stopped) == (length < 30 ? "disconnected" : "expired"))
        #expect(network.nodes[stopped].waiting.count < 3_000)
        network.resume(stopped)
        #expect(network.run(until: { $0.areConnected }, within: 0.6) != nil)
        network.run(20)
        #expect(network.areConnected("10.0.0.1", "10.0.0.2"))
    }

    @Test(arguments: 0..<3 as Range<UInt64>)
    func `ten minutes of 20% loss with bursts cause no disconnection`(seed: UInt64) {
        let network = ICENetwork.pair(seed: seed)
        network.path = { _, _ in .init(delay: 0.005, jitter: 0.03, loss: 0.2) }
        network.run(5)
        var disconnections = 0
        for _ in 0..<100 {
            network.run(5)
            network.path = { _, _ in nil }
            network.run(0.4)
            network.path = { _, _ in .init(delay: 0.005, jitter: 0.03, loss: 0.2) }
            if network.run(until: { $0.state(0) != "connected" || $0.state(1) != "connected" }, within: 0.6) != nil {
                disconnections += 1
            }
        }
        #expect(disconnections == 0)
    }

    @Test func `a closed agent sends nothing and accepts nothing`() {
        let network = ICENetwork.pair(seed: 6)
        network.run(5)
        network.nodes[0].agent.close()
        let sent = network.nodes[0].sent
        network.run(20)
        network.nodes[0].agent.setLocalAddresses([IPAddress("10.0.0.5")!], at: network.now)
        network.nodes[0].agent.heard(
            from: SocketAddress(IPAddress("10.0.0.9")!, port: 9), to: IPAddress("10.0.0.5")!, at: network.now)
        network.notify(0, of: 1)
        network.run(20)
        #expect(network.nodes[0].sent == sent && network[0].state == .closed && network[0].nextDeadline == nil)
        #expect(network[0].mediaPair == nil && network.received[.ignored(.closed)] ?? 0 > 10)
        #expect(network.state(1) == "expired")
    }

    @Test func `the same seed produces the same datagrams`() {
        func record(_ seed: UInt64) -> [[UInt8]] {
            let network = ICENetwork.pair(seed: seed)
            network.path = { _, _ in .init(delay: 0.01, jitter: 0.02, loss: 0.1) }
            network.run(20)
            return network.record.map(\.bytes)
        }
        #expect(record(7) == record(7) && record(7) != record(8))
    }

    @Test func `a machine without addresses waits until it gets one`() {
        let network = ICENetwork.pair(seed: 8)
        network.run(10)
        network.move(0, to: [])
        network.run(10)
        #expect(network.state(0) == "disconnected" && network.state(1) == "disconnected")
        network.move(0, to: ["10.0.0.44"])
        #expect(network.run(until: { $0.areConnected("10.0.0.44", "10.0.0.2") }, within: 1) != nil)
    }

    @Test func `a nomination of a path that was not checked for seconds does not disconnect`() throws {
        let network = ICENetwork.pair(seed: 21, ["10.0.0.1", "10.0.1.1"], ["10.0.0.2", "10.0.1.2"])
        network.run(9)
        let used = try #require(network.connection(1))
        let other = try #require(network[1].pairs.first { $0.addresses != used && $0.lastAnswer != nil })
        // Its last answer must be old, and yet one of the last rounds.
        let age = network.run(
            until: { network in
                network[1].pairs.contains {
                    $0.addresses == other.addresses && network.now.seconds(since: $0.lastAnswer!) > 3.5
                }
            }, within: 12)
        try #require(age != nil)
        let nomination = stun(.request) { writer in
            writer.addUsername("\(network[1].credentials.usernameFragment):\(network[0].credentials.usernameFragment)")
            writer.addPriority(1)
            writer.addControlling(tieBreaker: 5)
            writer.addUseCandidate()
            writer.seal(network[1].credentials.password)
        }
        network.inject(
            .init(
                at: network.now, from: other.addresses.remote, to: SocketAddress(other.addresses.local, port: 50_000),
                bytes: nomination))
        network.run(0.0015)
        #expect(network[1].mediaPair == other.addresses)
        #expect(network.state(1) == "connected")
    }
}
