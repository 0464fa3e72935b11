// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A clock that stops while the machine or the process is suspended.
///
/// A call much later than its announced time shows that the process was suspended. The suspension must not count as silence of
/// the members, so the clock continues from the announced time.
struct SuspendAwareClock: Sendable {
    /// The seconds by which a call may be late without counting as a suspension.
    static let slack = 1.0

    private var suspendedNanoseconds: Int64 = 0  // total of all suspensions
    private var lastTime: HostTime?

    /// Returns this clock's time at `hostTime`.
    /// - Parameter due: the latest time on this clock at which this call was expected; nil if none was.
    mutating func time(at hostTime: HostTime, due: HostTime?) -> HostTime {
        var now = HostTime(nanoseconds: hostTime.nanoseconds &- suspendedNanoseconds)
        if let due, now.seconds(since: due) > Self.slack {
            let resumed = lastTime.map { max($0, due) } ?? due
            suspendedNanoseconds &+= now.nanoseconds &- resumed.nanoseconds
            now = resumed
        }
        if let lastTime, now < lastTime { now = lastTime }
        lastTime = now
        return now
    }

    /// Converts this clock's time to host time.
    func hostTime(_ time: HostTime) -> HostTime { HostTime(nanoseconds: time.nanoseconds &+ suspendedNanoseconds) }
}
