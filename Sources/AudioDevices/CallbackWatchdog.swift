// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Histogram
import Synchronization

/// Collects the times of all callbacks in High Dynamic Range histograms (G. Tene), and the times of overlong callbacks and xruns.
/// It is used in release builds too, since the device only writes records to the monitor's queues.
///
/// Any thread except the render thread. The watchdog must be the only reader of its ``CallbackMonitor``'s queues.
package final class CallbackWatchdog: Sendable {
    /// The monitor for the watched devices, one after the other: see ``AudioDeviceRequest/monitor``.
    package let monitor: CallbackMonitor

    private let gathered: Mutex<GatheredValues>
    private let thread = Mutex<ServiceThread?>(nil)

    /// - Parameters:
    ///   - monitor: a device's monitor, or a new one to be passed to devices.
    ///   - listCapacity: the maximum number of overlong callbacks, and of xruns, whose times are kept; all are counted.
    package init(monitor: CallbackMonitor = CallbackMonitor(), listCapacity: Int = 256) {
        self.monitor = monitor
        gathered = Mutex(GatheredValues(capacity: max(1, listCapacity)))
    }

    deinit { stop() }

    /// Reads the monitor's unread records.
    ///
    /// The monitor's queue holds 11 s of 64-frame blocks at 48 kHz. Call this method more often, or let ``start()`` do that.
    package func gather() { gathered.withLock { $0.gather(from: monitor) } }

    /// Starts gathering ten times a second, on a thread named `callback-watch`. Does nothing if the thread already runs.
    /// - Throws: ``AudioDeviceError/noThread(code:)``.
    package func start() throws(AudioDeviceError) {
        let code = thread.withLock { thread -> CInt in
            guard thread == nil else { return 0 }
            let new = ServiceThread(name: "callback-watch", interval: 100) { [weak self] in
                self?.gather()
                return self != nil
            }
            let code = new.start()
            if code == 0 { thread = new }
            return code
        }
        guard code == 0 else { throw .noThread(code: Int(code)) }
    }

    /// Ends the thread and keeps the values. Does nothing if no thread runs.
    package func stop() {
        let running = thread.withLock { thread in
            let running = thread
            thread = nil
            return running
        }
        running?.stop()
    }

    /// The values up to now.
    package var snapshot: CallbackReport {
        gathered.withLock { gathered in
            gathered.gather(from: monitor)
            return gathered.report(of: monitor)
        }
    }
}

extension CallbackWatchdog {
    /// The gathered values.
    private struct GatheredValues {
        var duration = Histogram<UInt64>(numberOfSignificantValueDigits: .three)  // nanoseconds
        var lateness = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
        var overBudget: Latest<CallbackReport.OverBudgetCall>
        var xruns: Latest<HostTime>

        init(capacity: Int) {
            overBudget = Latest(capacity: capacity)
            xruns = Latest(capacity: capacity)
        }

        mutating func gather(from monitor: CallbackMonitor) {
            while let record = monitor.nextRecord() {
                duration.record(UInt64(max(0, record.duration)))
                lateness.record(UInt64(max(0, record.lateness)))
                guard record.isOverBudget else { continue }
                overBudget.append(
                    CallbackReport.OverBudgetCall(
                        hostTime: record.hostTime, duration: Double(record.duration) * 1e-9,
                        budget: Double(record.budget) * 1e-9))
            }
            while let xrun = monitor.nextXRun() { xruns.append(xrun.hostTime) }
        }

        func report(of monitor: CallbackMonitor) -> CallbackReport {
            CallbackReport(
                callCount: monitor.callCount, duration: CallbackReport.Spread(duration),
                lateness: CallbackReport.Spread(lateness), overBudgetCount: monitor.overBudgetCount,
                overBudgetCalls: overBudget.elements, xrunCount: monitor.xrunCount, xrunTimes: xruns.elements,
                skippedFrameCount: monitor.skippedFrameCount, droppedRecordCount: monitor.droppedRecordCount,
                longestCallInterval: monitor.longestCallInterval, lastCallTime: monitor.lastCallTime)
        }
    }

    /// The latest elements, the oldest first.
    private struct Latest<Element> {
        let capacity: Int
        private var buffer: [Element] = []

        init(capacity: Int) { self.capacity = capacity }

        /// Appends an element. Old elements are removed only in batches of `capacity`, which is cheap on average.
        mutating func append(_ element: Element) {
            if buffer.count == 2 * capacity { buffer.removeFirst(capacity) }
            buffer.append(element)
        }

        var elements: [Element] { Array(buffer.suffix(capacity)) }
    }
}

extension CallbackReport.Spread {
    fileprivate init(_ nanoseconds: Histogram<UInt64>) {
        func seconds(_ percentile: Double) -> Double {
            nanoseconds.totalCount == 0 ? 0 : Double(nanoseconds.valueAtPercentile(percentile)) * 1e-9
        }
        self.init(p50: seconds(50), p99: seconds(99), maximum: seconds(100))
    }
}
