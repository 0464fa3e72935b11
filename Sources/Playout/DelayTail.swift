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
    /// The runs of late packets in the fit: those beyond the fit's smallest depth.
    let runCount: Double
    private let startDepth: Double  // the fit's smallest depth, in seconds
    private var laws: [Law] = []

    /// A Pareto law: shape, scale in seconds, and weight (at first the logarithm of the likelihood).
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

    /// The preferred runs in the fit.
    private static let preferredRunCount = 30.0
    /// The minimum runs in the fit.
    private static let minimumRunCount = 10.0
    private static let shapes = (0...16).map { Double($0) / 10 - 1 }  // without `stride`, which would call fma
    private static let priorShape = 0.1
    private static let priorShapeDeviation = 0.2
    private static let scaleCount = 40

    /// - Parameters:
    ///   - runs: the number of runs of late packets at each depth.
    ///   - depths: the depths in seconds, ascending.
    /// - Returns: nil if there are too few runs at all depths.
    init?(runs: [Double], depths: [Double]) {
        guard
            let first = runs.lastIndex(where: { $0 >= Self.preferredRunCount })
                ?? runs.lastIndex(where: { $0 >= Self.minimumRunCount }),
            first + 1 < depths.count
        else { return nil }
        (runCount, startDepth) = (runs[first], depths[first])
        let excesses = depths[first...].map { $0 - depths[first] }
        let counts = (first..<runs.count).map { index in
            max(0, runs[index] - (index + 1 < runs.count ? runs[index + 1] : 0))
        }
        for shape in Self.shapes {
            for step in 0..<Self.scaleCount {
                // Scales from a tenth of the first excess to ten times that excess, in equal ratios.
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

    /// Returns the expected number of runs beyond a depth in seconds, in as much time as was observed.
    func runs(beyond depth: Double) -> Double {
        runCount * laws.reduce(0) { $0 + $1.weight * $1.share(beyond: max(0, depth - startDepth)) }
    }

    private static func logLikelihood(of law: Law, _ excesses: [Double], _ counts: [Double]) -> Double {
        let unusual = (law.shape - priorShape) / priorShapeDeviation
        var sum = -unusual * unusual / 2
        var shareBeyond = 1.0
        for (index, count) in counts.enumerated() {
            let next = index + 1 < excesses.count ? law.share(beyond: excesses[index + 1]) : 0
            if count > 0 { sum += count * earshot_log(max(1e-12, shareBeyond - next)) }
            shareBeyond = next
        }
        return sum
    }
}
