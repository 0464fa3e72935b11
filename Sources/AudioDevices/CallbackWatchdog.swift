// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Histogram
import Synchronization

/// Keeps the times of every callback in High Dynamic Range histograms (G. Tene), and when calls took too long or xruns
/// came; in release builds too, since the callback only leaves plain records in the monitor's queues.
///
/// Any thread but the render thread. It is the only reader of its ``CallbackMonitor``'s queues.
package final class CallbackWatchdog: Sendable {
    /// For the devices that are watched, one after the other: see ``AudioDeviceRequest/monitor``.
    package let monitor: CallbackMonitor

    private let books: Mutex<Books>
    private let thread = Mutex<ServiceThread?>(nil)

    /// - Parameters:
    ///   - monitor: a device's own, or a new one to hand to devices.
    ///   - listCapacity: over-budget calls, and xruns, whose times are kept: the latest. All are counted.
    package init(monitor: CallbackMonitor = CallbackMonitor(), listCapacity: Int = 256) {
        self.monitor = monitor
        books = Mutex(Books(capacity: max(1, listCapacity)))
    }

    deinit { stop() }

    /// Reads the callback's records since the last call.
    ///
    /// The monitor's queue of records holds 11 s of 64-frame blocks at 48 kHz: so often at least, or ``start()`` does it.
    package func gather() { books.withLock { $0.gather(from: monitor) } }

    /// Gathers ten times a second from now on, on a thread of its own named `callback-watch`. Again does nothing.
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

    /// Ends the thread; what was gathered stays. Harmless when not started.
    package func stop() {
        let running = thread.withLock { thread in
            let running = thread
            thread = nil
            return running
        }
        running?.stop()
    }

    /// All up to now, gathered first.
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

    /// The latest of many, oldest first.
    private struct Latest<Element> {
        let capacity: Int
        private var kept: [Element] = []

        init(capacity: Int) { self.capacity = capacity }

        /// Makes room a half at a time, so that appending stays cheap.
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
