// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import Testing

@testable import EarshotMediaTransport

/// The agent that browsers connect to.
@Suite struct ICELiteTests {
    private let browser = SocketAddress(IPAddress("192.168.1.5")!, port: 54_321)
    private let local = IPAddress("192.168.1.2")!

    private struct Sent {
        let bytes: [UInt8]
        let from: IPAddress
        let to: SocketAddress
    }

    /// A lite agent, its output, and checks as Chromium writes them.
    private struct Rig {
        var agent: ICEAgent
        let remote: ICECredentials
        var sent: [Sent] = []
        var count: UInt64 = 0

        init() {
            var random = SeededRandom(seed: 1)
            agent = ICEAgent(
                .lite, role: .controlling, credentials: .random(using: &random), at: .seconds(0), using: &random)
            remote = ICECredentials(usernameFragment: "aB3+", password: "0123456789abcdefghij/+")!
            agent.setLocalAddresses([IPAddress("192.168.1.2")!], at: .seconds(0))
            agent.setRemote(remote, candidates: [], at: .seconds(0))
        }

        mutating func check(
            from: SocketAddress, at: Double, use: Bool = true, id: UInt64? = nil,
            _ more: (inout STUNWriter) -> Void = { $0.addControlling(tieBreaker: 5) }
        ) -> ICEAgent.Received {
            count += 1
            let bytes = stun(.request, id: STUNTransactionID(high: 7, low: id ?? count)) { writer in
                writer.addUsername("\(agent.credentials.usernameFragment):\(remote.usernameFragment)")
                [UInt8]([0, 1, 0, 10]).withUnsafeBytes { writer.add(0xC057, $0.bytes) }  // GOOG-NETWORK-INFO
                more(&writer)
                if use { writer.addUseCandidate() }
                writer.addPriority(0x6E7F_1EFF)
                writer.seal(agent.credentials.password)
            }
            var answers: [Sent] = []
            let received = bytes.withUnsafeBytes {
                agent.receive($0, from: from, to: IPAddress("192.168.1.2")!, at: .seconds(at)) {
                    answers.append(Sent(bytes: Array($0), from: $1, to: $2))
                }
            }
            sent += answers
            return received
        }

        mutating func tick(at: Double) {
            var checks: [Sent] = []
            agent.tick(at: .seconds(at)) { checks.append(Sent(bytes: Array($0), from: $1, to: $2)) }
            sent += checks
        }
    }

    @Test func `a check is answered with the sender's address, integrity and fingerprint`() throws {
        var rig = Rig()
        #expect(rig.check(from: browser, at: 1) == .check)
        let answer = try #require(rig.sent.first)
        #expect(rig.sent.count == 1 && answer.from == local && answer.to == browser)
        let contents = try STUNContents(answer.bytes)
        #expect(contents.messageClass == .success && contents.id == STUNTransactionID(high: 7, low: 1))
        #expect(contents.xorMapped == browser && contents.hasFingerprint)
        #expect(isAuthentic(answer.bytes, key: Array(rig.agent.credentials.password.utf8)))
    }

    @Test func `only a nominated address is used for media`() {
        var rig = Rig()
        _ = rig.check(from: browser, at: 1, use: false)
        #expect(rig.agent.mediaPair == nil && rig.agent.trusts(browser, at: .seconds(1)))
        _ = rig.check(from: browser, at: 1.1)
        #expect(rig.agent.state == .connected(ICEPair(local: local, remote: browser), since: .seconds(1.1)))
        #expect(rig.agent.mediaPair == ICEPair(local: local, remote: browser))
    }

    @Test func `a browser that changes networks is followed when it nominates again`() {
        var rig = Rig()
        _ = rig.check(from: browser, at: 1)
        let other = SocketAddress(IPAddress("192.168.1.77")!, port: 40_000)
        _ = rig.check(from: other, at: 2, use: false)
        #expect(rig.agent.mediaPair?.remote == browser)
        _ = rig.check(from: other, at: 2.1)
        #expect(rig.agent.mediaPair?.remote == other)
    }

    @Test func `a lite agent keeps answering, and never sends on its own`() {
        var rig = Rig()
        for n in 0..<1_000 {
            #expect(rig.check(from: browser, at: 1 + 2.5 * Double(n)) == .check)
            rig.tick(at: 2 + 2.5 * Double(n))
        }
        #expect(rig.sent.count == 1_000 && rig.agent.pairs.count == 1)
        guard case .connected(_, let since) = rig.agent.state else {
            Issue.record("not connected")
            return
        }
        #expect(since == .seconds(1), "it never was anything else")
    }

    @Test func `a silent browser is disconnected, loses its consent and can return`() {
        var rig = Rig()
        _ = rig.check(from: browser, at: 1)
        #expect(rig.agent.nextDeadline == .seconds(4))
        rig.tick(at: 4)
        #expect(rig.agent.state == .disconnected(since: .seconds(1)) && rig.agent.mediaPair != nil)
        #expect(rig.agent.nextDeadline == .seconds(31))
        rig.tick(at: 31)
        #expect(rig.agent.state == .consentExpired(since: .seconds(31)) && rig.agent.mediaPair == nil)
        #expect(rig.agent.nextDeadline == nil)
        _ = rig.check(from: browser, at: 100)
        #expect(rig.agent.state == .connected(ICEPair(local: local, remote: browser), since: .seconds(100)))
    }

    @Test func `media keeps the connection alive but does not renew consent`() {
        var rig = Rig()
        _ = rig.check(from: browser, at: 1)
        for n in 1..<3_000 { rig.agent.heard(from: browser, to: local, at: .seconds(1 + 0.01 * Double(n))) }
        rig.tick(at: 30.99)
        #expect(rig.agent.mediaPair != nil && rig.agent.nextDeadline == .seconds(31))
        guard case .connected = rig.agent.state else {
            Issue.record("not connected")
            return
        }
        rig.tick(at: 31)
        #expect(rig.agent.state == .consentExpired(since: .seconds(31)))
    }

    @Test func `a check replayed from another address does not move the connection`() {
        var rig = Rig()
        _ = rig.check(from: browser, at: 1, id: 1)
        #expect(
            rig.check(from: SocketAddress(IPAddress("192.168.1.66")!, port: 1), at: 2, id: 1) == .ignored(.replayed))
        #expect(rig.agent.mediaPair?.remote == browser && rig.sent.count == 1)
        #expect(rig.check(from: browser, at: 3, id: 1) == .check, "a retransmission is answered")
    }

    @Test func `a role conflict is reported to an agent that considers itself controlled`() throws {
        var rig = Rig()
        let result = rig.check(from: browser, at: 1) { $0.addControlled(tieBreaker: 0) }
        #expect(result == .ignored(.roleConflict) && rig.agent.mediaPair == nil && rig.agent.role == .controlled)
        #expect(try STUNContents(#require(rig.sent.first).bytes).errorCode == 487)
    }

    @Test func `a full agent and a lite agent connect`() {
        let network = ICENetwork(seed: 3)
        let a = network.add(.controlling, ["10.0.0.1"])
        let b = network.add(.controlled, ["10.0.0.2"], mode: .lite)
        network.notify(a, of: b)
        network.notify(b, of: a)
        network.path = { _, _ in .init(delay: 0.01, jitter: 0.01, loss: 0.1) }
        network.run(60)
        #expect(network.areConnected)
        let requests = network.record.filter { (try? STUNContents($0.bytes))?.messageClass == .request }
        #expect(requests.allSatisfy { $0.from.address == IPAddress("10.0.0.1")! })
        network.move(a, to: ["10.0.0.7"])
        #expect(network.run(until: { $0.areConnected("10.0.0.7", "10.0.0.2") }, within: 1) != nil)
    }
}
