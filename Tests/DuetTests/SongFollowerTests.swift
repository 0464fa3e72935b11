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
