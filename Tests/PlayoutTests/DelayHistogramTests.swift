import Testing
import TestSupport

@testable import Playout

@Suite struct DelayHistogramTests {
    @Test func `the knee is where bins and packets cost least`() {
        var random = SeededRandom(seed: 8)
        for _ in 0..<200 {
            let histogram = DelayHistogram(rowCount: 1)
            var counts = [Int](repeating: 0, count: 300)
            for _ in 0..<Int(60 * random.unit()) {
                let bin = Int(300 * random.unit() * random.unit())
                counts[bin] += 1
                histogram.add(bin - 40, row: 0, counts: true)
            }
            let price = 0.01 + 0.5 * random.unit()
            let bottom = Int(100 * random.unit())
            let costs = (bottom..<300).map { Double($0) * price + Double(counts[($0 + 1)...].reduce(0, +)) }
            let found = histogram.knee(from: 299 - 40, to: bottom - 40, price: price) + 40
            #expect(found >= bottom && abs(costs[found - bottom] - (costs.min() ?? 0)) < 1e-9)
        }
    }

    @Test func `of equal costs the knee is the lowest`() {
        let histogram = DelayHistogram(rowCount: 1)
        for bin in 0..<200 { histogram.add(bin, row: 0, counts: true) }
        #expect(histogram.knee(from: 199, to: 20, price: 1) == 20)
        #expect(histogram.knee(from: 199, to: 20, price: 0.999) == 199)
    }
}
