// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotCall
import EarshotMediaTransport
import TestSupport
import TestTraits
import Testing

@testable import EarshotSimulation

/// Traces in which packets constantly overtake each other, played with a fixed delay: exactly the packets are missed that the
/// trace makes unavoidable at that delay.
@Suite(.optimized) struct FixedDelayTraceTests {
    /// Returns the milliseconds of each packet, nil for lost ones: at least 10, at most `spread` more, independently, so that
    /// most packets overtake others; 2 % are lost.
    private func delays(spread: Double, count: Int, seed: UInt64) -> [Double?] {
        var random = SeededRandom(seed: seed)
        return (0..<count).map { n in
            let delay = 10 + spread * random.unit()
            // The minimum occurs early and often, so that the reference of the delay is known.
            return random.unit() < 0.02 ? nil : n % 50 == 0 ? 10 : (delay * 100).rounded() / 100
        }
    }

    struct Form: CustomTestStringConvertible, Sendable {
        let codec: Codec
        var milliseconds: Double?
        let block: Int
        var testDescription: String { "\(codec) \(milliseconds ?? 0) ms, blocks of \(block)" }
    }
    static let forms = [
        Form(codec: .pcm, block: 240), Form(codec: .opus, milliseconds: 20, block: 240),
        Form(codec: .opus, milliseconds: 10, block: 128), Form(codec: .opusCustom, block: 256),
    ]

    @Test(arguments: forms, [60.0, 80, 100, 120, 150])
    func `only packets later than the fixed delay, or lost, are missing`(form: Form, spread: Double) throws {
        for delay in [spread / 2, spread] {
            let trace = delays(spread: spread, count: 6_000, seed: UInt64(spread))
            var configuration = CallSimulation.Configuration()
            configuration.codec = form.codec
            configuration.opusFrameMilliseconds = form.milliseconds
            for n in 0..<2 { configuration.peers[n].blockFrameCount = form.block }
            configuration.network.trace = try NetworkTrace(
                trace.map { $0.map { "\($0)" } ?? "lost" }.joined(separator: "\n").utf8)
            configuration.startsEmpty = true
            var simulation = try CallSimulation(configuration)
            var random = SeededRandom(seed: 2)
            for (end, other) in [(0, 1), (1, 0)] {
                var agreed = try #require(simulation.negotiated[end][other])
                agreed.repair = RTPRepair()
                try simulation.peers[end].add(
                    PeerID(other), session: CallSimulation.session(agreed, &random), agreed)
                simulation.isIn[end] = true
            }
            let recording = try simulation.peers[0].record(depth: delay / 1_000)
            while simulation.elapsed < 20 {
                try simulation.run(until: simulation.elapsed + 0.5)
                while recording.read({ _, _, _ in }) != nil {}
            }
            let sent = simulation.links[1][0].counts.media
            #expect(sent < trace.count)
            let statistics = try #require(recording.statistics(of: PeerID(1)))
            let packet = simulation.peers[0].configuration.framesPerPacket
            // Under such jitter the drift's line is up to 300 ppm wrong at first, so that up to 6 ms less is held; and a packet
            // that blocks do not fill evenly leaves up to a block late.
            let gathered = packet % form.block == 0 ? 0 : Double(form.block) / 48
            let used = 10 + delay - 6 - gathered
            let unavoidable = trace[0..<sent].count { $0 == nil || $0! > used }
            // The difference of the clocks is corrected during concealment.
            let missed = Double(statistics.concealedFrames - statistics.insertedFrames) / Double(packet)
            #expect(missed <= Double(unavoidable), "\(missed) made up, \(unavoidable) unavoidable: \(statistics)")
            let beyond = trace[0..<sent].count { $0 == nil || $0! > 10 + delay + 3 }
            #expect(missed > 0.8 * Double(beyond) - 20, "which shows that the delay was no longer")
            #expect(abs(statistics.depth - delay / 1_000) < 0.002, "\(statistics.depth)")
            #expect(statistics.restarts == 0)
        }
    }
}
