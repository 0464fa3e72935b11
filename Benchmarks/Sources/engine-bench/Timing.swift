// SPDX-License-Identifier: Apache-2.0

import BenchReports
import EarshotAudioBase
import Foundation
import PairedTimes

/// Returns the nanoseconds of one of this many operations.
func nanoseconds(_ operations: Int, _ body: () -> Void) -> Double {
    let start = HostTime.now()
    body()
    return HostTime.now().seconds(since: start) * 1e9 / Double(operations)
}

/// The difference of two durations, timed alternately.
struct Difference {
    /// Nanoseconds: the median of the differences of successive times.
    let median: Double
    /// The difference of the minima, which other work on the machine has not affected.
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

/// Quantiles of ascending values.
struct Quantiles: CustomStringConvertible {
    let sorted: [Double]
    init(_ values: [Double]) { sorted = values.sorted() }
    func at(_ part: Double) -> Double {
        sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(part * Double(sorted.count)))]
    }
    /// The quantiles as fractions of a period.
    var description: String {
        "p50 \(percent(at(0.5))), p99 \(percent(at(0.99))), max \(percent(at(1))) of the period"
    }
}
