// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// Estimates the rate of runs of late packets at depths beyond the observed ones.
///
/// Above a high threshold the excess of a quantity approaches the generalized Pareto law, whatever its own distribution (Pickands
/// 1975; for runs, one count a cluster, Davison and Smith 1990). Shape and scale are fitted to the counts between the depths, as
/// multinomial ones. The result is the mean over all pairs on a grid, each weighted by its likelihood and a prior, as a single
/// best fit is too optimistic too often. The prior has a shape of 0.1 ± 0.2, slightly heavier than exponential, and is uniform in
/// the logarithm of the scale; Martins and Stedinger (2000) reason likewise for floods, where records are as short. Not for the
/// render thread.
struct DelayTail {
    /// The number of runs in the fit: those beyond the depth where it begins.
    let runCount: Double
    private let start: Double  // seconds
    private var laws: [Law] = []

    /// A shape, a scale in seconds, and their likelihood.
    private struct Law {
        var shape: Double
        var scale: Double
        var weight: Double

        /// Returns the share of the excess distribution that lies beyond `excess` seconds.
        func share(beyond excess: Double) -> Double {
            if abs(shape) < 1e-9 { return earshot_exp(-excess / scale) }
            let base = 1 + shape * excess / scale
            return base <= 0 ? 0 : earshot_pow(base, -1 / shape)
        }
    }

    /// The preferred number of runs beyond the threshold, and the minimum.
    private static let wanted = 30.0
    private static let needed = 10.0
    private static let shapes = (0...16).map { Double($0) / 10 - 1 }  // a stride would call fma
    private static let usualShape = 0.1
    private static let shapeDeviation = 0.2
    private static let scaleCount = 40

    /// - Parameters:
    ///   - runs: the runs of late packets at each depth.
    ///   - depths: in seconds, ascending.
    /// - Returns: nil if there are too few runs at all depths.
    init?(runs: [Double], depths: [Double]) {
        guard
            let first = runs.lastIndex(where: { $0 >= Self.wanted }) ?? runs.lastIndex(where: { $0 >= Self.needed }),
            first + 1 < depths.count
        else { return nil }
        (runCount, start) = (runs[first], depths[first])
        let excesses = depths[first...].map { $0 - depths[first] }
        let counts = (first..<runs.count).map { at in
            max(0, runs[at] - (at + 1 < runs.count ? runs[at + 1] : 0))
        }
        for shape in Self.shapes {
            for step in 0..<Self.scaleCount {
                // From a tenth of the first step to ten times it, by equal ratios.
                let scale = excesses[1] * earshot_pow(10, 2 * Double(step) / Double(Self.scaleCount - 1) - 1)
                var law = Law(shape: shape, scale: scale, weight: 0)
                law.weight = Self.logLikelihood(of: law, excesses, counts)
                laws.append(law)
            }
        }
        let best = laws.map(\.weight).max() ?? 0
        for i in laws.indices { laws[i].weight = earshot_exp(laws[i].weight - best) }
        let sum = laws.map(\.weight).reduce(0, +)
        for i in laws.indices { laws[i].weight /= sum }
        laws.removeAll { $0.weight < 1e-6 }
    }

    /// Returns the expected runs beyond a depth in seconds, in as much time as the observation.
    func runs(beyond depth: Double) -> Double {
        runCount * laws.reduce(0) { $0 + $1.weight * $1.share(beyond: max(0, depth - start)) }
    }

    private static func logLikelihood(of law: Law, _ excesses: [Double], _ counts: [Double]) -> Double {
        let unusual = (law.shape - usualShape) / shapeDeviation
        var sum = -unusual * unusual / 2
        var beyond = 1.0
        for (at, count) in counts.enumerated() {
            let next = at + 1 < excesses.count ? law.share(beyond: excesses[at + 1]) : 0
            if count > 0 { sum += count * earshot_log(max(1e-12, beyond - next)) }
            beyond = next
        }
        return sum
    }
}
