// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotDuet

/// A song whose device runs at another rate follows the group's time.
@Suite struct SongFollowerTests {
    @Test(arguments: [-200.0, -30, 0, 100, 200]) func `a song follows the group's time`(ppm: Double) {
        var follower = SongFollower()
        var (error, correction, worst, worstLater) = (0.05e-3, 0.0, 0.0, 0.0)
        // The measured rate is off by 5 ppm. A correction is heard 0.7 s later.
        let measured = (ppm + 5) * 1e-6
        var waiting = [Double](repeating: measured, count: 14)
        for turn in 0..<1_200 {
            let now = HostTime(nanoseconds: Int64(turn) * 50_000_000)
            let endError = error + 0.05 * waiting.reduce(0) { $0 + measured - $1 }
            correction = follower.correction(rate: measured, endError: endError, at: now) ?? correction
            waiting.append(correction)
            error += 0.05 * (ppm * 1e-6 - waiting.removeFirst())
            worst = max(worst, abs(error))
            if turn > 100 { worstLater = max(worstLater, abs(error)) }
        }
        print("song follower: \(ppm) ppm: worst \(worst * 1e6) µs, after 5 s \(worstLater * 1e6) µs")
        #expect(worst <= 51e-6 && worstLater < 8e-6)
    }

    @Test func `a large error is left to the next order, and no correction exceeds a thousandth`() {
        var follower = SongFollower()
        func correction(_ error: Double, _ seconds: Double, rate: Double = 0) -> Double? {
            let now = HostTime(nanoseconds: 0).advanced(bySeconds: seconds)
            return follower.correction(rate: rate, endError: error, at: now)
        }
        #expect([correction(3, 0), correction(0.04, 0), correction(-0.04, 0.1)] == [nil, 0.001, nil])
        #expect(correction(-0.04, 0.3) == -0.001)
        #expect(correction(0, 0.6, rate: 50e-6) == 50e-6)
    }
}

/// A device's rate is known from the times of its blocks.
@Suite struct DeviceRateTests {
    private static func block(_ index: Int, ppm: Double, jitter: Double = 0, skippedFrames: Int = 0) -> DeviceBlock {
        let frame = index * 128
        let seconds = Double(frame) / (48_000 * (1 + ppm * 1e-6)) + jitter
        return DeviceBlock(
            sampleTime: Int64(frame + skippedFrames), frameCount: 128,
            hostTime: HostTime(nanoseconds: 1_000_000_000).advanced(bySeconds: seconds), latency: 0)
    }

    @Test(arguments: [-150.0, 0, 40, 300]) func `the rate is known after a second`(ppm: Double) {
        var rate = DeviceRate(sampleRate: 48_000)
        for index in 0..<370 { rate.add(Self.block(index, ppm: ppm)) }
        #expect(rate.deviation == 0)
        for index in 370..<500 { rate.add(Self.block(index, ppm: ppm)) }
        #expect(abs(rate.deviation - ppm * 1e-6) < 0.1e-6)
        #expect(abs(rate.seconds(48_000) - 1 / (1 + ppm * 1e-6)) < 0.1e-6)
    }

    @Test func `times that jitter by 0.2 ms give the rate within 20 ppm after five seconds`() {
        var random = SeededRandom(seed: 1)
        var rate = DeviceRate(sampleRate: 48_000)
        for index in 0..<1_900 { rate.add(Self.block(index, ppm: 80, jitter: 0.2e-3 * (2 * random.unit() - 1))) }
        #expect(abs(rate.deviation - 80e-6) < 20e-6, "\(rate.deviation)")
    }

    @Test func `a block whose time is wrong does not disturb the rate`() {
        var random = SeededRandom(seed: 1)
        var rate = DeviceRate(sampleRate: 48_000)
        for index in 0..<6_000 {
            let jitter = 0.2e-3 * (2 * random.unit() - 1) + (index == 3_000 ? 0.1 : 0)
            rate.add(Self.block(index, ppm: 80, jitter: jitter))
            if index > 1_900 { #expect(abs(rate.deviation - 80e-6) < 40e-6, "\(index): \(rate.deviation)") }
        }
    }

    @Test func `after another counter the measurement begins again with the known rate`() {
        var rate = DeviceRate(sampleRate: 48_000)
        for index in 0..<1_000 { rate.add(Self.block(index, ppm: 80)) }
        for index in 1_000..<1_010 { rate.add(Self.block(index, ppm: 0, skippedFrames: 1_000_000)) }
        #expect(abs(rate.deviation - 80e-6) < 0.1e-6)
        for index in 1_010..<3_000 { rate.add(Self.block(index, ppm: 0, skippedFrames: 1_000_000)) }
        #expect(abs(rate.deviation) < 0.1e-6)
    }
}
