// SPDX-License-Identifier: Apache-2.0

import Histogram

/// A distribution of values in bounded memory: to three digits, with exact extremes.
struct SpreadMeter {
    private var histogram = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
    private var least = Double.infinity
    private var greatest = -Double.infinity
    /// The resolution: microseconds.
    private static let scale = 1e6

    /// Adds seconds; negative ones count as 0 except for the minimum.
    mutating func add(_ seconds: Double) {
        guard seconds.isFinite else { return }
        least = min(least, seconds)
        greatest = max(greatest, seconds)
        _ = histogram.record(UInt64(max(0, min(1e5, seconds)) * Self.scale + 0.5))
    }

    /// The distribution in milliseconds; nil without values.
    var spread: SimulationReport.Spread? {
        guard least.isFinite else { return nil }
        func value(_ percentile: Double) -> Double {
            min(greatest, max(least, Double(histogram.valueAtPercentile(percentile)) / Self.scale))
        }
        return SimulationReport.Spread(
            least: least.asMilliseconds, p50: value(50).asMilliseconds, p95: value(95).asMilliseconds,
            p99: value(99).asMilliseconds, max: greatest.asMilliseconds)
    }
}

extension Double {
    /// The seconds as milliseconds, rounded to a microsecond.
    var asMilliseconds: Double { (self * 1e6).rounded() / 1e3 }
}
