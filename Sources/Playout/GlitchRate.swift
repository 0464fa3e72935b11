// SPDX-License-Identifier: Apache-2.0

/// The expected glitches a minute, and the basis of the estimate.
package enum GlitchRate: Hashable, Sendable {
    /// Five or more were observed.
    case seen(Double)
    /// Fewer were observed: the rate is that of the tail of those at smaller depths (see ``perMinute``), limited to what so few
    /// may mean: the exact bounds of a Poisson count with 5 % on either side (Garwood 1936).
    case extrapolated(Double)
    /// They are too rare for an estimate: this is an upper bound.
    case fewerThan(Double)

    /// The rate, or its upper bound. An extrapolated rate is within a factor of 3 of the truth in about four of five cases, if
    /// delays follow one law; a rare event with a law of its own, such as a scan for networks every five minutes, cannot be
    /// predicted from a minute.
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

    /// Rounds to two significant digits, upwards if that would give 0.
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
    /// The number of runs that suffice.
    private static let enough = 5.0
    /// The lower bounds of the mean for a Poisson count of 0 to 4.
    private static let least = [0, 0.051, 0.355, 0.818, 1.366]
    private static let most = [2.996, 4.744, 6.296, 7.754, 9.154]

    /// Returns the rates at ascending depths, none greater than the previous one.
    /// - Parameters:
    ///   - runs: the observed runs of late packets at each depth.
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
                greatest = min(greatest, most[few])
                return .fewerThan(greatest * perRun)
            }
            greatest = min(greatest, most[few], max(least[few], tail.runs(beyond: depth)))
            // Not below one run divided by the number of runs in the fit.
            let bound = 1 / tail.runCount
            return greatest < bound ? .fewerThan(bound * perRun) : .extrapolated(greatest * perRun)
        }
    }
}
