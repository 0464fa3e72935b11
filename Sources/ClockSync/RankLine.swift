// SPDX-License-Identifier: Apache-2.0

/// The offset by a line through the shifts of seconds (``RankSeconds``), where delay is noise that is alike in both directions. The
/// rate has a normal prior. Seconds more than three deviations off are left out.
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

    /// Returns nil without a shift.
    /// - Parameter origin: the time to which ``offset`` belongs.
    init?(_ seconds: [RankSeconds.Point], at origin: Double, prior: RatePrior) {
        guard !seconds.isEmpty else { return nil }
        rate = prior.rate
        var points = seconds.map { Point(time: $0.time - origin, shift: $0.shift) }
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
}
