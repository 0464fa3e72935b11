// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import Testing

@Suite struct DelayLockedLoopTests {
    @Test(arguments: [1, 16, 64, 470, 4096, 8192])
    func `a steady clock is tracked to within a microsecond`(block: Int) {
        var trial = ClockTrial()
        trial.run(seconds: 5, blocks: [block])
        #expect(trial.microseconds(1, from: 0) < 1)
    }

    @Test(arguments: CallJitter.allCases, [16, 64, 128, 256, 470, 1024])
    func `clock error is small after five seconds of jitter`(jitter: CallJitter, block: Int) {
        for seed in 1...6 as ClosedRange<UInt64> {
            var trial = ClockTrial(seed: seed)
            trial.run(seconds: 30, blocks: [block], ppm: [0, 300, -300][Int(seed % 3)], jitter: jitter)
            #expect(trial.microseconds(0.99, from: 5) < (block <= 256 ? 20 : 40), "seed \(seed)")
        }
    }

    @Test(arguments: CallJitter.allCases, [16, 64, 256, 1024])
    func `drift is measured within twenty seconds`(jitter: CallJitter, block: Int) {
        for seed in 1...4 as ClosedRange<UInt64> {
            for ppm in [300.0, -300] {
                var trial = ClockTrial(seed: seed)
                trial.run(seconds: 20, blocks: [block], ppm: ppm, jitter: jitter)
                #expect(abs(trial.loop.driftPPM - ppm) < 2, "seed \(seed)")
                #expect(abs(trial.loop.secondsPerFrame * 48_000 * (1 + ppm * 1e-6) - 1) < 2e-6)
            }
        }
    }

    @Test(arguments: CallJitter.allCases)
    func `block sizes may vary from callback to callback`(jitter: CallJitter) {
        var trial = ClockTrial()
        trial.run(seconds: 20, blocks: [470, 471, 441, 16, 1, 4096, 8192, 64], ppm: 300, jitter: jitter)
        #expect(trial.microseconds(0.99, from: 5) < 40)
        #expect(abs(trial.loop.driftPPM - 300) < 3)
    }

    @Test(arguments: CallJitter.allCases)
    func `a step in the crystal's frequency is tracked`(jitter: CallJitter) {
        var trial = ClockTrial()
        trial.run(seconds: 30, blocks: [128], jitter: jitter)
        trial.run(seconds: 40, blocks: [128], ppm: 50, jitter: jitter)
        #expect(trial.microseconds(1, from: 30) < 150)
        #expect(trial.microseconds(0.99, from: 60) < 20)
        #expect(abs(trial.loop.driftPPM - 50) < 2)
    }

    @Test(arguments: [0.0011, 0.030, 0.9]) func `a single late callback hardly moves the clock`(late: Double) {
        var trial = ClockTrial()
        trial.run(seconds: 10, blocks: [64], jitter: .uniform)
        trial.call(late: late, block: 64)
        trial.run(seconds: 10, blocks: [64], jitter: .uniform)
        #expect(trial.microseconds(1, from: 9) < 20)
    }

    @Test(arguments: [0.0011, 0.010, 0.5]) func `the loop soon recovers from a late first callback`(late: Double) {
        var trial = ClockTrial()
        trial.call(late: late, block: 64)
        trial.run(seconds: 6, blocks: [64], jitter: .exponential)
        #expect(trial.microseconds(1, from: 0.1, to: 1) < 200)
        #expect(trial.microseconds(0.99, from: 5) < 20)
    }

    @Test(arguments: [64, 4_800, 96_000]) func `frames skipped by the device do not move the clock`(frames: Int) {
        var trial = ClockTrial()
        trial.run(seconds: 10, blocks: [64], jitter: .uniform)
        trial.skip(frames)
        trial.run(seconds: 1, blocks: [64], jitter: .uniform)
        #expect(trial.microseconds(1, from: 9) < 20)
    }

    @Test(arguments: [0.1, 90.0]) func `the loop recovers from a silent device suspension`(seconds: Double) {
        var trial = ClockTrial()
        trial.run(seconds: 20, blocks: [64], ppm: 200, jitter: .uniform)
        trial.suspend(seconds: seconds)
        trial.run(seconds: 6, blocks: [64], ppm: 200, jitter: .uniform)
        #expect(trial.microseconds(1, from: 20 + seconds + 0.1) < 120)
        #expect(trial.microseconds(0.99, from: 25 + seconds) < 20)
        #expect(abs(trial.loop.driftPPM - 200) < 20)
    }

    @Test func `a sample counter that runs backwards restarts the loop`() {
        var loop = DelayLockedLoop(sampleRate: 48_000)
        let start = HostTime(nanoseconds: 1_000)
        #expect(loop.update(sampleTime: 1_000, now: start) == start)
        let later = start.advanced(bySeconds: 0.5)
        #expect(loop.update(sampleTime: 1_000, now: later) == later)
        #expect(loop.update(sampleTime: 0, now: start) == start)
        #expect(loop.driftPPM == 0)
    }

    /// A loop on a regular clock, with a callback every 10 ms.
    private struct Calls {
        var loop = DelayLockedLoop(sampleRate: 48_000)
        let start = HostTime(nanoseconds: 1_000_000_000)
        var count = 0

        /// Adds a callback this many seconds after it was due. Returns the loop's answer in seconds after the due time.
        mutating func add(late: Double = 0, pace: Double = 1) -> Double {
            let due = start.advanced(bySeconds: Double(count) * 0.01 * pace)
            defer { count += 1 }
            return loop.update(sampleTime: Int64(count * 480), now: due.advanced(bySeconds: late)).seconds(since: due)
        }

        mutating func run(_ calls: Int) { for _ in 0..<calls { _ = add() } }
    }

    @Test(arguments: [0.0055, -0.0055])
    func `sixteen consecutive callbacks off by more than 5 ms restart the loop`(
        late: Double
    ) {
        var calls = Calls()
        calls.run(1_000)
        for n in 1...16 {
            let answer = calls.add(late: late)
            #expect(n < 16 ? abs(answer) < 0.001 : abs(answer - late) < 1e-8, "call \(n): \(answer)")
        }
        #expect(abs(calls.add(late: late) - late) < 1e-6)
        // The count starts again, so another such step is not followed at once. (An early callback would be, so soon after a
        // start.)
        if late > 0 { #expect(abs(calls.add(late: 2 * late) - late) < 0.001) }
    }

    @Test func `a restart resets the count of consecutive outlying callbacks`() {
        for first in [1, 1_016] {
            var calls = Calls()
            for n in 0..<first { _ = calls.add(late: n < 1_000 ? 0 : 0.0055) }
            let late = first > 1_000 ? 0.0055 : 0
            for n in 1...16 {
                let answer = calls.add(late: late + 0.050)
                #expect(n < 16 ? abs(answer - late) < 0.030 : abs(answer - late - 0.050) < 1e-8, "call \(n): \(answer)")
            }
        }
    }

    @Test func `callbacks off by less than 5 ms, or not consecutively, do not restart the loop`() {
        for late in [0.0048, -0.0048] {
            var calls = Calls()
            calls.run(1_000)
            for n in 1...17 { #expect(abs(calls.add(late: late)) < 0.001, "call \(n)") }
        }
        var calls = Calls()
        calls.run(1_000)
        for n in 1...64 { #expect(abs(calls.add(late: n % 16 == 0 ? 0 : 0.0055)) < 0.002, "call \(n)") }
    }

    @Test(arguments: [(1.01, true), (0.99, false), (-1.01, true), (-0.99, false)])
    func `a callback off by more than a second restarts the loop at once`(late: Double, isAnew: Bool) {
        var calls = Calls()
        calls.run(1_000)
        let answer = calls.add(late: late)
        #expect(isAnew ? abs(answer - late) < 1e-8 : abs(answer) < 0.001, "\(answer)")
    }

    @Test(arguments: [(20, -0.0011, true), (20, -0.0009, false), (200, -0.0011, false)])
    func `a callback that comes too early restarts a loop that has seen few callbacks`(
        before: Int, late: Double, isAnew: Bool
    ) {
        var calls = Calls()
        calls.run(before)
        let answer = calls.add(late: late)
        #expect((abs(answer - late) < 1e-8) == isAnew, "\(answer)")
    }

    @Test func `a callback delayed by a stall counts as one delayed by a millisecond`() {
        for late in [0.0012, 0.004, 0.9] {
            var (a, b) = (Calls(), Calls())
            a.run(500)
            b.run(500)
            let (x, y) = (a.add(late: 0.001), b.add(late: late))
            #expect(x == y && x > 1e-6 && x < 20e-6, "\(x), \(y)")
            for _ in 0..<100 { #expect(a.add() == b.add()) }
        }
    }

    @Test(arguments: [(0.992, 0.992), (1.008, 1.008), (0.98, 0.99), (1.02, 1.01)])
    func `the estimated frame duration stays within 1 % of nominal`(pace: Double, right: Double) {
        var calls = Calls()
        for _ in 0..<3_000 { _ = calls.add(pace: pace) }
        #expect(abs(calls.loop.secondsPerFrame * 48_000 - right) < 1e-4, "\(calls.loop.secondsPerFrame * 48_000)")
        #expect(abs(calls.loop.driftPPM - (1 / right - 1) * 1e6) < 100, "\(calls.loop.driftPPM)")
    }

    @Test func `a reset discards the estimated rate`() {
        var calls = Calls()
        for _ in 0..<3_000 { _ = calls.add(pace: 1.0002) }
        #expect(abs(calls.loop.driftPPM + 200) < 1)
        calls.loop.reset()
        #expect(calls.loop.driftPPM == 0)
        #expect(calls.add(late: 0.003) > 0.0029, "the next call is the first")
    }

    /// Callbacks that are only ever late make the answer earlier than the mean callback.
    @Test func `a reset discards the measured jitter, and so does a counter that stands still`() {
        for isReset in [true, false] {
            var trial = ClockTrial()
            trial.run(seconds: 10, blocks: [480], jitter: .exponential)
            var loop = trial.loop
            let start = HostTime(nanoseconds: 90_000_000_000)
            if isReset { loop.reset() } else { _ = loop.update(sampleTime: 1, now: start) }
            for n in 0..<200 {
                let due = start.advanced(bySeconds: Double(n) * 0.01)
                let answer = loop.update(sampleTime: Int64(n * 480 + 2), now: due)
                if isReset || n > 0 { #expect(abs(answer.seconds(since: due)) < 30e-6, "call \(n)") }
            }
        }
    }

    @Test func `fractions of nanoseconds do not accumulate`() {
        // At 48 kHz a block of 64 frames is not a whole number of nanoseconds.
        var loop = DelayLockedLoop(sampleRate: 48_000)
        let start = HostTime(nanoseconds: 77)
        var farthest: Int64 = 0
        for n in 0..<100_000 {
            let due = start.advanced(bySeconds: Double(n) * 64 / 48_000)
            farthest = max(
                farthest, abs(loop.update(sampleTime: Int64(n) * 64, now: due).nanoseconds - due.nanoseconds))
        }
        #expect(farthest <= 1)
    }
}
