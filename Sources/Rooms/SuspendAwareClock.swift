// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A clock that stops while the machine or the process is suspended.
///
/// A caller that is much later than its deadline was suspended meanwhile. That must not count as the members' silence, so the
/// clock then continues from the deadline.
struct SuspendAwareClock: Sendable {
    /// The seconds by which a call may be late.
    static let slack = 1.0

    private var stopped: Int64 = 0  // nanoseconds
    private var last: HostTime?

    /// Returns this clock's time at `hostTime`.
    /// - Parameter due: the time of the next call, on this clock; nil if nothing was due.
    mutating func time(at hostTime: HostTime, due: HostTime?) -> HostTime {
        var now = HostTime(nanoseconds: hostTime.nanoseconds &- stopped)
        if let due, now.seconds(since: due) > Self.slack {
            let resumed = last.map { max($0, due) } ?? due
            stopped &+= now.nanoseconds &- resumed.nanoseconds
            now = resumed
        }
        if let last, now < last { now = last }
        last = now
        return now
    }

    /// Converts the room's time to host time.
    func hostTime(_ time: HostTime) -> HostTime { HostTime(nanoseconds: time.nanoseconds &+ stopped) }
}
