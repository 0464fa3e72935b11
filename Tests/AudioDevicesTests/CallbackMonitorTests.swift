// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import Testing

@Suite struct CallbackMonitorTests {
    private func time(_ milliseconds: Int64) -> HostTime { HostTime(nanoseconds: milliseconds * 1_000_000) }

    private func call(
        _ recorder: CallbackMonitor.Recorder, at start: Int64, lasting duration: Int64, frames: Int
    ) {
        recorder.begin(frameCount: frames, due: time(start), now: time(start))
        recorder.end(now: time(start + duration))
    }

    @Test func `the time budget of a callback is that of its device`() throws {
        let monitor = CallbackMonitor(sampleRate: 48_000)
        call(monitor.recorder, at: 100, lasting: 15, frames: 480)
        call(monitor.recorder(sampleRate: 16_000), at: 200, lasting: 15, frames: 480)
        let first = try #require(monitor.nextRecord())
        let second = try #require(monitor.nextRecord())
        #expect(first.budget == 10_000_000 && first.isOverBudget)
        #expect(second.budget == 30_000_000 && !second.isOverBudget)
        #expect(second.hostTime == time(200))
        #expect(monitor.callCount == 2 && monitor.overBudgetCount == 1)
    }

    @Test func `counts continue across device changes`() {
        let monitor = CallbackMonitor()
        #expect(monitor.lastCallTime == nil && monitor.longestCallInterval == 0)
        call(monitor.recorder(sampleRate: 44_100), at: 1_000, lasting: 1, frames: 441)
        call(monitor.recorder(sampleRate: 44_100), at: 1_010, lasting: 1, frames: 441)
        #expect(abs(monitor.longestCallInterval - 0.01) < 1e-9)
        call(monitor.recorder(sampleRate: 96_000), at: 1_310, lasting: 1, frames: 960)
        call(monitor.recorder(sampleRate: 96_000), at: 1_320, lasting: 1, frames: 960)
        #expect(abs(monitor.longestCallInterval - 0.3) < 1e-9)
        #expect(monitor.lastCallTime == time(1_320) && monitor.callCount == 4)
    }
}
