// SPDX-License-Identifier: Apache-2.0

/// The offset by a line through the shifts of seconds (``RankShift``), where delay is noise that is alike in both directions.
///
/// A second is short against the drift of two clocks (0.1 ms at 100 ppm), and has enough packets that its shift is as exact as if all
/// packets of a minute were ranked at once. The rate has a normal prior. Seconds more than three deviations off are left out.
struct RankLine: BitwiseCopyable, Sendable {
    /// The peer's clock less ours in seconds at the fit's origin.
    private(set) var offset = 0.0
    /// The peer's seconds per second of ours, less 1.
    private(set) var rate: Double
    /// The standard deviation of the rate.
    private(set) var rateDeviation = 0.0
    /// The seconds that hold the offset's error in 95 % of cases.
    private(set) var error = 0.0

    private struct Point {
        var time: Double  // less the origin
        var shift: RankShift
        var isUsed = true
        var weight: Double { isUsed ? 1 / shift.variance : 0 }
    }
    /// The scatter of the seconds about the line is that of their ranks, until more seconds than these show another one.
    private static let priorCount = 8.0
    /// The deviations in an error. Two would do if the variances were exact.
    private static let errorDeviations = 2.3
    private static let greatestRate = 1.2e-3
    private static let greatestCount = 64

    /// Returns nil if a direction's transit times are unknown.
    /// - Parameters:
    ///   - origin: the time to which ``offset`` belongs.
    ///   - rate: a first estimate, which takes the drift out of each second.
    init?(_ windows: BothDirections<[OffsetWindow]>, at origin: Double, near rate: Double, prior: RatePrior) {
        self.rate = rate
        var points = Self.points(windows, at: origin, rate: rate)
        guard !points.isEmpty else { return nil }
        for _ in 0..<4 {
            let weight = points.reduce(0) { $0 + $1.weight }
            let time = points.reduce(0) { $0 + $1.weight * $1.time } / weight
            let middle = points.reduce(0) { $0 + $1.weight * $1.shift.offset } / weight
            let squares = points.reduce(0) { $0 + $1.weight * ($1.time - time) * ($1.time - time) }
            let products = points.reduce(0) { $0 + $1.weight * ($1.time - time) * ($1.shift.offset - middle) }
            let priorWeight = 1 / (prior.deviation * prior.deviation)
            let found = (products + prior.rate * priorWeight) / (squares + priorWeight)
            self.rate = max(-Self.greatestRate, min(Self.greatestRate, found))
            offset = middle - self.rate * time
            let distances = points.map {
                abs($0.shift.offset - offset - self.rate * $0.time) / $0.shift.variance.squareRoot()
            }
            let used = zip(points, distances).filter { $0.0.isUsed }
            let square = used.reduce(Self.priorCount) { $0 + $1.1 * $1.1 } / (Self.priorCount + Double(used.count))
            let rateVariance = 1 / (squares / square + priorWeight)
            rateDeviation = rateVariance.squareRoot()
            error = Self.errorDeviations * (square / weight + rateVariance * time * time).squareRoot()
            let count = Double(points.count)
            let deviation = distances.median * 1.4826
            let limit = 3 * ((Self.priorCount + count * deviation * deviation) / (Self.priorCount + count)).squareRoot()
            for index in points.indices { points[index].isUsed = distances[index] <= limit }
        }
    }

    /// Returns the shift of each second before the origin.
    private static func points(
        _ windows: BothDirections<[OffsetWindow]>, at origin: Double, rate: Double
    ) -> [Point] {
        var seconds = [BothDirections<[OffsetWindow]>](repeating: .init(repeating: []), count: greatestCount)
        for direction in Direction.allCases {
            for window in windows[direction] {
                let age = Int(max(0, min(Double(greatestCount - 1), origin - window.fastest.time)))
                seconds[age][direction].append(window)
            }
        }
        return seconds.compactMap { windows in
            guard !windows.outgoing.isEmpty, !windows.incoming.isEmpty else { return nil }
            let times = Direction.allCases.map { direction in
                windows[direction].reduce(0) { $0 + $1.fastest.time } / Double(windows[direction].count)
            }
            let time = (times[0] + times[1]) / 2
            var transits = BothDirections<[RankShift.Transit]>(repeating: [])
            for direction in Direction.allCases {
                transits[direction] = windows[direction].transits(direction, rate: rate, at: time)
            }
            return RankShift(transits).map { Point(time: time - origin, shift: $0) }
        }
    }
}
