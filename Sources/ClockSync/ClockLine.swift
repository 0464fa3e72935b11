// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A line from one clock to another. Times wrap on overflow.
package struct ClockLine: Hashable, Sendable, BitwiseCopyable {
    /// A time on the first clock.
    package var from: HostTime
    /// The same instant on the second clock.
    package var to: HostTime
    /// The second clock's seconds per second of the first, less 1.
    package var rate: Double

    /// Creates a line through a pair of times.
    package init(from: HostTime, to: HostTime, rate: Double) {
        self.from = from
        self.to = to
        self.rate = rate
    }

    /// Returns the second clock's time at a time of the first.
    package func time(at time: HostTime) -> HostTime {
        let elapsed = time.nanoseconds &- from.nanoseconds
        return HostTime(nanoseconds: to.nanoseconds &+ elapsed).advanced(
            bySeconds: Double(elapsed) * 1e-9 * rate)
    }

    /// Returns the first clock's time at a time of the second.
    package func inverse(at time: HostTime) -> HostTime {
        let elapsed = time.nanoseconds &- to.nanoseconds
        return HostTime(nanoseconds: from.nanoseconds &+ elapsed)
            .advanced(bySeconds: -Double(elapsed) * 1e-9 * rate / (1 + rate))
    }
}
