// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import EarshotPlayout

@Suite struct DelayHistogramTests {
    @Test func `the knee is the bin with the lowest total cost of delay and late packets`() {
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

    @Test func `the lowest of several knees of equal cost is chosen`() {
        let histogram = DelayHistogram(rowCount: 1)
        for bin in 0..<200 { histogram.add(bin, row: 0, counts: true) }
        #expect(histogram.knee(from: 199, to: 20, price: 1) == 20)
        #expect(histogram.knee(from: 199, to: 20, price: 0.999) == 199)
    }

    /// Two rows that are summed and one that is not, as plain counts.
    private struct Model {
        static let bins = -2_500..<1_500
        var rows = [[Int]](repeating: [Int](repeating: 0, count: bins.count), count: 3)

        func sum(_ bin: Int) -> Int { rows[0][bin - Self.bins.lowerBound] + rows[1][bin - Self.bins.lowerBound] }

        func descend(from top: Int, to bottom: Int, allowed: Int) -> (bin: Int, above: Int) {
            var above = 0
            for bin in stride(from: top, through: bottom, by: -1) {
                if above + sum(bin) > allowed { return (bin, above) }
                above += sum(bin)
            }
            return (bottom - 1, above)
        }
    }

    @Test func `rows can be added to, cleared and moved, and a descent uses their sum`() {
        var random = SeededRandom(seed: 21)
        let histogram = DelayHistogram(rowCount: 3)
        var model = Model()
        let first = Model.bins.lowerBound
        func bin() -> Int { first + random.below(Model.bins.count) }
        for _ in 0..<3_000 {
            let row = random.below(3)
            let low = bin()
            let high = min(Model.bins.upperBound - 1, low + random.below(500))
            switch random.below(12) {
            case 0:
                histogram.clear(row: row, low, high, counts: row < 2)
                for at in low...high { model.rows[row][at - first] = 0 }
            case 1:
                histogram.move(from: 2, to: row % 2, low, high)
                for at in low...high {
                    model.rows[row % 2][at - first] += model.rows[2][at - first]
                    model.rows[2][at - first] = 0
                }
            default:
                for _ in 0..<5 {
                    let at = low + random.below(high - low + 1)
                    histogram.add(at, row: row, counts: row < 2)
                    model.rows[row][at - first] += 1
                }
            }
            let (a, b) = (bin(), bin())
            let allowed = random.below(200)
            let found = histogram.descend(from: max(a, b), to: min(a, b), allowed: allowed)
            let right = model.descend(from: max(a, b), to: min(a, b), allowed: allowed)
            #expect(found == right, "from \(max(a, b)) to \(min(a, b)), \(allowed) allowed")
        }
    }

    @Test func `a bin counts up to 65,535 in each row and then saturates`() {
        let histogram = DelayHistogram(rowCount: 2)
        func total() -> Int { histogram.descend(from: 10, to: 0, allowed: 1_000_000).above }
        for _ in 0..<65_534 { histogram.add(5, row: 0, counts: true) }
        for _ in 0..<10 { histogram.add(5, row: 1, counts: false) }
        #expect(total() == 65_534)
        histogram.move(from: 1, to: 0, 0, 10)
        #expect(total() == 65_535)
        histogram.add(5, row: 0, counts: true)
        #expect(total() == 65_535)
        histogram.move(from: 1, to: 0, 0, 10)
        #expect(total() == 65_535, "a move leaves nothing behind in its source")
        histogram.clear(row: 0, 0, 10, counts: true)
        #expect(total() == 0)
    }

    @Test func `bins that are exactly one span apart stay separate`() {
        let histogram = DelayHistogram(rowCount: 1)
        histogram.add(-100, row: 0, counts: true)
        histogram.add(-100 + DelayHistogram.span, row: 0, counts: true)
        let found = histogram.descend(from: -100 + DelayHistogram.span, to: -100, allowed: 1)
        #expect(found == (-100, 1))
    }
}
