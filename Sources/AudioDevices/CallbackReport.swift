// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The timing of a device's callback, from a ``CallbackWatchdog``. In JSON, durations are in seconds, and times in nanoseconds of
/// `CLOCK_MONOTONIC`.
package struct CallbackReport: Codable, Hashable, Sendable {
    /// The distribution of the times of all calls, in seconds, to three digits.
    package struct Spread: Codable, Hashable, Sendable {
        /// The median.
        package var p50: Double
        /// The value that 1 % of the calls exceed.
        package var p99: Double
        /// The maximum.
        package var maximum: Double
    }

    /// A call that took longer than its frames last.
    package struct OverBudgetCall: Codable, Hashable, Sendable {
        /// The start of the call.
        package var hostTime: HostTime
        /// Its duration in seconds.
        package var duration: Double
        /// The duration of its frames in seconds.
        package var budget: Double
    }

    /// The calls that have ended.
    package var callCount: Int
    /// The durations from a call's start to its end.
    package var duration: Spread
    /// The durations from a call's due time to its start.
    package var lateness: Spread
    /// The number of calls that took longer than their frames last.
    package var overBudgetCount: Int
    /// The latest of these calls, the oldest first.
    package var overBudgetCalls: [OverBudgetCall]
    /// The number of cycles that the device lost.
    package var xrunCount: Int
    /// The times of the latest lost cycles, the oldest first.
    package var xrunTimes: [HostTime]
    /// The frames by which the device's frame counter has jumped.
    package var skippedFrameCount: Int
    /// The calls missing in ``duration``, ``lateness`` and ``overBudgetCalls``, because records were not read in time.
    package var droppedRecordCount: Int
    /// The maximum seconds from one call's start to the next, including stops and changes of the device.
    package var longestCallInterval: Double
    /// The start of the last call; nil before the first.
    package var lastCallTime: HostTime?
}
