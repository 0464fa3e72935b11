// SPDX-License-Identifier: Apache-2.0

/// When a lost connection is tried again: later each time, twice as long, with some chance in it so that not all listeners of a
/// station that was gone come back at once.
public struct ReconnectPolicy: Hashable, Sendable {
    /// Seconds before the first attempt.
    public var firstDelay = 0.5
    /// Seconds at most.
    public var longestDelay = 30.0
    /// The share of a delay that is left to chance, 0 to 1.
    public var jitter = 0.5
    /// Attempts in a row while nothing was heard yet; then it fails.
    public var attemptsAtFirst = 3
    /// Attempts in a row once something was heard.
    public var attempts = 30
    /// Seconds of sound after which a connection counts as good and the next loss begins with the first delay.
    public var goodAfter = 5.0

    /// The usual one.
    public init() {}

    /// Seconds to wait before an attempt.
    /// - Parameters:
    ///   - attempt: from 1, in a row.
    ///   - chance: 0 to 1, from a generator.
    /// - Returns: nil if it is to be given up.
    package func delay(attempt: Int, hasPlayed: Bool, chance: Double) -> Double? {
        guard attempt <= (hasPlayed ? attempts : attemptsAtFirst) else { return nil }
        var delay = firstDelay
        for _ in 1..<max(2, min(attempt, 64)) where attempt > 1 { delay = min(longestDelay, delay * 2) }
        return min(longestDelay, delay) * (1 - jitter * min(1, max(0, chance)))
    }
}
