// SPDX-License-Identifier: Apache-2.0

/// The expected rate of glitches, and its basis. Numbers are glitches a minute.
package enum GlitchRate: Hashable, Sendable {
    /// Five or more were seen.
    case seen(Double)
    /// Fewer were; the rate is that of the tail of those at lesser depths (see ``perMinute``), kept within what so few, or
    /// none, may stand for: the exact limits of a Poisson count that leave 5 % out on either side (Garwood 1936).
    case extrapolated(Double)
    /// Too rare to be estimated: the observation gives only this bound.
    case fewerThan(Double)

    /// The rate, or its bound. An extrapolated one is within a factor of 3 of the truth in four cases of five or so, where
    /// delays keep to one law; what comes seldom and by a law of its own, such as a scan for networks each five minutes, no
    /// look of a minute foretells.
    package var perMinute: Double {
        switch self {
        case .seen(let rate), .extrapolated(let rate), .fewerThan(let rate): rate
        }
    }
}

extension GlitchRate: CustomStringConvertible {
    /// Such as `0.3` or `fewer than 0.1`; `unknown` where nothing was seen yet.
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
    /// Runs that are enough to go by.
    private static let enough = 5.0
    /// The bounds of the mean behind a Poisson count of 0 to 4.
    private static let least = [0, 0.051, 0.355, 0.818, 1.366]
    private static let most = [2.996, 4.744, 6.296, 7.754, 9.154]

    /// The rates at depths in ascending order, none greater than the one before.
    /// - Parameters:
    ///   - runs: of late packets, that were seen at each depth.
    ///   - seconds: in which they were.
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
            // No further below one run than there are runs to go by.
            let bound = 1 / tail.runCount
            return greatest < bound ? .fewerThan(bound * perRun) : .extrapolated(greatest * perRun)
        }
    }
}
