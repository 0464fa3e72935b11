// SPDX-License-Identifier: Apache-2.0

/// The delays before attempts to connect again. They double each time and have a random part, so that not all listeners of a
/// station connect at the same time when it returns.
public struct ReconnectPolicy: Hashable, Sendable {
    /// Seconds before the first attempt, without the random reduction.
    public var firstDelay = 0.5
    /// The longest delay in seconds, without the random reduction.
    public var longestDelay = 30.0
    /// The maximum random reduction, as a share of the delay, 0 to 1.
    public var jitter = 0.5
    /// Failed attempts to connect again, in a row, after which the stream fails, if no sound was received yet.
    public var attemptsAtFirst = 3
    /// Failed attempts to connect again, in a row, after which the stream fails, if sound was received.
    public var attempts = 30
    /// Seconds of sound after which a connection counts as good, so that the next loss starts with the first delay.
    public var goodAfter = 5.0

    /// Creates the default policy.
    public init() {}

    /// Returns the seconds to wait before an attempt.
    /// - Parameters:
    ///   - attempt: the number of the attempt in a row, from 1.
    ///   - hasPlayed: true if sound was received.
    ///   - chance: a random number, 0 to 1.
    /// - Returns: nil if no attempt is left.
    package func delay(attempt: Int, hasPlayed: Bool, chance: Double) -> Double? {
        guard attempt <= (hasPlayed ? attempts : attemptsAtFirst) else { return nil }
        var delay = firstDelay
        for _ in 1..<max(2, min(attempt, 64)) where attempt > 1 { delay = min(longestDelay, delay * 2) }
        return min(longestDelay, delay) * (1 - jitter * min(1, max(0, chance)))
    }
}
