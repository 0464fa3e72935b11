// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import Synchronization

/// The durations of a device's callback, call by call, and the device's xruns: written by the device, read by a reporter, most
/// simply a ``CallbackWatchdog``.
///
/// It may be handed from device to device (``AudioDeviceRequest/monitor``), each with a ``recorder(sampleRate:)`` of its own;
/// the last has stopped before the next starts. What it counts goes on.
public final class CallbackMonitor: Sendable {
    /// One call.
    package struct Record: BitwiseCopyable, Hashable, Sendable {
        /// When it began.
        package var hostTime: HostTime
        /// Frames in the call.
        package var frameCount: Int
        /// Nanoseconds from its start to its end.
        package var duration: Int64
        /// Nanoseconds from the cycle's nominal start to the call's; can be slightly negative, as the nominal start is
        /// smoothed.
        package var lateness: Int64
        /// Nanoseconds that its frames last at the device's rate.
        package var budget: Int64

        /// Returns true if it took longer than its frames last.
        package var isOverBudget: Bool { duration > budget }
    }

    /// A cycle that the device lost.
    package struct XRun: BitwiseCopyable, Hashable, Sendable {
        /// When it was noticed.
        package var hostTime: HostTime
    }

    /// For a device at the rate that was given to ``init(sampleRate:recordCapacity:)``.
    package let recorder: Recorder
    private let records: MessageQueue<Record>
    private let xruns: MessageQueue<XRun>

    /// - Parameters:
    ///   - sampleRate: hertz, of the device that uses ``recorder``; others use ``recorder(sampleRate:)``.
    ///   - recordCapacity: calls that are kept until they are read; more are dropped and counted.
    package init(sampleRate: Double = 48_000, recordCapacity: Int = 8_192) {
        records = MessageQueue(capacity: recordCapacity)
        xruns = MessageQueue(capacity: 1_024)
        recorder = Recorder(records: records.writer, xruns: xruns.writer, nanosecondsPerFrame: 1e9 / sampleRate)
    }

    deinit { recorder.deallocate() }

    /// For a device at `sampleRate` hertz: a call may take as long as its frames last there.
    package func recorder(sampleRate: Double) -> Recorder { recorder.timed(nanosecondsPerFrame: 1e9 / sampleRate) }

    /// The oldest call not yet read, or nil. One reading thread.
    package func nextRecord() -> Record? { records.pop() }
    /// The oldest xrun not yet read, or nil. One reading thread.
    package func nextXRun() -> XRun? { xruns.pop() }

    /// Calls that could not be kept as the queue was full. Any thread.
    package var droppedRecordCount: Int { records.droppedCount }
    /// Calls that have ended. Any thread.
    public var callCount: Int { recorder.counters.pointee.calls.load(ordering: .relaxed) }
    /// Calls that took longer than their frames last. Any thread.
    public var overBudgetCount: Int { recorder.counters.pointee.overBudget.load(ordering: .relaxed) }
    /// Xruns so far, kept in the queue or not. Any thread.
    public var xrunCount: Int { recorder.counters.pointee.xruns.load(ordering: .relaxed) }
    /// Frames by which `sampleTime` has jumped so far. Any thread.
    public var skippedFrameCount: Int { recorder.counters.pointee.skipped.load(ordering: .relaxed) }
    /// When the latest call began; nil before the first. Any thread.
    public var lastCallTime: HostTime? {
        let nanoseconds = recorder.counters.pointee.lastCall.load(ordering: .relaxed)
        return nanoseconds == .min ? nil : HostTime(nanoseconds: nanoseconds)
    }
    /// Seconds at most from one call's start to the next's so far, times when the device was stopped included. Any thread.
    public var longestCallInterval: Double {
        Double(recorder.counters.pointee.longestInterval.load(ordering: .relaxed)) * 1e-9
    }
}

extension CallbackMonitor {
    /// The device's side; must not outlive the monitor. Every method is render-safe.
    package struct Recorder: @unchecked Sendable {  // each field has one writing thread; what is shared is atomic
        /// The values that any thread reads, and the present call.
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

        /// A call begins. The thread that calls.
        /// - Parameters:
        ///   - due: the cycle's nominal start.
        ///   - now: the present time.
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

        /// The call that began has ended. The same thread.
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

        /// The device lost a cycle. One thread, which need not be the one that calls.
        @_noLocks
        package func xrun(at hostTime: HostTime) {
            counters.pointee.xruns.wrappingAdd(1, ordering: .relaxed)
            xruns.push(XRun(hostTime: hostTime))
        }

        /// The device's frame counter jumps. The thread that calls.
        @_noLocks
        package func skip(_ frameCount: Int) { counters.pointee.skipped.wrappingAdd(frameCount, ordering: .relaxed) }
    }
}
