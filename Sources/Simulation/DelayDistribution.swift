// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A distribution of datagram delays in seconds, restricted to the range between its limits.
package enum DelayDistribution: Hashable, Sendable {
    /// A constant delay.
    case constant(Double)
    /// A uniform distribution.
    case uniform(ClosedRange<Double>)
    /// A truncated normal distribution.
    case normal(mean: Double, deviation: Double, within: ClosedRange<Double>)
    /// The lower limit plus a gamma distribution of integer shape (Erlang's), truncated at the upper limit.
    case gamma(shape: Int, scale: Double, within: ClosedRange<Double>)
}

/// A distribution as a table of its quantiles with linear interpolation, so that a random value needs one uniform number.
struct DelayQuantiles {
    private let least: Double
    private let values: [Double]
    private static let steps = 4_096

    init(_ distribution: DelayDistribution) {
        switch distribution {
        case .constant(let seconds):
            least = seconds
            values = []
        case .uniform(let range):
            least = range.lowerBound
            values = [range.lowerBound, range.upperBound]
        case .normal(let mean, let deviation, let range):
            least = range.lowerBound
            values = Self.table(range) { 0.5 * erfc((mean - $0) / deviation / 2.0.squareRoot()) }
        case .gamma(let shape, let scale, let range):
            least = range.lowerBound
            values = Self.table(range) { Self.erlang(($0 - range.lowerBound) / scale, shape: shape) }
        }
    }

    /// Returns the delay in seconds.
    /// - Parameter share: 0 ..< 1.
    func value(at share: Double) -> Double {
        guard values.count > 1 else { return least }
        let place = share * Double(values.count - 1)
        let index = min(Int(place), values.count - 2)
        return values[index] + (values[index + 1] - values[index]) * (place - Double(index))
    }

    /// Inverts a distribution function between two limits by bisection.
    private static func table(_ range: ClosedRange<Double>, _ cumulative: (Double) -> Double) -> [Double] {
        let (from, to) = (cumulative(range.lowerBound), cumulative(range.upperBound))
        var least = range.lowerBound
        return (0...steps).map { step in
            if step == 0 { return range.lowerBound }
            if step == steps { return range.upperBound }
            let wanted = from + (to - from) * Double(step) / Double(steps)
            var most = range.upperBound
            for _ in 0..<50 {
                let middle = (least + most) / 2
                if cumulative(middle) < wanted { least = middle } else { most = middle }
            }
            return least
        }
    }

    /// Returns the share of a gamma distribution of integer shape and scale 1 below `x`.
    private static func erlang(_ x: Double, shape: Int) -> Double {
        var term = exp(-x)
        var above = term
        for k in 1..<max(1, shape) {
            term *= x / Double(k)
            above += term
        }
        return 1 - above
    }
}
