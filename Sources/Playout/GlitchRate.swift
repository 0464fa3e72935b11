// SPDX-License-Identifier: Apache-2.0

/// The expected glitches a minute, and the basis of the estimate.
package enum GlitchRate: Hashable, Sendable {
    /// The observed rate: five or more glitches were observed.
    case seen(Double)
    /// The extrapolated rate, as fewer than five glitches were observed. It follows from the glitches at smaller depths (see
    /// ``perMinute``), and lies within the exact bounds of a Poisson count, with 5 % on either side (Garwood 1936).
    case extrapolated(Double)
    /// An upper bound of the rate, as glitches are too rare for an estimate; infinite without an observation.
    case fewerThan(Double)

    /// The glitches a minute, or their upper bound. An extrapolated rate is within a factor of 3 of the truth in about four of
    /// five cases, if delays follow one law; a rare event with a law of its own, such as a scan for networks every five minutes,
    /// cannot be predicted from a minute.
    package var perMinute: Double {
        switch self {
        case .seen(let rate), .extrapolated(let rate), .fewerThan(let rate): rate
        }
    }
}

extension GlitchRate: CustomStringConvertible {
    /// The rate as text, such as `0.3` or `fewer than 0.1`; `unknown` without an observation.
    package var description: String {
        switch self {
        case .seen(0): "none"
        case .fewerThan(.infinity): "unknown"
        case .seen(let rate), .extrapolated(let rate): Self.short(rate)
        case .fewerThan(let rate): "fewer than \(Self.short(rate))"
        }
    }

    /// Returns a number as text: without decimals from 10 on, with one from 1 on, otherwise with two; at least 0.01.
    static func short(_ number: Double) -> String {
        if number >= 10 { return "\(Int(number.rounded()))" }
        let scale = number >= 1 ? 10.0 : 100.0
        let whole = max(1, Int((number * scale).rounded()))
        if whole % Int(scale) == 0 { return "\(whole / Int(scale))" }
        if scale == 10 || whole % 10 == 0 { return "\(Double(whole * 10 / Int(scale)) / 10)" }
        return "\(Double(whole) / 100)"
    }
}

extension GlitchRate {
    /// The minimum number of observed runs of late packets for which the observed rate is taken.
    private static let enough = 5.0
    /// The lower bounds of the mean for a Poisson count of 0 to 4.
    private static let leastMeans = [0, 0.051, 0.355, 0.818, 1.366]
    /// The upper bounds of the mean for a Poisson count of 0 to 4.
    private static let greatestMeans = [2.996, 4.744, 6.296, 7.754, 9.154]

    /// Returns the rates at ascending depths, none greater than the previous one.
    /// - Parameters:
    ///   - runs: the observed number of runs of late packets at each depth.
    ///   - seconds: the time of the observation.
    static func rates(runs: [Double], depths: [Double], seconds: Double) -> [GlitchRate] {
        guard seconds > 0 else { return depths.map { _ in .fewerThan(.infinity) } }
        let perRun = 60 / seconds
        let tail = DelayTail(runs: runs, depths: depths)
        var greatest = Double.infinity
        return zip(runs, depths).map { count, depth in
            if count >= enough {
                greatest = min(greatest, count)
                return .seen(count * perRun)
            }
            let few = min(4, Int(count.rounded()))
            guard let tail else {
                greatest = min(greatest, greatestMeans[few])
                return .fewerThan(greatest * perRun)
            }
            greatest = min(greatest, greatestMeans[few], max(leastMeans[few], tail.runs(beyond: depth)))
            // An estimate is not below one run divided by the number of runs in the fit.
            let bound = 1 / tail.runCount
            return greatest < bound ? .fewerThan(bound * perRun) : .extrapolated(greatest * perRun)
        }
    }
}
