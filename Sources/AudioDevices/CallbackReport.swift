import EarshotAudioBase

/// How a device's callback has kept time, as a ``CallbackWatchdog`` has it. Encoded, times are in seconds, and instants
/// nanoseconds of `CLOCK_MONOTONIC`.
public struct CallbackReport: Codable, Hashable, Sendable {
    /// How the times of all calls lie, in seconds, to three digits.
    public struct Spread: Codable, Hashable, Sendable {
        /// The median.
        public var p50: Double
        /// What one call in a hundred exceeds.
        public var p99: Double
        /// The longest.
        public var maximum: Double
    }

    /// A call that took longer than its frames last.
    public struct OverBudgetCall: Codable, Hashable, Sendable {
        /// When it began.
        public var hostTime: HostTime
        /// Seconds that it took.
        public var duration: Double
        /// Seconds that its frames last.
        public var budget: Double
    }

    /// Calls that have ended.
    public var callCount: Int
    /// From a call's start to its end.
    public var duration: Spread
    /// From the instant at which a call was due to its start.
    public var lateness: Spread
    /// Calls that took longer than their frames last, each counted.
    public var overBudgetCount: Int
    /// The latest of them, oldest first.
    public var overBudgetCalls: [OverBudgetCall]
    /// Cycles that the device lost, each counted.
    public var xrunCount: Int
    /// When the latest of them were noticed, oldest first.
    public var xrunTimes: [HostTime]
    /// Frames by which the device's frame counter has jumped.
    public var skippedFrameCount: Int
    /// Calls that are missing in ``duration``, ``lateness`` and ``overBudgetCalls``, as nobody gathered for too long.
    public var droppedRecordCount: Int
    /// Seconds at most from one call's start to the next's, times when the device was stopped or changed included.
    public var longestCallInterval: Double
    /// When the latest call began; nil before the first.
    public var lastCallTime: HostTime?
}
