// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import Synchronization

/// Records the times of a device's callbacks, and its xruns, for a reader such as a ``CallbackWatchdog``.
///
/// Several devices may use a monitor one after the other (``AudioDeviceRequest/monitor``), each with its own
/// ``recorder(sampleRate:)``. The counts continue.
public final class CallbackMonitor: Sendable {
    /// The times of one callback.
    package struct Record: BitwiseCopyable, Hashable, Sendable {
        /// The time at which the callback started.
        package var hostTime: HostTime
        /// The frames of the callback's cycle.
        package var frameCount: Int
        /// The nanoseconds from the callback's start to its end.
        package var duration: Int64
        /// The nanoseconds from the cycle's nominal start to the callback's start; may be slightly negative, because the nominal
        /// start is smoothed.
        package var lateness: Int64
        /// The nanoseconds that the callback's frames last at the device's rate: the longest that the callback may take.
        package var budget: Int64

        /// True if the callback took longer than its frames last.
        package var isOverBudget: Bool { duration > budget }
    }

    /// An xrun: one or more successive cycles that the device lost.
    package struct XRun: BitwiseCopyable, Hashable, Sendable {
        /// The time at which the xrun was noticed.
        package var hostTime: HostTime
    }

    /// The recorder for the rate passed to ``init(sampleRate:recordCapacity:)``.
    package let recorder: Recorder
    private let records: MessageQueue<Record>
    private let xruns: MessageQueue<XRun>

    /// - Parameters:
    ///   - sampleRate: the rate in hertz of the device that uses ``recorder``; others use ``recorder(sampleRate:)``.
    ///   - recordCapacity: the maximum number of unread records; further ones are dropped and counted.
    package init(sampleRate: Double = 48_000, recordCapacity: Int = 8_192) {
        records = MessageQueue(capacity: recordCapacity)
        xruns = MessageQueue(capacity: 1_024)
        recorder = Recorder(records: records.writer, xruns: xruns.writer, nanosecondsPerFrame: 1e9 / sampleRate)
    }

    deinit { recorder.deallocate() }

    /// Returns the recorder for a device at this rate in hertz, which determines how long a callback's frames last.
    package func recorder(sampleRate: Double) -> Recorder { recorder.timed(nanosecondsPerFrame: 1e9 / sampleRate) }

    /// Returns the oldest unread record; nil if there is none. For one reading thread.
    package func nextRecord() -> Record? { records.pop() }
    /// Returns the oldest unread xrun; nil if there is none. For one reading thread.
    package func nextXRun() -> XRun? { xruns.pop() }

    /// The number of records dropped because the queue was full. Any thread.
    package var droppedRecordCount: Int { records.droppedCount }
    /// The number of callbacks that have ended. Any thread.
    public var callCount: Int { recorder.counters.pointee.calls.load(ordering: .relaxed) }
    /// The number of callbacks that took longer than their frames last. Any thread.
    public var overBudgetCount: Int { recorder.counters.pointee.overBudget.load(ordering: .relaxed) }
    /// The number of xruns so far, whether they were read or dropped. Any thread.
    public var xrunCount: Int { recorder.counters.pointee.xruns.load(ordering: .relaxed) }
    /// The frames by which the devices' `sampleTime` has jumped in total. Any thread.
    public var skippedFrameCount: Int { recorder.counters.pointee.skipped.load(ordering: .relaxed) }
    /// The start of the last callback; nil before the first. Any thread.
    public var lastCallTime: HostTime? {
        let nanoseconds = recorder.counters.pointee.lastCall.load(ordering: .relaxed)
        return nanoseconds == .min ? nil : HostTime(nanoseconds: nanoseconds)
    }
    /// The maximum seconds from one callback's start to the next one's, including stops of the device. Any thread.
    public var longestCallInterval: Double {
        Double(recorder.counters.pointee.longestInterval.load(ordering: .relaxed)) * 1e-9
    }
}

extension CallbackMonitor {
    /// The handle through which a device writes to the monitor; must not outlive it. Methods that record are safe on the render
    /// thread.
    package struct Recorder: @unchecked Sendable {  // each field has one writing thread; what is shared is atomic
        /// The atomic values for other threads, and the running callback's values for its own thread.
        struct Counters: ~Copyable {
            let calls = Atomic<Int>(0)
            let overBudget = Atomic<Int>(0)
            let xruns = Atomic<Int>(0)
            let skipped = Atomic<Int>(0)
            let lastCall = Atomic<Int64>(.min)
            let longestInterval = Atomic<Int64>(0)
            var start = HostTime(nanoseconds: 0)
            var lateness: Int64 = 0
            var frameCount = 0
        }

        private let records: MessageQueue<Record>.Writer
        private let xruns: MessageQueue<XRun>.Writer
        private var nanosecondsPerFrame: Double
        let counters: UnsafeMutablePointer<Counters>

        init(
            records: MessageQueue<Record>.Writer, xruns: MessageQueue<XRun>.Writer, nanosecondsPerFrame: Double
        ) {
            self.records = records
            self.xruns = xruns
            self.nanosecondsPerFrame = nanosecondsPerFrame
            counters = .allocate(capacity: 1)
            counters.initialize(to: Counters())
        }

        func deallocate() {
            counters.deinitialize(count: 1)
            counters.deallocate()
        }

        func timed(nanosecondsPerFrame: Double) -> Recorder {
            var recorder = self
            recorder.nanosecondsPerFrame = nanosecondsPerFrame
            return recorder
        }

        /// Notes the start of a callback, on the thread that runs it.
        /// - Parameters:
        ///   - due: the cycle's nominal start.
        ///   - now: the current time.
        @_noLocks
        package func begin(frameCount: Int, due: HostTime, now: HostTime) {
            counters.pointee.start = now
            counters.pointee.lateness = now.nanoseconds &- due.nanoseconds
            counters.pointee.frameCount = frameCount
            let last = counters.pointee.lastCall.load(ordering: .relaxed)
            let interval = last == .min ? 0 : now.nanoseconds &- last
            if interval > counters.pointee.longestInterval.load(ordering: .relaxed) {
                counters.pointee.longestInterval.store(interval, ordering: .relaxed)
            }
            counters.pointee.lastCall.store(now.nanoseconds, ordering: .relaxed)
        }

        /// Notes the end of the callback whose start was noted last, on the thread that runs it.
        @_noLocks
        package func end(now: HostTime) {
            let start = counters.pointee.start
            let frames = counters.pointee.frameCount
            let duration = now.nanoseconds &- start.nanoseconds
            let budget = earshot_round(Double(frames) * nanosecondsPerFrame)
            counters.pointee.calls.wrappingAdd(1, ordering: .relaxed)
            if duration > budget { counters.pointee.overBudget.wrappingAdd(1, ordering: .relaxed) }
            records.push(
                Record(
                    hostTime: start, frameCount: frames, duration: duration, lateness: counters.pointee.lateness,
                    budget: budget))
        }

        /// Notes an xrun. For one thread, which need not be the thread of the callbacks.
        @_noLocks
        package func xrun(at hostTime: HostTime) {
            counters.pointee.xruns.wrappingAdd(1, ordering: .relaxed)
            xruns.push(XRun(hostTime: hostTime))
        }

        /// Notes that the device's frame counter has jumped by this many frames, on the thread of the callbacks.
        @_noLocks
        package func skip(_ frameCount: Int) { counters.pointee.skipped.wrappingAdd(frameCount, ordering: .relaxed) }
    }
}
