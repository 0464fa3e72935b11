// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import Foundation
import TestSupport
import TestTraits
import Testing

@Suite struct CallbackWatchdogTests {
    /// Adds blocks of 10 ms whose callbacks are late by their number in microseconds.
    private func calls(_ count: Int, on recorder: CallbackMonitor.Recorder, lasting milliseconds: (Int) -> Double) {
        for i in 0..<count {
            let due = HostTime(nanoseconds: Int64(i + 1) * 10_000_000)
            let start = due.advanced(bySeconds: Double(i) * 1e-6)
            recorder.begin(frameCount: 480, due: due, now: start)
            recorder.end(now: start.advanced(bySeconds: milliseconds(i) * 1e-3))
        }
    }

    private func near(_ a: Double, _ b: Double) -> Bool { abs(a - b) <= 2e-3 * b }

    @Test func `a watchdog reports zero calls before the first callback`() {
        let report = CallbackWatchdog().snapshot
        #expect(report.callCount == 0 && report.duration.maximum == 0 && report.lastCallTime == nil)
        #expect(report.overBudgetCalls.isEmpty && report.xrunTimes.isEmpty)
    }

    @Test func `durations and lateness are precise to three digits across several gatherings`() {
        let watchdog = CallbackWatchdog()
        calls(1_000, on: watchdog.monitor.recorder) { 1 + Double($0) * 1e-3 }
        watchdog.gather()
        calls(1_000, on: watchdog.monitor.recorder) { 2 + Double($0) * 1e-3 }
        let report = watchdog.snapshot
        #expect(report.callCount == 2_000)
        #expect(near(report.duration.p50, 2e-3) && near(report.duration.p99, 2.98e-3), "\(report)")
        #expect(near(report.duration.maximum, 2.999e-3), "\(report)")
        #expect(near(report.lateness.p50, 499e-6) && near(report.lateness.maximum, 999e-6), "\(report)")
        #expect(report.overBudgetCount == 0 && report.droppedRecordCount == 0)
    }

    @Test func `callbacks over budget have times, all are counted and the latest are kept`() {
        let watchdog = CallbackWatchdog(listCapacity: 3)
        calls(20, on: watchdog.monitor.recorder) { $0 % 2 == 0 ? 1 : 12.5 }
        let report = watchdog.snapshot
        #expect(report.overBudgetCount == 10)
        #expect(report.overBudgetCalls.map(\.hostTime.nanoseconds) == [160_015_000, 180_017_000, 200_019_000])
        #expect(report.overBudgetCalls.allSatisfy { near($0.duration, 12.5e-3) && near($0.budget, 10e-3) })
        #expect(watchdog.snapshot == report)
    }

    @Test func `xruns have times, all are counted and the latest are kept`() {
        let watchdog = CallbackWatchdog(listCapacity: 4)
        for i in 0..<100 {
            watchdog.monitor.recorder.xrun(at: HostTime(nanoseconds: Int64(i)))
            if i % 7 == 0 { watchdog.gather() }
        }
        watchdog.monitor.recorder.skip(64)
        let report = watchdog.snapshot
        #expect(report.xrunCount == 100 && report.skippedFrameCount == 64)
        #expect(report.xrunTimes.map(\.nanoseconds) == [96, 97, 98, 99])
    }

    @Test func `records lost to a full queue are reported as dropped and still counted`() {
        let watchdog = CallbackWatchdog(monitor: CallbackMonitor(sampleRate: 48_000, recordCapacity: 8))
        calls(20, on: watchdog.monitor.recorder) { _ in 11 }
        let report = watchdog.snapshot
        #expect(report.droppedRecordCount == 12 && report.callCount == 20 && report.overBudgetCount == 20)
        #expect(report.overBudgetCalls.count == 8)
    }

    @Test func `a report survives a JSON round trip`() throws {
        let watchdog = CallbackWatchdog()
        calls(9, on: watchdog.monitor.recorder) { $0 == 4 ? 11 : 1 }
        watchdog.monitor.recorder.xrun(at: HostTime(nanoseconds: 7))
        let report = watchdog.snapshot
        let data = try JSONEncoder().encode(report)
        #expect(try JSONDecoder().decode(CallbackReport.self, from: data) == report)
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(object["xrunTimes"] as? [Int] == [7])
    }

    @Test(.realTime) func `the watchdog thread drains the queue and ends with the watchdog`() throws {
        var watchdog: CallbackWatchdog? = CallbackWatchdog(
            monitor: CallbackMonitor(sampleRate: 48_000, recordCapacity: 8))
        let monitor = try #require(watchdog?.monitor)
        try watchdog?.start()
        try watchdog?.start()
        calls(8, on: monitor.recorder) { _ in 1 }
        let hasRoom = eventually {
            let dropped = monitor.droppedRecordCount
            calls(1, on: monitor.recorder) { _ in 1 }
            return monitor.droppedRecordCount == dropped
        }
        #expect(hasRoom)
        watchdog?.stop()
        watchdog?.stop()
        try watchdog?.start()
        weak let gone = watchdog
        watchdog = nil
        #expect(eventually { gone == nil })
    }

    @Test(.realTime) func `every callback of a device is seen`() throws {
        let card = try SimulatedDevice(SimulatedCard.Configuration(sampleRate: 48_000, blockFrameCount: 64))
        let watchdog = CallbackWatchdog(monitor: card.monitor)
        try watchdog.start()
        let probe = CycleProbe()
        try card.start(probe.callback)
        #expect(eventually { probe.count >= 100 })
        card.stop()
        let report = watchdog.snapshot
        #expect(report.callCount == probe.count && report.duration.maximum > 0)
        #expect(report.longestCallInterval >= 64.0 / 48_000 && report.lastCallTime != nil)
    }
}
