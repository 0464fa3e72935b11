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
    private let minimum: Double
    private let quantiles: [Double]
    private static let steps = 4_096

    init(_ distribution: DelayDistribution) {
        switch distribution {
        case .constant(let seconds):
            minimum = seconds
            quantiles = []
        case .uniform(let range):
            minimum = range.lowerBound
            quantiles = [range.lowerBound, range.upperBound]
        case .normal(let mean, let deviation, let range):
            minimum = range.lowerBound
            quantiles = Self.table(range) { 0.5 * erfc((mean - $0) / deviation / 2.0.squareRoot()) }
        case .gamma(let shape, let scale, let range):
            minimum = range.lowerBound
            quantiles = Self.table(range) { Self.erlang(($0 - range.lowerBound) / scale, shape: shape) }
        }
    }

    /// Returns the delay in seconds below which this share of all delays lies.
    /// - Parameter share: 0 ..< 1; uniformly distributed shares give delays of the distribution.
    func value(at share: Double) -> Double {
        guard quantiles.count > 1 else { return minimum }
        let position = share * Double(quantiles.count - 1)
        let index = min(Int(position), quantiles.count - 2)
        return quantiles[index] + (quantiles[index + 1] - quantiles[index]) * (position - Double(index))
    }

    /// Returns equidistant quantiles of a cumulative distribution function truncated to a range, by bisection.
    private static func table(_ range: ClosedRange<Double>, _ cumulative: (Double) -> Double) -> [Double] {
        let (lowerShare, upperShare) = (cumulative(range.lowerBound), cumulative(range.upperBound))
        var lower = range.lowerBound
        return (0...steps).map { step in
            if step == 0 { return range.lowerBound }
            if step == steps { return range.upperBound }
            let wantedShare = lowerShare + (upperShare - lowerShare) * Double(step) / Double(steps)
            var upper = range.upperBound
            for _ in 0..<50 {
                let middle = (lower + upper) / 2
                if cumulative(middle) < wantedShare { lower = middle } else { upper = middle }
            }
            return lower
        }
    }

    /// Returns the probability that a gamma-distributed value with integer shape and scale 1 is below `x`.
    private static func erlang(_ x: Double, shape: Int) -> Double {
        var term = exp(-x)
        var shareAbove = term
        for k in 1..<max(1, shape) {
            term *= x / Double(k)
            shareAbove += term
        }
        return 1 - shareAbove
    }
}
