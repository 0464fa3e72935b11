import AudioDevices
import Histogram

/// The audio callback's times, gathered off the render thread from the records it leaves.
struct CallbackTimes {
    private var duration = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
    private var lateness = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
    private(set) var xruns: [CallbackMonitor.XRun] = []
    private var frames = 0

    /// Takes what was left since the last call.
    mutating func gather(from monitor: CallbackMonitor) {
        while let record = monitor.nextRecord() {
            duration.record(UInt64(max(0, record.duration)))
            lateness.record(UInt64(max(0, record.lateness)))
            frames += record.frameCount
        }
        while let xrun = monitor.nextXRun() { xruns.append(xrun) }
    }

    func report(_ monitor: CallbackMonitor) -> CallReport.Callback {
        func microseconds(_ histogram: Histogram<UInt64>, _ percentile: Double) -> Double {
            (Double(histogram.valueAtPercentile(percentile)) / 100).rounded() / 10
        }
        return CallReport.Callback(
            calls: monitor.callCount, p50Microseconds: microseconds(duration, 50),
            p99Microseconds: microseconds(duration, 99), maxMicroseconds: microseconds(duration, 100),
            latenessP50Microseconds: microseconds(lateness, 50), latenessP99Microseconds: microseconds(lateness, 99),
            latenessMaxMicroseconds: microseconds(lateness, 100), overBudget: monitor.overBudgetCount,
            xruns: monitor.xrunCount, skippedFrames: monitor.skippedFrameCount,
            xrunMonotonicNanoseconds: xruns.map(\.hostTime.nanoseconds))
    }
}
