// SPDX-License-Identifier: Apache-2.0

import TestSupport
import TestTraits
import Testing

@testable import EarshotPlayout

/// Lossless lines with the delay setting `sing`: how the positions of packets and blocks reduce the delay.
@Suite(.optimized) struct PlayoutGridTests {
    /// Returns the maximum that a playout must hold in seconds: a block, half the resampler's filter and the least margin.
    private func most(_ block: Int) -> Double { (Double(block) + 16.5) / 48_000 + 0.0002 }

    private func run(
        _ block: Int, ppm: Double = 0, phase: Double = 0, seconds: Double, latencyProfile: LatencyProfile = .sing
    ) throws -> (late: Int, mean: Double, most: Double, off: Double) {
        var rig = PlayoutRig(
            configuration: .pcm(frames: block, latencyProfile: latencyProfile), block: block, seconds: seconds,
            senderPPM: ppm)
        rig.says = tabled()
        rig.keepsOutput = false
        rig.historyInterval = 0.1
        rig.delay = { _, _ in 0.001 + phase }
        let r = try rig.run()
        let settled = r.history.filter { $0.time > 30 }
        let delays = settled.map(\.statistics.delay)
        let off = settled.map { abs($0.statistics.depth - $0.statistics.targetDepth) }.max() ?? 1
        let late = r.since(15, \.missingPackets) + r.since(15, \.latePackets) + r.since(15, \.concealedFrames)
        return (late, delays.reduce(0, +) / Double(delays.count), delays.max() ?? 1, off)
    }

    @Test(arguments: [64, 128]) func `the delay of a lossless line is on average a third of a block below its maximum`(
        block: Int
    ) throws {
        var delays: [Double] = []
        for phase in 0..<12 {
            let r = try run(block, phase: Double(phase) / 12 * Double(block) / 48_000, seconds: 45)
            #expect(r.late == 0, "phase \(phase)")
            #expect(r.most < most(block) + 0.000_06, "phase \(phase): \(r.most * 1e3) ms")
            delays.append(r.mean)
        }
        let mean = delays.reduce(0, +) / 12
        if printsFigures {
            let all = delays.map { ($0 * 1e5).rounded() / 100 }
            print("clean line figure: \(block) frames: \(all), mean \(mean * 1e3) ms, once \(most(block) * 1e3)")
        }
        #expect(most(block) - mean > 0.35 * Double(block) / 48_000)
    }

    @Test(arguments: [64, 128], [-300.0, -100, -20, -5, 5, 20, 100, 300])
    func `drift causes no late packet and no more delay than without drift`(block: Int, ppm: Double) throws {
        let r = try run(block, ppm: ppm, seconds: 150)
        if printsFigures {
            print(
                "clean line figure: \(block) frames, \(ppm) ppm: mean \(r.mean * 1e3) ms, most \(r.most * 1e3),",
                "late \(r.late), off \(r.off * 1e3)")
        }
        #expect(r.late == 0)
        #expect(r.most < most(block) + 0.000_1, "\(r.most * 1e3) ms")
        if abs(ppm) == 20 || abs(ppm) == 100 { #expect(most(block) - r.mean > 0.1 * Double(block) / 48_000) }
        // A quarter of a millisecond, of which a third remains after two seconds, is 0.2 cents.
        #expect(r.off < 0.000_25, "\(r.off * 1e3) ms")
    }

    @Test func `a lost packet causes no more concealment than its own frames`() throws {
        var rig = PlayoutRig(configuration: .pcm(frames: 64, latencyProfile: .sing), block: 64, seconds: 60)
        rig.delay = { s, _ in s % 500 == 499 ? nil : 0.0013 }
        rig.says = tabled()
        let r = try rig.run()
        let lost = r.lost.count { $0 > 15 }
        #expect(abs(r.since(15, \.missingPackets) - lost) <= 1 && r.since(15, \.latePackets) == 0)
        #expect(abs(r.since(15, \.concealedFrames) - 64 * lost) <= 8 * lost)
    }

    @Test func `the talk profile keeps the delay that suffices for any phase`() throws {
        let r = try run(64, phase: 0.0009, seconds: 40, latencyProfile: .talk)
        #expect(abs(r.mean - (most(64) + 0.0003)) < 0.000_05, "\(r.mean * 1e3)")
    }

    @Test func `a low-latency profile has a smaller margin if packets are hardly late`() {
        #expect(abs(LatencyProfile.sing.margin(tail: 0, most: 0.0005) - 0.0002) < 1e-12)
        #expect(abs(LatencyProfile.sing.margin(tail: 0.0001, most: 0.0005) - 0.0003) < 1e-12)
        #expect(LatencyProfile.sing.margin(tail: 0.004, most: 0.0005) == 0.0005)
        #expect(LatencyProfile.talk.margin(tail: 0, most: 0.0005) == 0.0005)
        #expect(LatencyProfile.listen.margin(tail: 0, most: 0.0005) == 0.0005)
    }
}
