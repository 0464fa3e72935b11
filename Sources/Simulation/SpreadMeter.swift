// SPDX-License-Identifier: Apache-2.0

import Histogram

/// A distribution of values in bounded memory: to three digits, the least and the greatest exactly.
struct SpreadMeter {
    private var histogram = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
    private var least = Double.infinity
    private var greatest = -Double.infinity
    /// The steps of a value in seconds: microseconds.
    private static let scale = 1e6

    /// Takes seconds; what is negative counts as 0 but for the least.
    mutating func add(_ seconds: Double) {
        guard seconds.isFinite else { return }
        least = min(least, seconds)
        greatest = max(greatest, seconds)
        _ = histogram.record(UInt64(max(0, min(1e5, seconds)) * Self.scale + 0.5))
    }

    /// In milliseconds; nil if there was no value.
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
    /// Seconds as milliseconds, to a microsecond.
    var asMilliseconds: Double { (self * 1e6).rounded() / 1e3 }
}
