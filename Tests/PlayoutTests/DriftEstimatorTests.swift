import Testing

@testable import Playout

@Suite struct DriftEstimatorTests {
    /// A card of 44.1 kHz that says 48: what was proven of it is not doubted for a network that changes.
    @Test func `a rate that was proven stays where the way becomes another`() {
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

    @Test func `a way that becomes longer and longer is no clock before that is proven`() {
        var estimator = DriftEstimator()
        for n in 0..<1_000 { _ = estimator.add(offset: 0.02 * Double(n) * 0.01, at: Double(n) * 0.01) }
        #expect(estimator.drift >= -1e-3)
    }

    /// One packet each half second is one point. Of each pair of points one packet is 1.5 ms late, in turn the first and the second.
    @Test func `joining two points keeps the packet that was not delayed, however far apart the clocks run`() {
        var estimator = DriftEstimator()
        let slope = 0.02
        for n in 0..<50 {
            let isLate = n < 32 && (n % 4 == 1 || n % 4 == 2)
            let time = Double(n) * 0.5
            _ = estimator.add(offset: slope * time + (isLate ? 0.0015 : 0), at: time)
        }
        #expect(abs(estimator.drift + slope) < 1e-9, "\(estimator.drift)")
    }

    @Test func `a path that becomes shorter soon after the start does not hold up the estimate`() {
        var estimator = DriftEstimator()
        for n in 0..<20 {
            let time = Double(n) * 0.5
            _ = estimator.add(offset: 100e-6 * time + (n < 3 ? 0.010 : 0), at: time)
        }
        #expect(abs(estimator.drift + 100e-6) < 15e-6, "\(estimator.drift)")
    }
}
