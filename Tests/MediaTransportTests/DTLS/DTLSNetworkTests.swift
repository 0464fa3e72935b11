// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import Testing

@testable import EarshotMediaTransport

/// Handshakes and messages over networks that lose, duplicate, delay and reorder, from seeds.
@Suite struct DTLSNetworkTests {
    /// Bad, but good enough for a handshake.
    private func weather(_ seed: UInt64) -> Weather {
        var random = SeededRandom(seed: seed &* 77)
        var weather = Weather(
            loss: random.unit() * 0.25, duplication: random.unit() * 0.3,
            delay: 0.000_2...(0.000_3 + random.unit() * 0.08))
        if seed.isMultiple(of: 3) {
            let start = random.unit() * 0.2
            weather.cut = start..<start + random.unit() * 3
        }
        return weather
    }

    @Test func `a hundred handshakes succeed despite loss and reordering`() throws {
        for seed in UInt64(0)..<100 {
            let certificates = seed.isMultiple(of: 2) ? (Peers.anna, Peers.stout) : (Peers.stout, Peers.bert)
            let trial = try DTLSTrial(
                weather(seed), seed: seed, client: certificates.0.get(), server: certificates.1.get())
            #expect(trial.establish(), "seed \(seed): \(trial.client.session.state), \(trial.server.session.state)")
            #expect(trial.client.keys == trial.server.keys, "seed \(seed)")
            try exchange(trial, seed)
        }
    }

    /// Expects that each message arrives at most once, and that most of them arrive.
    private func exchange(_ trial: DTLSTrial, _ seed: UInt64) throws {
        trial.run(seconds: 4)  // until no cut is left
        let sent = (0..<50).map { n in [UInt8](repeating: UInt8(n), count: 1 + n * 20) }
        for message in sent {
            try trial.client.send(message)
            try trial.server.send(message)
            trial.run(seconds: 0.01)
        }
        trial.run(seconds: 5)
        for end in [trial.client, trial.server] {
            #expect(Set(end.messages).count == end.messages.count, "seed \(seed): twice")
            #expect(Set(end.messages).isSubset(of: sent), "seed \(seed): not what was sent")
            #expect(end.messages.count >= 20, "seed \(seed)")
            #expect(end.profile != nil, "seed \(seed)")
        }
    }

    @Test func `a handshake times out with an error if datagrams over 600 bytes are dropped`() throws {
        let trial = try DTLSTrial(Weather(maximumSize: 600), client: Peers.stout.get(), server: Peers.stout.get())
        #expect(!trial.establish())
        #expect(trial.client.session.state == .failed(.timedOut(nil)))
        #expect(trial.server.session.state == .failed(.timedOut(nil)))
        #expect(trial.log.count < 200)
    }

    @Test(arguments: [1.0, 4, 8])
    func `a handshake survives an outage of up to 8 s`(seconds: Double) throws {
        let trial = try DTLSTrial(Weather(delay: 0.01...0.01, cut: 0.015..<seconds))
        #expect(trial.establish() && trial.elapsed > seconds && trial.elapsed < seconds + 1.1)
    }

    @Test func `an outage of more than 10 s fails the handshake on both sides`() throws {
        let trial = try DTLSTrial(Weather(delay: 0.01...0.01, cut: 0.015..<20))
        #expect(!trial.establish())
        #expect(trial.client.session.state == .failed(.timedOut(nil)))
        #expect(trial.server.session.state == .failed(.timedOut(nil)))
    }

    @Test func `the server's last flight is retransmitted when it was lost`() throws {
        let trial = try DTLSTrial()
        trial.start()
        trial.run(seconds: 5) { $0.server.profile != nil }
        #expect(!trial.server.takeSent().isEmpty, "and lost")
        trial.run(seconds: 2) { $0.client.profile != nil }
        #expect(trial.client.keys == trial.server.keys && !trial.client.keys.isEmpty)
    }
}
