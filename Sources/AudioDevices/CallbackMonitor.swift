// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import Synchronization

/// Records the durations of a device's calls, and its xruns, for a reader such as a ``CallbackWatchdog``.
///
/// It may be passed from device to device (``AudioDeviceRequest/monitor``), each with its own ``recorder(sampleRate:)``, one
/// after the other. Counts continue.
public final class CallbackMonitor: Sendable {
    /// The times of one call.
    package struct Record: BitwiseCopyable, Hashable, Sendable {
        /// The start of the call.
        package var hostTime: HostTime
        /// The frames of the call.
        package var frameCount: Int
        /// The nanoseconds from its start to its end.
        package var duration: Int64
        /// The nanoseconds from the cycle's nominal start to the call's; may be slightly negative, because the nominal start is
        /// smoothed.
        package var lateness: Int64
        /// The duration of its frames in nanoseconds, at the device's rate.
        package var budget: Int64

        /// Returns true if it took longer than its frames last.
        package var isOverBudget: Bool { duration > budget }
    }

    /// A cycle that the device lost.
    package struct XRun: BitwiseCopyable, Hashable, Sendable {
        /// The time at which it was noticed.
        package var hostTime: HostTime
    }

    /// The recorder for the rate passed to ``init(sampleRate:recordCapacity:)``.
    package let recorder: Recorder
    private let records: MessageQueue<Record>
    private let xruns: MessageQueue<XRun>

    /// - Parameters:
    ///   - sampleRate: the rate in hertz of the device that uses ``recorder``; others use ``recorder(sampleRate:)``.
    ///   - recordCapacity: the records kept until they are read; more are dropped and counted.
    package init(sampleRate: Double = 48_000, recordCapacity: Int = 8_192) {
        records = MessageQueue(capacity: recordCapacity)
        xruns = MessageQueue(capacity: 1_024)
        recorder = Recorder(records: records.writer, xruns: xruns.writer, nanosecondsPerFrame: 1e9 / sampleRate)
    }

    deinit { recorder.deallocate() }

    /// Returns the recorder for a device at this rate in hertz, which determines the time budget of a call.
    package func recorder(sampleRate: Double) -> Recorder { recorder.timed(nanosecondsPerFrame: 1e9 / sampleRate) }

    /// Returns the oldest unread record; nil if there is none. For one reading thread.
    package func nextRecord() -> Record? { records.pop() }
    /// Returns the oldest unread xrun; nil if there is none. For one reading thread.
    package func nextXRun() -> XRun? { xruns.pop() }

    /// The records dropped because the queue was full. Any thread.
    package var droppedRecordCount: Int { records.droppedCount }
    /// The calls that have ended. Any thread.
    public var callCount: Int { recorder.counters.pointee.calls.load(ordering: .relaxed) }
    /// The calls that took longer than their frames last. Any thread.
    public var overBudgetCount: Int { recorder.counters.pointee.overBudget.load(ordering: .relaxed) }
    /// The xruns so far, recorded or dropped. Any thread.
    public var xrunCount: Int { recorder.counters.pointee.xruns.load(ordering: .relaxed) }
    /// The frames by which `sampleTime` has jumped. Any thread.
    public var skippedFrameCount: Int { recorder.counters.pointee.skipped.load(ordering: .relaxed) }
    /// The start of the last call; nil before the first. Any thread.
    public var lastCallTime: HostTime? {
        let nanoseconds = recorder.counters.pointee.lastCall.load(ordering: .relaxed)
        return nanoseconds == .min ? nil : HostTime(nanoseconds: nanoseconds)
    }
    /// The maximum seconds from one call's start to the next, including stops of the device. Any thread.
    public var longestCallInterval: Double {
        Double(recorder.counters.pointee.longestInterval.load(ordering: .relaxed)) * 1e-9
    }
}

extension CallbackMonitor {
    /// The device's handle; must not outlive the monitor. Every method is safe on the render thread.
    package struct Recorder: @unchecked Sendable {  // each field has one writing thread; what is shared is atomic
        /// The values for other threads, and the running call.
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

        /// Notes the start of a call, on the calling thread.
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

        /// Notes the end of the call, on the same thread.
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

        /// Notes a lost cycle. For one thread, which may be another than the calling one.
        @_noLocks
        package func xrun(at hostTime: HostTime) {
            counters.pointee.xruns.wrappingAdd(1, ordering: .relaxed)
            xruns.push(XRun(hostTime: hostTime))
        }

        /// Notes a jump of the device's frame counter, on the calling thread.
        @_noLocks
        package func skip(_ frameCount: Int) { counters.pointee.skipped.wrappingAdd(frameCount, ordering: .relaxed) }
    }
}
