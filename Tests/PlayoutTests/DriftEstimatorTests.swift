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
}
