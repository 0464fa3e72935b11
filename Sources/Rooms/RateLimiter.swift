// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Limits how many events are allowed in a period, such as prompts for a person or changes that a host forwards.
struct RateLimiter: Sendable {
    let limit: Int
    /// The period in seconds.
    let window: Double
    private var start: HostTime?
    private var used = 0

    init(_ limit: Int, inSeconds window: Double) {
        self.limit = limit
        self.window = window
    }

    /// Counts one event. Returns false if the limit is reached.
    mutating func acquire(at now: HostTime) -> Bool {
        if start.map({ now.seconds(since: $0) >= window }) ?? true {
            start = now
            used = 0
        }
        guard used < limit else { return false }
        used += 1
        return true
    }
}
