// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotSimulation
import TestSupport
import Testing

@testable import EarshotCall

/// The monitor in complete calls on virtual time, with simulated cards and a network.
@Suite struct MonitoredCallTests {
    /// A call of two, at 64 frames, in which the host hears itself from the first to the third second.
    private func calls() throws -> (plain: CallSimulation, monitored: CallSimulation) {
        var setup = CallSetup()
        setup.blocks = (64, 64)
        setup.says = { frame, _ in 0.5 * speechLikeNoise(frame) }
        setup.guestSays = { frame, _ in sine(frame, frequency: 440, rate: 48_000, amplitude: 0.1) }
        var plain = try CallSimulation(setup)
        var monitored = try CallSimulation(setup)
        monitored.events = [
            (1, { $0.peers[0].processor.isMonitored = true }), (2, { $0.peers[0].processor.isMuted = true }),
            (3, { $0.peers[0].processor.isMonitored = false }), (3.5, { $0.peers[0].processor.isMuted = false }),
        ]
        plain.events = [
            (2, { $0.peers[0].processor.isMuted = true }), (3.5, { $0.peers[0].processor.isMuted = false }),
        ]
        try plain.run(until: 4)
        try monitored.run(until: 4)
        return (plain, monitored)
    }

    @Test func `the monitor adds nothing to the round trip of a device at 64 frames, and only the own voice`() throws {
        let (plain, monitored) = try calls()
        let host = monitored.peers[0]
        // From 1.25 to 2.75 s the host hears itself, also after it was muted at 2 s.
        let heard = host.heard(1.25..<2.75)
        let own = zip(heard.samples, plain.peers[0].heard(1.25..<2.75).samples).map { $0 - $1 }
        let spoken = host.spoken(1..<2.75)
        let shifts = (0..<480).filter { shift in
            zip(own, spoken.samples[(12_000 - shift)...]).allSatisfy { abs($0 - $1) < 1e-5 }
        }
        let shift = try #require(shifts.first, "the own voice is not heard")
        #expect(shifts.count == 1 && own.contains { abs($0) > 0.01 })
        let delay = heard.from.seconds(since: spoken.from) - Double(12_000 - shift) / 48_000
        let roundTrip = Double(2 * host.card.configuration.longestBlock) / 48_000
        #expect(abs(delay - roundTrip) < 1.5 / 48_000, "\(delay * 1e3) ms, the device alone \(roundTrip * 1e3)")
    }

    @Test func `the monitor changes nothing for others, and nothing before and after it`() throws {
        let (plain, monitored) = try calls()
        let isSame = monitored.peers[1].heard == plain.peers[1].heard
        #expect(isSame)
        let (before, after) = (0.0..<0.99, 3.05..<4.0)
        for seconds in [before, after] {
            let isUntouched = monitored.peers[0].heard(seconds).samples == plain.peers[0].heard(seconds).samples
            #expect(isUntouched, "\(seconds)")
        }
        #expect(monitored.peers[0].playout.statistics.concealedFrames == 0)
    }
}
