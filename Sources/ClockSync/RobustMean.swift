// SPDX-License-Identifier: Apache-2.0

/// The peer's rate before an estimate, as a normal distribution.
struct RatePrior: BitwiseCopyable, Sendable {
    /// The peer's seconds per second of ours, less 1.
    var rate = 0.0
    /// The standard deviation. That of an even distribution over ± 100 ppm if nothing is known.
    var deviation = 100e-6 / 3.0.squareRoot()
    /// True if nothing is known.
    var isInitial = true
}

/// The offset as the middle between the mean offsets of both directions, where delay is noise that is alike in both.
///
/// One rate and a level for each direction are fitted to the windows' typical packets by least squares with a normal prior of the
/// rate. Windows more than three deviations late (stalls) or four early are left out. The deviation has a prior too, of four
/// windows, from the spread within windows.
struct RobustMean: BitwiseCopyable, Sendable {
    /// The peer's clock less ours in seconds at the fit's origin.
    private(set) var offset = 0.0
    /// The peer's seconds per second of ours, less 1.
    private(set) var rate = 0.0
    /// The standard deviation of the rate.
    private(set) var rateDeviation = 0.0
    /// The standard deviation of the offset in seconds.
    private(set) var offsetDeviation = 0.0
    /// The seconds that hold the offset's error in 95 % of cases.
    private(set) var error = 0.0
    /// The standard deviation of a window in seconds.
    private(set) var deviation = 0.0
    /// The offsets of the two directions at the origin.
    private(set) var levels = BothDirections(repeating: 0.0)

    private struct Sums: BitwiseCopyable {
        var weight = 0.0
        var time = 0.0  // the mean, then
        var offset = 0.0
    }
    private static let priorWindows = 4.0
    /// A crystal's 100 ppm, and the 500 ppm by which a kernel slews its clock, for both sides.
    private static let greatestRate = 1.2e-3

    /// - Parameters:
    ///   - windows: at least one for each direction.
    ///   - origin: the time to which ``offset`` belongs.
    init(_ windows: BothDirections<[OffsetWindow]>, at origin: Double, prior: RatePrior) {
        let priorDeviation = Self.spread(windows) / 8 + 2e-6
        rate = prior.rate
        for direction in Direction.allCases {
            levels[direction] = windows[direction].map { $0.typical.offset - rate * ($0.typical.time - origin) }.median
        }
        let priorVariance = Self.priorWindows * priorDeviation * priorDeviation
        let priorWeight = 1 / (prior.deviation * prior.deviation)
        for _ in 0..<4 {
            let limit = limit(windows, origin, priorVariance)
            var means = BothDirections(repeating: Sums())
            var square = priorVariance
            for direction in Direction.allCases {
                (means[direction], square) = mean(windows[direction], direction, origin, limit, square)
            }
            let count = means.outgoing.weight + means.incoming.weight
            let variance = square / (count + Self.priorWindows - 2)
            var timeSquares = 0.0
            var products = 0.0
            for direction in Direction.allCases {
                for sample in windows[direction].lazy.map(\.typical)
                where isUsed(sample, direction, origin, limit) {
                    let time = sample.time - origin - means[direction].time
                    timeSquares += time * time
                    products += time * (sample.offset - means[direction].offset)
                }
            }
            let rateVariance = 1 / (timeSquares / variance + priorWeight)
            let found = (products / variance + prior.rate * priorWeight) * rateVariance
            rate = max(-Self.greatestRate, min(Self.greatestRate, found))
            for direction in Direction.allCases {
                levels[direction] = means[direction].offset - rate * means[direction].time
            }
            offset = (levels.outgoing + levels.incoming) / 2
            deviation = variance.squareRoot()
            rateDeviation = rateVariance.squareRoot()
            let age = (means.outgoing.time + means.incoming.time) / 2
            let middle = variance * (1 / means.outgoing.weight + 1 / means.incoming.weight) / 4
            offsetDeviation = (middle + rateVariance * age * age).squareRoot()
            // Two deviations, and a fifth more as delays are not quite normal; more if the deviation is from few windows.
            error = 2.4 * (1 + 2 / count) * offsetDeviation
        }
    }

    /// Returns the median spread within windows: the seconds between the fastest packet and the typical one.
    private static func spread(_ windows: BothDirections<[OffsetWindow]>) -> Double {
        Direction.allCases.flatMap { direction in
            windows[direction].map { ($0.typical.offset - $0.fastest.offset) * direction.sign }
        }.median
    }

    /// Returns the seconds by which a window may be late: three deviations, from the median of the distances.
    private func limit(_ windows: BothDirections<[OffsetWindow]>, _ origin: Double, _ priorVariance: Double) -> Double {
        let distances = Direction.allCases.flatMap { direction in
            windows[direction].map { abs(lateness($0.typical, direction, origin)) }
        }
        let deviation = distances.median * 1.4826
        let count = Double(distances.count)
        return 3 * ((priorVariance + count * deviation * deviation) / (Self.priorWindows + count)).squareRoot()
    }

    private func lateness(_ sample: OffsetSample, _ direction: Direction, _ origin: Double) -> Double {
        (sample.offset - rate * (sample.time - origin) - levels[direction]) * direction.sign
    }

    private func isUsed(_ sample: OffsetSample, _ direction: Direction, _ origin: Double, _ limit: Double) -> Bool {
        let lateness = lateness(sample, direction, origin)
        return lateness < limit && lateness > -4 / 3 * limit
    }

    /// Returns the mean of a direction's used windows, and `square` with the squares of their distances added.
    private func mean(
        _ windows: [OffsetWindow], _ direction: Direction, _ origin: Double, _ limit: Double, _ square: Double
    ) -> (Sums, Double) {
        var sums = Sums()
        var square = square
        for sample in windows.lazy.map(\.typical) where isUsed(sample, direction, origin, limit) {
            let lateness = lateness(sample, direction, origin)
            sums.weight += 1
            sums.time += sample.time - origin
            sums.offset += sample.offset
            square += lateness * lateness
        }
        guard sums.weight > 0 else { return (Sums(weight: 1, time: 0, offset: levels[direction]), square) }
        sums.time /= sums.weight
        sums.offset /= sums.weight
        return (sums, square)
    }
}
