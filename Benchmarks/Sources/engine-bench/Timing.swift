// SPDX-License-Identifier: Apache-2.0

import BenchReports
import EarshotAudioBase
import Foundation
import PairedTimes

/// Nanoseconds that one of so many operations takes.
func nanoseconds(_ operations: Int, _ body: () -> Void) -> Double {
    let start = HostTime.now()
    body()
    return HostTime.now().seconds(since: start) * 1e9 / Double(operations)
}

/// The difference of two durations, timed in turn.
struct Difference {
    /// Nanoseconds: the median of what neighbours in time differ by.
    let median: Double
    /// The same of the least of each: what other work on the machine has not touched.
    let least: Double

    init(repetitions: Int, operations: Int, more: () -> Void, less: () -> Void) {
        more()
        less()
        var pairs: [(more: Double, less: Double)] = []
        for _ in 0..<repetitions {
            let a = nanoseconds(operations, more)
            pairs.append((a, nanoseconds(operations, less)))
        }
        median = PairedTimes.median(pairs.map { $0.more - $0.less })
        least = (pairs.map(\.more).min() ?? 0) - (pairs.map(\.less).min() ?? 0)
    }
}

/// Parts of ascending values.
struct Quantiles: CustomStringConvertible {
    let sorted: [Double]
    init(_ values: [Double]) { sorted = values.sorted() }
    func at(_ part: Double) -> Double {
        sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(part * Double(sorted.count)))]
    }
    /// The difference in parts of a period.
    var description: String {
        "p50 \(percent(at(0.5))), p99 \(percent(at(0.99))), max \(percent(at(1))) of the period"
    }
}
