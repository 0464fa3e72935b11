import Testing
import TestSupport

@testable import AudioBase

@Suite struct DelayLockedLoopTests {
    /// Calls of `block` frames from a crystal `ppm` fast, each late by up to `jitter` seconds; the error of the loop's
    /// answers against when the calls were due, in seconds.
    private func errors(
        block: Int64 = 64, ppm: Double = 0, jitter: Double = 0, seconds: Double = 30,
        stall: (call: Int, length: Double)? = nil
    ) -> [Double] {
        var loop = DelayLockedLoop(sampleRate: 48_000)
        var random = SeededRandom(seed: 1)
        let start = HostTime(nanoseconds: 5_000_000_000)
        let rate = 48_000 * (1 + ppm * 1e-6)
        return (0..<Int(seconds * rate) / Int(block)).map { call in
            let due = start.advanced(bySeconds: Double(Int64(call) * block) / rate)
            var now = due.advanced(bySeconds: random.unit() * jitter)
            if let stall, call == stall.call { now = now.advanced(bySeconds: stall.length) }
            return loop.update(sampleTime: Int64(call) * block, now: now).seconds(since: due)
        }
    }

    @Test(arguments: [1, 16, 64, 470, 4096] as [Int64])
    func `an even clock is followed to the microsecond`(block: Int64) {
        #expect(errors(block: block, seconds: 5).map(abs).max() ?? 1 < 1e-6)
    }

    @Test(arguments: [-300.0, 50, 300]) func `drift is followed`(ppm: Double) {
        #expect(errors(ppm: ppm).suffix(1_000).map(abs).max() ?? 1 < 5e-6)
    }

    @Test func `jitter is smoothed to a tenth`() {
        let tail = errors(jitter: 200e-6).suffix(5_000)
        #expect((tail.max() ?? 1) - (tail.min() ?? 0) < 20e-6)
    }

    @Test func `one late call hardly moves the clock`() {
        #expect(errors(stall: (call: 10_000, length: 0.030)).suffix(from: 9_990).map(abs).max() ?? 1 < 20e-6)
    }

    @Test func `a device that lost time in silence is found again`() {
        var loop = DelayLockedLoop(sampleRate: 48_000)
        var last = 0.0
        for call in 0..<2_000 {
            let lost = call < 1_000 ? 0.0 : 0.1
            let now = HostTime(nanoseconds: 0).advanced(bySeconds: Double(call * 64) / 48_000 + lost)
            last = loop.update(sampleTime: Int64(call * 64), now: now).seconds(since: now)
        }
        #expect(abs(last) < 1e-5)
    }
}
