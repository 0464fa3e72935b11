// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EarshotPlayout

@Suite struct DriftEstimatorTests {
    /// A card of 44.1 kHz that claims 48: a proven rate is not doubted because the network changes.
    @Test func `a proven rate is kept when the path changes`() {
        var estimator = DriftEstimator()
        let slope = 48_000 / 44_100.0 - 1
        for n in 0..<3_000 { _ = estimator.add(offset: 0.010 + slope * Double(n) * 0.01, at: Double(n) * 0.01) }
        let proven = estimator.drift
        #expect(abs(proven + slope) < 1e-5)
        for n in 3_000..<6_000 {
            _ = estimator.add(offset: 0.016 + slope * Double(n) * 0.01, at: Double(n) * 0.01)
            #expect(abs(estimator.drift - proven) < 0.002, "\(estimator.drift) at \(n)")
        }
        #expect(abs(estimator.drift + slope) < 1e-5)
    }

    @Test func `a continually growing path delay is not taken for drift before that is proven`() {
        var estimator = DriftEstimator()
        for n in 0..<1_000 { _ = estimator.add(offset: 0.02 * Double(n) * 0.01, at: Double(n) * 0.01) }
        #expect(estimator.drift >= -1e-3)
    }

    /// One packet every half second is one point. In each pair of points one packet is 1.5 ms late, alternately the first and the
    /// second.
    @Test func `joining two points keeps the packet that was not delayed, at any drift`() {
        var estimator = DriftEstimator()
        let slope = 0.02
        for n in 0..<50 {
            let isLate = n < 32 && (n % 4 == 1 || n % 4 == 2)
            let time = Double(n) * 0.5
            _ = estimator.add(offset: slope * time + (isLate ? 0.0015 : 0), at: time)
        }
        #expect(abs(estimator.drift + slope) < 1e-9, "\(estimator.drift)")
    }

    @Test func `a path that becomes shorter soon after the start does not delay the estimate`() {
        var estimator = DriftEstimator()
        for n in 0..<20 {
            let time = Double(n) * 0.5
            _ = estimator.add(offset: 100e-6 * time + (n < 3 ? 0.010 : 0), at: time)
        }
        #expect(abs(estimator.drift + 100e-6) < 15e-6, "\(estimator.drift)")
    }

    /// Adds undelayed packets until `seconds`. Returns the time at which the drift exceeded `limit`.
    private func time(slope: Double, until seconds: Double, beyond limit: Double) -> (time: Double?, drift: Double) {
        var estimator = DriftEstimator()
        var found: Double?
        for n in 0..<Int(seconds * 100) {
            let time = Double(n) * 0.01
            let old = estimator.drift
            let changed = estimator.add(offset: slope * time, at: time)
            #expect(changed == (estimator.drift != old))
            if abs(estimator.drift) > limit, found == nil { found = time }
        }
        return (found, estimator.drift)
    }

    @Test(arguments: [0.02, -0.02]) func `a sender's drift of 2 % is accepted after fifteen seconds`(slope: Double) {
        let found = time(slope: slope, until: 20, beyond: 1.01e-3)
        #expect((15...16.6).contains(found.time ?? 0), "\(found.time ?? 0)")
        #expect(abs(found.drift + slope) < 1e-9)
    }

    @Test(arguments: [(0.08, 0.08), (0.12, 0.09), (-0.12, -0.09)])
    func `the estimated drift is limited to 9 %`(slope: Double, right: Double) {
        let found = time(slope: slope, until: 40, beyond: 1)
        #expect(abs(found.drift + right) < 1e-9, "\(found.drift)")
    }

    @Test func `the drift of an ordinary clock is adopted gradually as it becomes known`() {
        for (seconds, range) in [(2.9, 0.0...0.0), (4, 0.5...0.7), (10, 0.9...0.99), (60, 0.995...1.0)] {
            let found = time(slope: -100e-6, until: seconds, beyond: 1)
            #expect(range.contains(found.drift * 1e4), "\(found.drift) after \(seconds)")
        }
    }

    /// One packet of each half second was not delayed.
    @Test func `delayed packets do not affect the estimate at any drift`() {
        for slope in [-0.01, -100e-6, 100e-6, 0.01] {
            var estimator = DriftEstimator()
            for n in 0..<6_000 {
                let time = Double(n) * 0.01
                _ = estimator.add(offset: slope * time + (n % 50 == 25 ? 0 : 0.03), at: time)
            }
            #expect(abs(estimator.drift + slope) < 5e-6, "\(estimator.drift)")
        }
    }

    @Test func `a restart keeps the estimated drift while little is known`() {
        var estimator = DriftEstimator()
        for n in 0..<6_000 { _ = estimator.add(offset: 200e-6 * Double(n) * 0.01, at: Double(n) * 0.01) }
        let known = estimator.drift
        #expect(abs(known + 200e-6) < 1e-6)
        estimator.restart()
        #expect(estimator.drift == known)
        // A jump of the timeline says nothing about the clocks.
        for n in 0..<1_000 {
            _ = estimator.add(offset: 50 + 200e-6 * Double(n) * 0.01, at: 60 + Double(n) * 0.01)
            #expect(abs(estimator.drift - known) < 1e-6, "\(estimator.drift) at \(n)")
        }
    }

    @Test func `a changed clock rate is followed within a minute`() {
        var estimator = DriftEstimator()
        var offset = 0.0
        for n in 0..<40_000 {
            offset += (n < 30_000 ? 50e-6 : 400e-6) * 0.01
            _ = estimator.add(offset: offset, at: Double(n) * 0.01)
            if n == 29_999 { #expect(abs(estimator.drift + 50e-6) < 1e-6) }
            if n == 36_000 { #expect(abs(estimator.drift + 400e-6) < 20e-6, "\(estimator.drift)") }
        }
        #expect(abs(estimator.drift + 400e-6) < 5e-6, "\(estimator.drift)")
    }
}
