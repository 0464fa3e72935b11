// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL
import Dispatch
import EarshotAudioBase
import Glibc
import TestSupport
import TestTraits
import Testing

@testable import EarshotMediaTransport

@Suite struct DTLSSessionTests {
    @Test func `two peers derive the same keys, and each learns the other's public key`() throws {
        let trial = try DTLSTrial()
        #expect(trial.client.session.state == .new && trial.client.session.peerKey == nil)
        #expect(trial.establish())
        #expect(trial.client.profile == .aeadAES128GCM && trial.server.profile == .aeadAES128GCM)
        #expect(try trial.client.session.peerKey == Peers.bert.get().publicKey)
        #expect(try trial.server.session.peerKey == Peers.anna.get().publicKey)
        #expect(trial.client.keys == trial.server.keys && trial.client.keys.count == 2)
        #expect(Set(trial.client.keys).count == 2 && trial.client.keys.allSatisfy { $0.count == 28 })
        #expect(trial.elapsed < 0.0045, "two round trips of 2 ms, and no wait")
        #expect(trial.client.session.nextDeadline == nil && trial.server.session.nextDeadline == nil)
        #expect(try DTLSTrial().client.keys.isEmpty)
    }

    @Test func `no two sessions have the same keys`() throws {
        let trials = try (0..<5).map { _ in try DTLSTrial() }
        #expect(trials.allSatisfy { $0.establish() })
        #expect(Set(trials.flatMap(\.client.keys)).count == 10)
    }

    @Test func `no datagram is larger than 1,200 bytes, even with a large certificate`() throws {
        let trial = try DTLSTrial(client: Peers.stout.get(), server: Peers.stout.get())
        #expect(try Peers.stout.get().certificateDER.count > 3_000)
        #expect(trial.establish())
        #expect(trial.log.count > 6 && trial.log.allSatisfy { $0.datagram.count <= 1_200 })
        #expect(trial.log.contains { $0.datagram.count > 1_100 }, "and room is used")
        for (_, datagram) in trial.log {
            datagram.withUnsafeBytes { bytes in
                var at = 0
                while let record = DTLSRecord(bytes.bytes, at: at) { at = record.bytes.upperBound }
                #expect(at == bytes.count, "whole records")
            }
        }
    }

    @Test(arguments: [(false, false), (true, true), (true, false), (false, true)])
    func `AEAD is chosen whether or not either side allows counter mode`(modes: (Bool, Bool)) throws {
        let trial = try DTLSTrial(counterModes: modes)
        #expect(trial.establish() && trial.client.profile == .aeadAES128GCM)
    }

    @Test func `messages of 1 to 1,100 bytes arrive complete in both directions`() throws {
        let trial = try DTLSTrial()
        #expect(trial.establish())
        let sizes = [1, 2, 500, 1_099, 1_100]
        for size in sizes {
            try trial.client.send([UInt8](repeating: UInt8(size % 251), count: size))
            try trial.server.send([UInt8](repeating: UInt8(size % 13), count: size))
        }
        trial.run(seconds: 1)
        #expect(trial.server.messages == sizes.map { [UInt8](repeating: UInt8($0 % 251), count: $0) })
        #expect(trial.client.messages == sizes.map { [UInt8](repeating: UInt8($0 % 13), count: $0) })
        #expect(trial.log.allSatisfy { $0.datagram.count <= 1_200 })
        for size in [0, 1_101, 70_000] {
            #expect(throws: DTLSError.messageSize(size)) {
                try trial.client.send([UInt8](repeating: 0, count: size))
            }
        }
    }

    @Test func `sending a message before the session is established is an error`() throws {
        let trial = try DTLSTrial()
        #expect(throws: DTLSError.notEstablished) { try trial.client.send([1]) }
        trial.start()
        #expect(throws: DTLSError.notEstablished) { try trial.client.send([1]) }
        #expect(trial.client.keys.isEmpty)
    }

    @Test func `a message that overtakes the end of the handshake is delivered`() throws {
        let trial = try DTLSTrial()
        trial.start()
        trial.run(seconds: 5) { $0.server.profile != nil }
        #expect(trial.client.profile == nil)
        var late = trial.server.takeSent()
        try trial.server.send([7, 7])
        late = trial.server.takeSent() + late
        for datagram in late { trial.client.take(datagram, at: trial.now) }
        #expect(trial.client.profile != nil && trial.client.messages == [[7, 7]])
    }

    @Test func `closing notifies the peer, and afterwards no message is sent or read`() throws {
        let trial = try DTLSTrial()
        #expect(trial.establish())
        try trial.server.send([1])
        let onItsWay = trial.server.takeSent()
        trial.client.close()
        #expect(trial.client.session.state == .closed && trial.client.sent.count == 1)
        trial.run(seconds: 1)
        #expect(trial.server.session.state == .closed)
        for datagram in onItsWay + trial.log.map(\.datagram) {
            trial.client.take(datagram, at: trial.now)
            trial.server.take(datagram, at: trial.now)
        }
        trial.client.tick(at: trial.now)
        trial.client.close()
        trial.client.start(at: trial.now)
        #expect(trial.client.sent.isEmpty && trial.server.sent.isEmpty)
        #expect(trial.client.messages.isEmpty && trial.server.messages.isEmpty)
        #expect(throws: DTLSError.notEstablished) { try trial.client.send([1]) }
        #expect(throws: DTLSError.notEstablished) { try trial.server.send([1]) }
        #expect(trial.client.keys.isEmpty && trial.client.session.peerKey == nil)
    }

    @Test func `closing during the handshake sends no datagram`() throws {
        let trial = try DTLSTrial()
        trial.start()
        trial.client.close()
        #expect(trial.client.takeSent().isEmpty && trial.client.session.state == .closed)
        trial.run(seconds: 12)
        #expect(trial.server.session.state == .failed(.timedOut(nil)))
    }

    @Test func `a server waits for the client's first datagram`() throws {
        let trial = try DTLSTrial()
        trial.client.start(at: trial.now)
        for datagram in trial.client.takeSent() { trial.server.take(datagram, at: trial.now) }
        #expect(trial.server.session.state == .handshaking && !trial.server.sent.isEmpty)
        let early = try DTLSTrial()
        early.client.take([UInt8](repeating: 22, count: 60), at: early.now)
        #expect(early.client.session.state == .new && early.client.sent.isEmpty)
    }

    @Test func `a ClientHello split over two datagrams is reassembled`() throws {
        let trial = try DTLSTrial()
        trial.client.start(at: trial.now)
        let hello = try #require(trial.client.takeSent().first)
        for datagram in fragments(of: hello, at: 60) { trial.server.take(datagram, at: trial.now) }
        #expect(trial.server.sent.count >= 1)
        trial.run(seconds: 3) { $0.client.profile != nil && $0.server.profile != nil }
        #expect(trial.client.keys == trial.server.keys && trial.client.profile != nil)
    }

    /// Cuts a datagram's handshake message in two (RFC 6347, 4.2.3); the second part comes first.
    private func fragments(of datagram: [UInt8], at cut: Int) -> [[UInt8]] {
        let header = Array(datagram[13..<25])
        let body = Array(datagram[25...])
        func fragment(_ range: Range<Int>, _ sequence: UInt8) -> [UInt8] {
            let size = 12 + range.count
            var record = Array(datagram[..<10]) + [sequence, UInt8(size >> 8), UInt8(size & 255)]
            record += Array(header[..<6]) + [0, UInt8(range.lowerBound >> 8), UInt8(range.lowerBound & 255)]
            return record + [0, UInt8(range.count >> 8), UInt8(range.count & 255)] + Array(body[range])
        }
        return [fragment(cut..<body.count, 1), fragment(0..<cut, 2)]
    }
}

@Suite struct DTLSTimeTests {
    @Test func `an unanswered flight is retransmitted after 50 ms, then with backoff for 10 s`() throws {
        let trial = try DTLSTrial(Weather(loss: 1))
        trial.client.start(at: trial.now)
        #expect(trial.client.session.nextDeadline == trial.now.advanced(bySeconds: 0.05))
        var times: [Int] = []
        while trial.client.session.state == .handshaking {
            let before = trial.log.count
            trial.run(seconds: 0.05)
            for _ in before..<trial.log.count { times.append(Int((trial.elapsed * 1_000).rounded())) }
        }
        #expect(times == [50, 50, 150, 350, 750, 1_550, 2_550, 3_550, 4_550, 5_550, 6_550, 7_550, 8_550])
        #expect(trial.client.session.state == .failed(.timedOut(nil)))
        #expect(abs(trial.elapsed - 10) < 0.06)
        #expect(trial.client.session.nextDeadline == nil)
    }

    @Test func `the system clock has no influence on retransmissions`() throws {
        let trial = try DTLSTrial()
        trial.client.start(at: trial.now)
        let hello = trial.client.takeSent()
        usleep(120_000)
        trial.client.take([UInt8](repeating: 9, count: 40), at: trial.now)
        trial.client.tick(at: trial.now)
        #expect(trial.client.takeSent().isEmpty)
        for datagram in hello { trial.server.take(datagram, at: trial.now) }
        let flight = trial.server.takeSent()
        usleep(120_000)
        // It comes too early, so OpenSSL reads and drops it. That is no reason to send again while our clock is stopped.
        let change: [UInt8] = [20, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 40, 0, 1, 1]
        trial.client.take(change, at: trial.now)
        trial.server.take(change, at: trial.now)
        #expect(trial.client.takeSent().isEmpty && trial.server.takeSent().isEmpty)
        trial.client.tick(at: trial.now.advanced(bySeconds: 0.0501))
        trial.server.tick(at: trial.now.advanced(bySeconds: 0.0501))
        #expect(trial.client.takeSent().count == 1 && trial.server.takeSent().count >= flight.count)
    }

    @Test func `a tick that is too early or too late is harmless`() throws {
        let trial = try DTLSTrial()
        trial.client.start(at: trial.now)
        _ = trial.client.takeSent()
        for n in 0..<49 { trial.client.tick(at: trial.now.advanced(bySeconds: Double(n) / 1_000)) }
        #expect(trial.client.takeSent().isEmpty)
        trial.client.tick(at: trial.now.advanced(bySeconds: 5))
        #expect(trial.client.takeSent().count == 1)
        trial.client.tick(at: trial.now.advanced(bySeconds: 5_000))
        #expect(trial.client.session.state == .failed(.timedOut(nil)))
    }

    @Test func `a clock that goes backwards causes neither a hang nor a burst of retransmissions`() throws {
        let trial = try DTLSTrial()
        trial.client.start(at: trial.now)
        _ = trial.client.takeSent()
        for n in 0..<1_000 { trial.client.tick(at: HostTime(nanoseconds: 4_000_000_000 + Int64(n))) }
        #expect(trial.client.takeSent().isEmpty && trial.client.session.state == .handshaking)
    }
}

@Suite struct DTLSResourceTests {
    /// A complete session: a handshake, messages, keys, the end.
    private func life(_ seed: UInt64) throws {
        let trial = try DTLSTrial(Weather(loss: 0.1), seed: seed)
        try #require(trial.establish())
        try trial.client.send([1])
        #expect(trial.client.keys == trial.server.keys)
        if seed.isMultiple(of: 2) { trial.client.close() }
        trial.run(seconds: 0.1)
    }

    @Test(.separate) func `sessions and identities leak no memory`() throws {
        func lives(_ seeds: Range<UInt64>) throws {
            for seed in seeds {
                try life(seed)
                let identity = try Identity.generate(hostNames: ["a"], addresses: [.loopback], at: today)
                _ = try Identity(privateKeyPEM: identity.privateKeyPEM, certificatePEM: identity.certificatePEM)
                _ = try? Identity(privateKeyPEM: identity.certificatePEM, certificatePEM: "")
                _ = try? PublicKey(spki: Array(identity.publicKey.spki.dropLast()))
            }
        }
        try lives(0..<100)
        let before = ProcessFootprint.now().anonymousBytes
        try lives(100..<400)
        #expect(ProcessFootprint.keepsFreed || ProcessFootprint.now().anonymousBytes - before < 1 << 20)
    }

    @Test func `sessions on several threads do not disturb one another`() {
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for n in 0..<20 {
                do { try life(UInt64(thread * 100 + n)) } catch { Issue.record(error) }
            }
        }
    }

    @Test func `a timer copy passed by OpenSSL is not modified afterwards`() throws {
        let context = try DTLSContext.shared.get()
        let ssl = try #require(SSL_new(context))
        defer { SSL_free(ssl) }
        var timer = OpenSSLTimer()
        let copy = UnsafeMutablePointer<timeval>.allocate(capacity: 1)
        defer { copy.deallocate() }
        copy.initialize(to: timeval(tv_sec: 5, tv_usec: 0))
        timer.shown(copy)
        #expect(timer.isRunning && timer.flights == 1)
        timer.examine(ssl)
        copy.pointee = timeval(tv_sec: 77, tv_usec: 0)
        timer.expire()
        #expect(copy.pointee.tv_sec == 77)
        copy.pointee = timeval()
        timer.shown(copy)
        #expect(!timer.isRunning && copy.pointee.tv_sec == 0)
        #expect(
            [0, 50_000, 100_000, 900_000].map { OpenSSLTimer.interval(after: $0) } == [
                50_000, 100_000, 200_000, 1_000_000,
            ])
    }
}
