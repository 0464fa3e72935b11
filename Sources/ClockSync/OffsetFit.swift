// SPDX-License-Identifier: Apache-2.0

/// The estimates of a set of windows, and the best one.
///
/// The bounds win where delay has a floor that packets reach (a wired network), the ranks where delay is noise (Wi-Fi). Each states
/// its own error, from the same windows. The mean takes the place of the ranks if the peer reports no transit times.
struct OffsetFit: BitwiseCopyable, Sendable {
    /// The time of the newest window, to which the offsets belong.
    let origin: Double
    let mean: RobustMean
    let ranks: RankLine?
    let bounds: PacketBounds

    /// - Parameters:
    ///   - windows: at least one for each direction.
    ///   - seconds: the shifts of the windows so far.
    init(_ windows: BothDirections<[OffsetWindow]>, _ seconds: inout RankSeconds, prior: RatePrior) {
        let origin = Direction.allCases.flatMap { windows[$0].suffix(1) }.map(\.end).max() ?? 0
        let mean = RobustMean(windows, at: origin, prior: prior)
        var low = mean.rate - 2 * mean.rateDeviation
        var high = mean.rate + 2 * mean.rateDeviation
        if prior.isInitial {
            low = max(-Self.greatestInitialRate, min(Self.greatestInitialRate, low))
            high = max(-Self.greatestInitialRate, min(Self.greatestInitialRate, high))
        }
        self.origin = origin
        self.mean = mean
        ranks = RankLine(seconds.points(windows, rate: mean.rate), at: origin, prior: prior)
        var recent = windows
        for direction in Direction.allCases {
            let late = windows[direction].filter { $0.end > origin - Self.boundsMemory }
            if !late.isEmpty { recent[direction] = late }
        }
        bounds = PacketBounds(recent, at: origin, rates: low...high)
    }

    private static let greatestInitialRate = 100e-6
    /// Seconds. The bounds need no more, and a rate that wanders by 0.02 ppm a second bends their lines by 1 µs in this time.
    private static let boundsMemory = 10.0

    /// True if the bounds' error is smaller than the mean's. It is not compared with the ranks' error, which in the first second may
    /// be small even where the bounds are better.
    var usesBounds: Bool { bounds.error < mean.error }
    /// The peer's clock less ours in seconds at ``origin``.
    var offset: Double { usesBounds ? bounds.offset : ranks?.offset ?? mean.offset }
    /// The peer's seconds per second of ours, less 1.
    var rate: Double { usesBounds ? bounds.rate : ranks?.rate ?? mean.rate }
    /// The seconds that hold the offset's error in 95 % of cases, if the paths are alike.
    var error: Double { usesBounds ? bounds.error : ranks?.error ?? mean.error }
    /// The greatest possible error of the offset in seconds: to the farther bound.
    var greatestError: Double { bounds.roundTrip / 2 + abs(offset - bounds.offset) }
    /// The seconds per second that hold the rate's error in 95 % of cases. The least is a crystal's wander.
    var rateError: Double { 2 * (rateDeviation * rateDeviation + Self.leastRateVariance).squareRoot() }
    /// The standard deviation of the rate.
    var rateDeviation: Double { ranks?.rateDeviation ?? mean.rateDeviation }

    private static let leastRateVariance = 0.2e-6 * 0.2e-6

    /// Returns a window's distance from the fit.
    func residual(_ window: OffsetWindow, _ direction: Direction) -> ChangeDetector.Residual {
        let expected = mean.levels[direction] + mean.rate * (window.typical.time - origin)
        return ChangeDetector.Residual(
            start: window.start, end: window.end, deviations: (window.typical.offset - expected) / mean.deviation,
            excess: bounds.excess(window.fastest, beyond: direction, at: origin))
    }

    /// Returns the deviation of the fit at a time, in deviations of a window.
    func predictionDeviation(at time: Double) -> Double {
        (mean.offsetDeviation + mean.rateDeviation * abs(time - origin)) / mean.deviation
    }
}
