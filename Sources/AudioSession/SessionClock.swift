// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import Foundation

/// The time of a session's thread: the machine's, or that of a simulation.
struct SessionClock: Sendable {
    /// Returns the present time.
    var now: @Sendable () -> HostTime
    /// Waits for some seconds.
    var wait: @Sendable (_ seconds: Double) -> Void
    /// Returns the nanoseconds for which the machine has slept since it was started.
    var slept: @Sendable () -> Int64
    /// False in a simulation: the session has no thread, and its owner calls ``AudioSession/inspectDevices()``.
    var hasThread: Bool

    static let machine = SessionClock(
        now: { .now() }, wait: { Thread.sleep(forTimeInterval: $0) }, slept: { earshot_slept_ns() }, hasThread: true)
}
