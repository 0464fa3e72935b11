// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import TestTraits
import Testing

@testable import EarshotMediaTransport

/// Datagrams of strangers and of a hostile peer.
@Suite struct DTLSHostileTests {
    private func established() throws -> DTLSTrial {
        let trial = try DTLSTrial()
        try #require(trial.establish())
        return trial
    }

    /// Expects messages in both directions.
    private func requireAlive(_ trial: DTLSTrial) throws {
        let before = (trial.client.messages.count, trial.server.messages.count)
        try trial.client.send([1, 2, 3])
        try trial.server.send([4, 5, 6])
        trial.run(seconds: 1)
        #expect(trial.client.messages.count == before.0 + 1 && trial.server.messages.count == before.1 + 1)
        #expect(trial.client.messages.last == [4, 5, 6] && trial.server.messages.last == [1, 2, 3])
    }

    /// Returns handshake messages, messages and the end of another session, and of this one.
    private func material(_ trial: DTLSTrial) throws -> [[UInt8]] {
        let other = try established()
        for n in 0..<5 {
            try other.client.send([UInt8](repeating: 1, count: 100 * n + 1))
            try trial.client.send([UInt8](repeating: 1, count: 100 * n + 1))
        }
        other.run(seconds: 1)
        trial.run(seconds: 1)
        other.client.close()
        other.run(seconds: 1)
        return (trial.log + other.log).map(\.datagram)
    }

    @Test func `garbage, fragments and modified datagrams do not disturb an established session`() throws {
        let trial = try established()
        let material = try material(trial)
        let received = trial.client.messages.count + trial.server.messages.count
        var random = SeededRandom(seed: 3)
        for n in 0..<20_000 {
            var datagram = mutated(material[n % material.count], &random)
            if n.isMultiple(of: 5) { datagram += material[random.below(material.count)] }
            trial.client.take(datagram, at: trial.now)
            trial.server.take(datagram, at: trial.now)
        }
        #expect(
            trial.client.messages.count + trial.server.messages.count == received, "nothing was taken for a message")
        try requireAlive(trial)
    }

    /// Returns noise, noise after the header of a record, and the beginnings of records.
    private func noise(_ material: [[UInt8]], _ random: inout SeededRandom) -> [UInt8] {
        let bytes = (0..<random.below(200)).map { _ in UInt8(random.below(256)) }
        switch random.below(3) {
        case 0: return bytes
        case 1:
            let sequence = (0..<6).map { _ in UInt8(random.below(256)) }
            let epoch = UInt8(random.below(3))
            return [UInt8(20 + random.below(4)), 0xFE, 0xFD, 0, epoch] + sequence + [0, UInt8(bytes.count)] + bytes
        default:
            let datagram = material[random.below(material.count)]
            let first = 13 + Int(datagram[11]) << 8 + Int(datagram[12])
            return Array(datagram.prefix(random.below(min(first, datagram.count))))
        }
    }

    @Test func `noise during the handshake does not prevent it`() throws {
        let material = try material(established())
        var random = SeededRandom(seed: 4)
        for seed in UInt64(0)..<50 {
            let trial = try DTLSTrial(Weather(delay: 0.001...0.05), seed: seed)
            trial.start()
            for _ in 0..<200 where trial.client.profile == nil || trial.server.profile == nil {
                for _ in 0..<10 {
                    trial.client.take(noise(material, &random), at: trial.now)
                    trial.server.take(noise(material, &random), at: trial.now)
                }
                trial.run(seconds: 0.005)
            }
            #expect(trial.client.profile != nil && trial.server.profile != nil, "seed \(seed)")
            try requireAlive(trial)
        }
    }

    /// They may end a handshake, which then starts again; they must not end anything else.
    @Test func `forged handshake messages neither crash nor establish a session`() throws {
        let material = try material(established())
        var random = SeededRandom(seed: 5)
        var failures = 0
        for seed in UInt64(0)..<60 {
            let trial = try DTLSTrial(seed: seed)
            trial.start()
            for n in 0..<100 {
                trial.client.take(mutated(material[random.below(material.count)], &random), at: trial.now)
                trial.server.take(mutated(material[n % material.count], &random), at: trial.now)
            }
            #expect(trial.client.profile == nil && trial.server.profile == nil)
            for end in [trial.client, trial.server] {
                if case .failed(let error) = end.session.state {
                    failures += 1
                    #expect(!"\(error)".isEmpty)
                }
            }
            #expect(trial.client.sent.count + trial.server.sent.count < 100)
        }
        #expect(failures > 0)
    }

    @Test func `replayed datagrams in any order have no effect`() throws {
        let trial = try established()
        for n in 0..<20 { try trial.client.send([UInt8(n)]) }
        trial.run(seconds: 1)
        let received = trial.server.messages
        #expect(received.count == 20)
        for datagrams in [trial.log, trial.log.reversed(), trial.log + trial.log] {
            for (toServer, datagram) in datagrams {
                (toServer ? trial.server : trial.client).take(datagram, at: trial.now)
            }
        }
        #expect(trial.server.messages == received && trial.client.messages.isEmpty)
        try requireAlive(trial)
    }

    @Test func `reflected datagrams have no effect`() throws {
        let trial = try established()
        for n in 0..<20 { try trial.client.send([UInt8(n)]) }
        trial.run(seconds: 1)
        let received = trial.server.messages
        for (toServer, datagram) in trial.log {
            (toServer ? trial.client : trial.server).take(datagram, at: trial.now)
        }
        #expect(trial.server.messages == received && trial.client.messages.isEmpty)
        try requireAlive(trial)
    }

    @Test func `records too short to be encrypted end neither a session nor a handshake`() throws {
        let trial = try established()
        let handshake = try DTLSTrial()
        handshake.start()
        for kind: UInt8 in 20...23 {
            for size in 0..<40 {
                let header: [UInt8] = [kind, 0xFE, 0xFD, 0, 1, 0, 0, 0, 9, kind, UInt8(size), 0, UInt8(size)]
                for end in [trial.client, trial.server, handshake.client, handshake.server] {
                    end.take(header + [UInt8](repeating: 5, count: size), at: trial.now)
                }
            }
        }
        try requireAlive(trial)
        handshake.run(seconds: 5) { $0.client.profile != nil && $0.server.profile != nil }
        try requireAlive(handshake)
    }

    @Test(.separate) func `a flood of ClientHello messages costs neither memory nor the session`() throws {
        let hello = try #require(
            {
                let trial = try DTLSTrial()
                trial.client.start(at: trial.now)
                return trial.client.takeSent().first
            }())
        var random = SeededRandom(seed: 5)
        func flood(_ end: DTLSEnd, at now: HostTime, count: Int) -> Int {
            var answered = 0
            for n in 0..<count {
                var forged = hello
                for at in 27..<59 { forged[at] = UInt8(random.below(256)) }  // the client's random
                forged[9] = UInt8(n >> 8 & 255)
                forged[10] = UInt8(n & 255)
                end.take(forged, at: now)
                answered += end.takeSent().count
            }
            return answered
        }
        let open = try established()
        let waiting = try DTLSTrial()
        waiting.server.start(at: waiting.now)
        _ = flood(waiting.server, at: waiting.now, count: 1_000)
        _ = flood(open.server, at: open.now, count: 1_000)
        let before = ProcessFootprint.now().anonymousBytes
        #expect(flood(waiting.server, at: waiting.now, count: 30_000) < 20)
        #expect(flood(open.server, at: open.now, count: 30_000) == 0)
        #expect(ProcessFootprint.keepsFreed || ProcessFootprint.now().anonymousBytes - before < 4 << 20)
        try requireAlive(open)
    }

    @Test(.separate) func `memory stays bounded under a flood of encrypted-looking records before there are keys`()
        throws
    {
        let trial = try DTLSTrial()
        trial.server.start(at: trial.now)
        var random = SeededRandom(seed: 6)
        func flood(_ count: Int) {
            for n in 0..<count {
                let sequence = [UInt8(n >> 16 & 255), UInt8(n >> 8 & 255), UInt8(n & 255)]
                let body = (0..<1_000).map { _ in UInt8(random.below(256)) }
                let kind: UInt8 = [22, 23, 21][n % 3]
                let header: [UInt8] = [kind, 0xFE, 0xFD, 0, 1, 0, 0, 0] + sequence + [3, 232]
                trial.server.take(header + body, at: trial.now)
            }
        }
        flood(500)
        let before = ProcessFootprint.now().anonymousBytes
        flood(10_000)
        #expect(ProcessFootprint.keepsFreed || ProcessFootprint.now().anonymousBytes - before < 4 << 20)
        #expect(trial.server.session.state == .handshaking)
    }

    private static func alertInClear(_ level: UInt8, _ description: UInt8) -> [UInt8] {
        [21, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 1, 0, 0, 2, level, description]
    }

    @Test func `unencrypted alerts end neither a session nor a handshake in progress`() throws {
        let trial = try established()
        for description in UInt8(0)...120 {
            for level in UInt8(1)...2 {
                trial.client.take(Self.alertInClear(level, description), at: trial.now)
                trial.server.take(Self.alertInClear(level, description), at: trial.now)
            }
        }
        try requireAlive(trial)

        let handshake = try DTLSTrial(Weather(delay: 0.1...0.1))
        handshake.start()
        while handshake.client.profile == nil || handshake.server.profile == nil, handshake.elapsed < 5 {
            handshake.client.take(Self.alertInClear(2, 40), at: handshake.now)
            handshake.server.take(Self.alertInClear(2, 40), at: handshake.now)
            handshake.run(seconds: 0.05)
        }
        try requireAlive(handshake)
    }

    @Test func `an unencrypted alert is accepted if no other record follows for 2 s`() throws {
        let trial = try DTLSTrial(Weather(loss: 1))
        trial.start()
        trial.run(seconds: 1)
        trial.client.take(Self.alertInClear(2, 40), at: trial.now)
        trial.run(seconds: 1.9)
        #expect(trial.client.session.state == .handshaking)
        trial.run(seconds: 0.2)
        #expect(trial.client.session.state == .failed(.timedOut(DTLSAlert(rawValue: 40))))
        #expect("\(DTLSError.timedOut(DTLSAlert(rawValue: 40)))".contains("handshake failure"))
        #expect(trial.server.session.state == .handshaking)
    }

    @Test func `a client rejects a server certificate that differs from the announced one`() throws {
        let (anna, bert) = (try Peers.anna.get(), try Peers.bert.get())
        let impostor = try Identity.generate(at: today)
        let client = try DTLSEnd(.client, anna, peer: bert.certificateFingerprint)
        let server = try DTLSEnd(.server, impostor, peer: anna.certificateFingerprint)
        play(client, server)
        #expect(
            client.session.state
                == .failed(
                    .certificateMismatch(
                        expected: bert.certificateFingerprint, received: impostor.certificateFingerprint)))
        #expect(client.session.peerKey == nil && client.keys.isEmpty)
        #expect(server.session.state == .failed(.timedOut(DTLSAlert(rawValue: 42))))  // bad_certificate
    }

    @Test func `a server rejects a client certificate that differs from the announced one`() throws {
        let (anna, bert) = (try Peers.anna.get(), try Peers.bert.get())
        let impostor = try Identity.generate(at: today)
        let client = try DTLSEnd(.client, impostor, peer: bert.certificateFingerprint)
        let server = try DTLSEnd(.server, bert, peer: anna.certificateFingerprint)
        play(client, server)
        #expect(
            server.session.state
                == .failed(
                    .certificateMismatch(
                        expected: anna.certificateFingerprint, received: impostor.certificateFingerprint)))
        #expect(server.session.peerKey == nil && server.keys.isEmpty)
        #expect(client.session.state == .failed(.timedOut(DTLSAlert(rawValue: 42))))
        #expect(client.session.peerKey == nil)
    }

    @Test func `a client rejects a different certificate for the same key`() throws {
        let (anna, bert) = (try Peers.anna.get(), try Peers.bert.get())
        let client = try DTLSEnd(.client, anna, peer: bert.certificateFingerprint)
        let server = try DTLSEnd(.server, bert.reissued(at: today), peer: anna.certificateFingerprint)
        play(client, server)
        guard case .failed(.certificateMismatch) = client.session.state else {
            Issue.record("\(client.session.state)")
            return
        }
    }

    /// Passes datagrams on every millisecond until both sides have finished.
    private func play(_ client: DTLSEnd, _ server: DTLSEnd) {
        var now = HostTime(nanoseconds: 0)
        client.start(at: now)
        for _ in 0..<12_000 {
            for datagram in client.takeSent() { server.take(datagram, at: now) }
            for datagram in server.takeSent() { client.take(datagram, at: now) }
            now = now.advanced(bySeconds: 0.001)
            client.tick(at: now)
            server.tick(at: now)
        }
    }

    @Test func `two clients or two servers time out`() throws {
        for role in DTLSRole.allCases {
            let (anna, bert) = (try Peers.anna.get(), try Peers.bert.get())
            let a = try DTLSEnd(role, anna, peer: bert.certificateFingerprint)
            let b = try DTLSEnd(role, bert, peer: anna.certificateFingerprint)
            b.start(at: HostTime(nanoseconds: 0))
            play(a, b)
            #expect(a.session.state == .failed(.timedOut(nil)) && b.session.state == .failed(.timedOut(nil)))
        }
    }
}
