// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import Testing

@testable import EarshotMediaTransport

/// Tests attacks by others on the network, and by a peer itself.
@Suite struct ICEHostileTests {
    private let mallory = SocketAddress(IPAddress("10.0.0.66")!, port: 6_666)

    private func connected(_ seed: UInt64) -> ICENetwork {
        let network = ICENetwork.pair(seed: seed)
        network.run(5)
        #expect(network.areConnected)
        return network
    }

    /// Returns the datagrams sent to an address since the record had this length.
    private func sent(_ network: ICENetwork, to address: SocketAddress, since count: Int = 0) -> Int {
        network.record.dropFirst(count).count { $0.to == address }
    }

    private func isRequest(_ datagram: ICENetwork.Datagram) -> Bool {
        (try? STUNContents(datagram.bytes))?.messageClass == .request
    }

    @Test func `checks with a wrong password are not answered`() {
        let network = ICENetwork(seed: 1)
        let a = network.add(.controlling, ["10.0.0.1"])
        let b = network.add(.controlled, ["10.0.0.2"])
        network.notify(a, of: b)
        let wrong = ICECredentials(
            usernameFragment: network[a].credentials.usernameFragment, password: String(repeating: "x", count: 24))!
        network.nodes[b].agent.setRemote(
            wrong, candidates: ICECandidate.hosts(network.nodes[a].addresses, port: 47_400), at: network.now)
        network.run(10)
        #expect(network.connection(b) == nil)
        #expect(network.received[.ignored(.unauthentic), default: 0] > 50)
        #expect(network.record.allSatisfy { isRequest($0) || $0.from.address == IPAddress("10.0.0.2")! })
    }

    @Test func `a check replayed from another address is ignored and not answered`() throws {
        for (victim, user) in [(0, 1), (1, 0)] {
            let network = connected(2)
            let old = network.record.filter { isRequest($0) && $0.to.address == network.nodes[victim].addresses[0] }
            #expect(old.count > 5)
            let pairs = [network.connection(0), network.connection(1)]
            let count = network.record.count
            for datagram in old {
                network.inject(.init(at: network.now, from: mallory, to: datagram.to, bytes: datagram.bytes))
                network.run(0.01)
            }
            network.run(5)
            #expect(sent(network, to: mallory, since: count) == 0)
            #expect(network.received[.ignored(.replayed)] == old.count)
            #expect([network.connection(0), network.connection(1)] == pairs && user != victim)
        }
    }

    @Test func `a replayed check with the original source address is answered a few times only`() throws {
        let network = connected(3)
        let check = try #require(network.record.last { isRequest($0) && $0.to.address == IPAddress("10.0.0.2")! })
        let count = network.record.count
        for _ in 0..<1_000 { network.inject(check) }
        network.run(0.5)
        #expect(sent(network, to: check.from, since: count) < 12)
    }

    @Test func `an intercepted check from another address is not trusted while that address cannot answer`() throws {
        // Mallory intercepts a check, so it is new when it comes from another address.
        let network = connected(4)
        let server = network.nodes[1].addresses[0]
        network.path = { _, to in to == server ? nil : .init() }
        let count = network.record.count
        network.run(1.5)
        let held = network.record.dropFirst(count).filter { isRequest($0) && $0.to.address == server }
        network.path = { _, _ in .init() }
        for datagram in held {
            network.inject(.init(at: network.now, from: mallory, to: datagram.to, bytes: datagram.bytes))
        }
        network.run(2)
        #expect(network[1].remotes.contains { $0.address == mallory }, "it is asked")
        #expect(!network[1].trusts(mallory, at: network.now), "and not believed")
        #expect(network.areConnected && network.connection(1)?.remote.address == IPAddress("10.0.0.1")!)
        network.run(15)
        #expect(!network[1].remotes.contains { $0.address == mallory }, "and forgotten")
        let asked = sent(network, to: mallory)
        network.run(30)
        #expect(asked < 100 && sent(network, to: mallory) == asked)
    }

    @Test func `a reflected check is ignored`() {
        let network = connected(5)
        for datagram in network.record.filter(isRequest) {
            network.inject(.init(at: network.now, from: datagram.to, to: datagram.from, bytes: datagram.bytes))
            network.inject(.init(at: network.now, from: mallory, to: datagram.from, bytes: datagram.bytes))
        }
        let count = network.record.count
        network.run(0.5)
        #expect(network.received[.ignored(.otherUser), default: 0] > 20)
        #expect(sent(network, to: mallory, since: count) == 0 && network.areConnected)
    }

    @Test func `a response counts once, from the checked address and with the right password`() {
        let network = connected(6)
        let answers = network.record.filter { !isRequest($0) }
        for datagram in answers {
            network.inject(datagram)
            network.inject(.init(at: network.now, from: mallory, to: datagram.to, bytes: datagram.bytes))
        }
        network.run(0.1)
        #expect(network.received[.ignored(.noTransaction)] == 2 * answers.count)

        // Wrong answers that overtake the right ones.
        network.path = { _, _ in .init(delay: 0.5) }
        let count = network.record.count
        _ = network.run(until: { $0.record.count > count }, within: 2)
        let check = network.record[count]
        let key = network.nodes[0].addresses[0] == check.from.address ? network[1].credentials : network[0].credentials
        let id = try! STUNContents(check.bytes).id
        func answer(_ password: String) -> [UInt8] {
            stun(.success, id: id) { writer in
                writer.addXORMappedAddress(check.from)
                writer.seal(password)
            }
        }
        network.path = { _, _ in .init() }
        network.inject(.init(at: network.now, from: check.to, to: check.from, bytes: answer("x")))
        network.inject(.init(at: network.now, from: mallory, to: check.from, bytes: answer(key.password)))
        network.run(0.002)
        #expect(network.received[.ignored(.unauthentic)] == 1 && network.received[.ignored(.asymmetric)] == 1)
    }

    @Test func `a check with unknown mandatory attributes is rejected with their types`() throws {
        let network = connected(7)
        let (a, b) = (network[0].credentials, network[1].credentials)
        let check = stun(.request) { writer in
            writer.addUsername("\(a.usernameFragment):\(b.usernameFragment)")
            [UInt8]([0, 0]).withUnsafeBytes { writer.add(0x7FFF, $0.bytes) }
            writer.seal(a.password)
        }
        let count = network.record.count
        network.inject(.init(at: network.now, from: network.record[0].to, to: network.record[0].from, bytes: check))
        network.run(0.01)
        let errors = network.record.dropFirst(count).compactMap { try? STUNContents($0.bytes) }.filter {
            $0.messageClass == .error
        }
        #expect(errors.map(\.errorCode) == [420] && errors.first?.unknown == [0x7FFF])
    }

    @Test func `a hundred thousand hostile datagrams have no effect and get no response`() {
        let network = connected(8)
        var random = SeededRandom(seed: 8)
        let names = [(0, 1), (1, 0)].map { ours, theirs in
            "\(network[ours].credentials.usernameFragment):\(network[theirs].credentials.usernameFragment)"
        }
        let sealed = names.map { name in
            stun(.request) { writer in
                writer.addUsername(name)
                writer.addUseCandidate()
                writer.seal("not the password")
            }
        }
        let bases = network.record.suffix(40).map(\.bytes) + [STUNVectors.request, STUNVectors.responseV4]
        let states = network.nodes.map(\.agent.state)
        let now = network.now
        var answers = 0
        for n in 0..<100_000 {
            var bytes = mutated(bases[n % bases.count], &random)
            if bytes == bases[n % bases.count] { bytes[bytes.count - 1] ^= 1 }
            if n % 8 < 2 { bytes = sealed[n % 2] }  // whole but for the password
            let from = SocketAddress(
                .v4(UInt32(truncatingIfNeeded: random.next())), port: .random(in: 0 ... .max, using: &random))
            _ = bytes.withUnsafeBytes { bytes in
                network.nodes[n % 2].agent.receive(bytes, from: from, to: network.nodes[n % 2].addresses[0], at: now) {
                    _, _, _ in answers += 1
                }
            }
        }
        #expect(answers == 0 && network.nodes.map(\.agent.state) == states)
        for node in network.nodes {
            #expect(node.agent.remotes.count == 1 && node.agent.pairs.count == 1 && node.agent.replays.count < 60)
        }
        network.run(5)
        #expect(network.areConnected)
    }

    @Test(arguments: [ICEMode.full, .lite])
    func `a hundred thousand checks from a hostile peer do not grow the tables`(mode: ICEMode) {
        let network = ICENetwork(seed: 9)
        let a = network.add(.controlled, ["10.0.0.1"], mode: mode)
        let b = network.add(.controlling, ["10.0.0.2"])
        network.notify(a, of: b)
        network.notify(b, of: a)
        network.run(2)
        #expect(network.areConnected)
        let (ours, theirs) = (network[a].credentials, network[b].credentials)
        var time = network.now
        var (answers, checks) = (0, 0)
        for n in 0..<100_000 {
            let check = stun(.request, id: STUNTransactionID(high: 9, low: UInt64(n))) { writer in
                writer.addUsername("\(ours.usernameFragment):\(theirs.usernameFragment)")
                writer.addPriority(UInt32(n))
                writer.addControlling(tieBreaker: .max)
                if n % 3 == 0 { writer.addUseCandidate() }
                writer.seal(ours.password)
            }
            let from = SocketAddress(.v4(0x0A00_0000 | UInt32(n)), port: 1_024)
            if n % 100 == 0 { time = time.advanced(bySeconds: 0.001) }
            let transmit: (UnsafeRawBufferPointer, IPAddress, SocketAddress) -> Void = { bytes, _, _ in
                if bytes[0] == 1 { answers += 1 } else { checks += 1 }
            }
            _ = check.withUnsafeBytes {
                network.nodes[a].agent.receive(
                    $0, from: from, to: network.nodes[a].addresses[0], at: time, transmit: transmit)
            }
            if n % 100 == 0 { network.nodes[a].agent.tick(at: time, transmit: transmit) }
        }
        #expect(answers <= 100_000 && checks < 600, "\(checks)")
        #expect(network[a].remotes.count <= ICEAgent.maximumRemotes && network[a].pairs.count <= ICEAgent.maximumPairs)
        #expect(
            network[a].checks.count <= ICECheckTable.capacity && network[a].replays.count <= ICEReplayWindow.capacity)
        if mode == .full { #expect(network.connection(a)?.remote.address == IPAddress("10.0.0.2")!) }
    }

    @Test func `checks from multicast, broadcast and unspecified addresses are not answered`() {
        let network = connected(10)
        let (a, b) = (network[0].credentials, network[1].credentials)
        var answers = 0
        for (n, text) in ["0.0.0.0", "255.255.255.255", "224.0.0.251", "ff02::fb", "::"].enumerated() {
            let check = stun(.request, id: STUNTransactionID(high: 3, low: UInt64(n))) { writer in
                writer.addUsername("\(a.usernameFragment):\(b.usernameFragment)")
                writer.seal(a.password)
            }
            let result = check.withUnsafeBytes {
                network.nodes[0].agent.receive(
                    $0, from: SocketAddress(IPAddress(text)!, port: 5), to: IPAddress("10.0.0.1")!, at: network.now
                ) { _, _, _ in answers += 1 }
            }
            #expect(result == .ignored(.notACheck))
        }
        #expect(answers == 0)
    }
}
