// SPDX-License-Identifier: Apache-2.0

import Histogram

/// A distribution of times in bounded memory: percentiles with three digits, and exact extremes.
struct SpreadMeter {
    private var histogram = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
    private var minimum = Double.infinity
    private var maximum = -Double.infinity
    /// The histogram's units per second; a unit is a microsecond.
    private static let scale = 1e6

    /// Adds a time in seconds, clamped to 0 ... 100,000 for the percentiles. A value that is not finite is ignored.
    mutating func add(_ seconds: Double) {
        guard seconds.isFinite else { return }
        minimum = min(minimum, seconds)
        maximum = max(maximum, seconds)
        _ = histogram.record(UInt64(max(0, min(1e5, seconds)) * Self.scale + 0.5))
    }

    /// The distribution in milliseconds; nil without values.
    var spread: SimulationReport.Spread? {
        guard minimum.isFinite else { return nil }
        func value(_ percentile: Double) -> Double {
            min(maximum, max(minimum, Double(histogram.valueAtPercentile(percentile)) / Self.scale))
        }
        return SimulationReport.Spread(
            least: minimum.asMilliseconds, p50: value(50).asMilliseconds, p95: value(95).asMilliseconds,
            p99: value(99).asMilliseconds, max: maximum.asMilliseconds)
    }
}

extension Double {
    /// The seconds as milliseconds, rounded to a microsecond.
    var asMilliseconds: Double { (self * 1e6).rounded() / 1e3 }
}
