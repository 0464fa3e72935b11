// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The timing of a device's callback, from a ``CallbackWatchdog``. Encoded, times are in seconds, and instants nanoseconds of
/// `CLOCK_MONOTONIC`.
package struct CallbackReport: Codable, Hashable, Sendable {
    /// The distribution of all calls' times, in seconds, to three digits.
    package struct Spread: Codable, Hashable, Sendable {
        /// The median.
        package var p50: Double
        /// The value that one call in a hundred exceeds.
        package var p99: Double
        /// The longest.
        package var maximum: Double
    }

    /// A call that took longer than its frames last.
    package struct OverBudgetCall: Codable, Hashable, Sendable {
        /// When it began.
        package var hostTime: HostTime
        /// Seconds that it took.
        package var duration: Double
        /// Seconds that its frames last.
        package var budget: Double
    }

    /// Calls that have ended.
    package var callCount: Int
    /// From a call's start to its end.
    package var duration: Spread
    /// From the instant at which a call was due to its start.
    package var lateness: Spread
    /// Calls that took longer than their frames last, each counted.
    package var overBudgetCount: Int
    /// The latest of them, oldest first.
    package var overBudgetCalls: [OverBudgetCall]
    /// Cycles that the device lost, each counted.
    package var xrunCount: Int
    /// When the latest of them were noticed, oldest first.
    package var xrunTimes: [HostTime]
    /// Frames by which the device's frame counter has jumped.
    package var skippedFrameCount: Int
    /// Calls missing in ``duration``, ``lateness`` and ``overBudgetCalls``, because the records were not read in time.
    package var droppedRecordCount: Int
    /// Seconds at most from one call's start to the next's, times when the device was stopped or changed included.
    package var longestCallInterval: Double
    /// When the latest call began; nil before the first.
    package var lastCallTime: HostTime?
}
