// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Limits how many events are allowed in a period, such as prompts for a person or changes that a host forwards.
package struct RateLimiter: Sendable {
    let limit: Int
    /// The period in seconds.
    let window: Double
    private var periodStart: HostTime?
    private var countInPeriod = 0

    /// Creates a limiter of `limit` events in `window` seconds.
    package init(_ limit: Int, inSeconds window: Double) {
        self.limit = limit
        self.window = window
    }

    /// Counts an event if the limit allows it. Returns false if the limit of the current period was reached already.
    package mutating func acquire(at now: HostTime) -> Bool {
        if periodStart.map({ now.seconds(since: $0) >= window }) ?? true {
            periodStart = now
            countInPeriod = 0
        }
        guard countInPeriod < limit else { return false }
        countInPeriod += 1
        return true
    }
}
