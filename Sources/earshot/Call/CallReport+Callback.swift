// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices

extension CallReport.Callback {
    /// Converts times to microseconds, rounded to a tenth.
    init(_ report: CallbackReport) {
        func microseconds(_ seconds: Double) -> Double { (seconds * 1e7).rounded() / 10 }
        self.init(
            calls: report.callCount, p50Microseconds: microseconds(report.duration.p50),
            p99Microseconds: microseconds(report.duration.p99),
            maxMicroseconds: microseconds(report.duration.maximum),
            latenessP50Microseconds: microseconds(report.lateness.p50),
            latenessP99Microseconds: microseconds(report.lateness.p99),
            latenessMaxMicroseconds: microseconds(report.lateness.maximum), overBudget: report.overBudgetCount,
            xruns: report.xrunCount, skippedFrames: report.skippedFrameCount,
            xrunMonotonicNanoseconds: report.xrunTimes.map(\.nanoseconds))
    }
}
