// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Histogram
import Synchronization

/// Collects the times of all callbacks in High Dynamic Range histograms (G. Tene), and the times of overlong calls and xruns; in
/// release builds too, since the callback only writes records to the monitor's queues.
///
/// Any thread except the render thread. It is the only reader of its ``CallbackMonitor``'s queues.
package final class CallbackWatchdog: Sendable {
    /// The monitor for the watched devices, one after the other: see ``AudioDeviceRequest/monitor``.
    package let monitor: CallbackMonitor

    private let books: Mutex<Books>
    private let thread = Mutex<ServiceThread?>(nil)

    /// - Parameters:
    ///   - monitor: a device's monitor, or a new one for devices.
    ///   - listCapacity: the number of overlong calls, and of xruns, whose times are kept: the latest. All are counted.
    package init(monitor: CallbackMonitor = CallbackMonitor(), listCapacity: Int = 256) {
        self.monitor = monitor
        books = Mutex(Books(capacity: max(1, listCapacity)))
    }

    deinit { stop() }

    /// Reads the callback's records since the last call.
    ///
    /// The monitor's queue holds 11 s of 64-frame blocks at 48 kHz: call it at least that often, or ``start()`` does it.
    package func gather() { books.withLock { $0.gather(from: monitor) } }

    /// Starts gathering ten times a second, on a thread named `callback-watch`. A second call does nothing.
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

    /// Ends the thread and keeps the values. Does nothing without a thread.
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
        books.withLock { books in
            books.gather(from: monitor)
            return books.report(of: monitor)
        }
    }
}

extension CallbackWatchdog {
    /// The gathered values.
    private struct Books {
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
        private var kept: [Element] = []

        init(capacity: Int) { self.capacity = capacity }

        /// Appends an element. Makes room for half of the capacity at a time, which is cheap.
        mutating func append(_ element: Element) {
            if kept.count == 2 * capacity { kept.removeFirst(capacity) }
            kept.append(element)
        }

        var elements: [Element] { Array(kept.suffix(capacity)) }
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
