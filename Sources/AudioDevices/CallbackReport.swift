// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The timing of a device's callbacks, from a ``CallbackWatchdog``. In JSON, durations are in seconds, and times in nanoseconds
/// of `CLOCK_MONOTONIC`.
package struct CallbackReport: Codable, Hashable, Sendable {
    /// The distribution of one duration over all gathered callbacks, in seconds, to three significant digits.
    package struct Spread: Codable, Hashable, Sendable {
        /// The median.
        package var p50: Double
        /// The value that 1 % of the callbacks exceed.
        package var p99: Double
        /// The maximum.
        package var maximum: Double
    }

    /// A callback that took longer than its frames last.
    package struct OverBudgetCall: Codable, Hashable, Sendable {
        /// The time at which the callback started.
        package var hostTime: HostTime
        /// The seconds from the callback's start to its end.
        package var duration: Double
        /// The seconds that the callback's frames last.
        package var budget: Double
    }

    /// The number of callbacks that have ended.
    package var callCount: Int
    /// The distribution of the seconds from a callback's start to its end.
    package var duration: Spread
    /// The distribution of the seconds from a callback's due time to its start; an early start counts as 0.
    package var lateness: Spread
    /// The number of callbacks that took longer than their frames last.
    package var overBudgetCount: Int
    /// The latest callbacks that took longer than their frames last, the oldest first.
    package var overBudgetCalls: [OverBudgetCall]
    /// The number of xruns of the device; in each xrun it lost one or more successive cycles.
    package var xrunCount: Int
    /// The times at which the latest xruns were noticed, the oldest first.
    package var xrunTimes: [HostTime]
    /// The frames by which the device's frame counter has jumped in total.
    package var skippedFrameCount: Int
    /// The number of callbacks missing in ``duration``, ``lateness`` and ``overBudgetCalls``, because their records were dropped.
    package var droppedRecordCount: Int
    /// The maximum seconds from one callback's start to the next one's, including stops and changes of the device.
    package var longestCallInterval: Double
    /// The start of the last callback; nil before the first.
    package var lastCallTime: HostTime?
}
