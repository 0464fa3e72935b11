import AudioBase
import TestSupport
import Testing

@Suite struct DelayLockedLoopTests {
    @Test(arguments: [1, 16, 64, 470, 4096, 8192])
    func `an even clock is followed to the microsecond`(block: Int) {
        var trial = ClockTrial()
        trial.run(seconds: 5, blocks: [block])
        #expect(trial.microseconds(1, from: 0) < 1)
    }

    @Test(arguments: CallJitter.allCases, [16, 64, 128, 256, 470, 1024])
    func `after five seconds the error is small`(jitter: CallJitter, block: Int) {
        for seed in 1...6 as ClosedRange<UInt64> {
            var trial = ClockTrial(seed: seed)
            trial.run(seconds: 30, blocks: [block], ppm: [0, 300, -300][Int(seed % 3)], jitter: jitter)
            #expect(trial.microseconds(0.99, from: 5) < (block <= 256 ? 20 : 40), "seed \(seed)")
        }
    }

    @Test(arguments: CallJitter.allCases, [16, 64, 256, 1024])
    func `drift is measured in twenty seconds`(jitter: CallJitter, block: Int) {
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
    func `blocks may vary from call to call`(jitter: CallJitter) {
        var trial = ClockTrial()
        trial.run(seconds: 20, blocks: [470, 471, 441, 16, 1, 4096, 8192, 64], ppm: 300, jitter: jitter)
        #expect(trial.microseconds(0.99, from: 5) < 40)
        #expect(abs(trial.loop.driftPPM - 300) < 3)
    }

    @Test(arguments: CallJitter.allCases)
    func `a step of the crystal is followed`(jitter: CallJitter) {
        var trial = ClockTrial()
        trial.run(seconds: 30, blocks: [128], jitter: jitter)
        trial.run(seconds: 40, blocks: [128], ppm: 50, jitter: jitter)
        #expect(trial.microseconds(1, from: 30) < 150)
        #expect(trial.microseconds(0.99, from: 60) < 20)
        #expect(abs(trial.loop.driftPPM - 50) < 2)
    }

    @Test(arguments: [0.0011, 0.030, 0.9]) func `one late call hardly moves the clock`(late: Double) {
        var trial = ClockTrial()
        trial.run(seconds: 10, blocks: [64], jitter: .uniform)
        trial.call(late: late, block: 64)
        trial.run(seconds: 10, blocks: [64], jitter: .uniform)
        #expect(trial.microseconds(1, from: 9) < 20)
    }

    @Test(arguments: [0.0011, 0.010, 0.5]) func `a late first call is soon made good`(late: Double) {
        var trial = ClockTrial()
        trial.call(late: late, block: 64)
        trial.run(seconds: 6, blocks: [64], jitter: .exponential)
        #expect(trial.microseconds(1, from: 0.1, to: 1) < 200)
        #expect(trial.microseconds(0.99, from: 5) < 20)
    }

    @Test(arguments: [64, 4_800, 96_000]) func `frames that the device skipped do not move the clock`(frames: Int) {
        var trial = ClockTrial()
        trial.run(seconds: 10, blocks: [64], jitter: .uniform)
        trial.skip(frames)
        trial.run(seconds: 1, blocks: [64], jitter: .uniform)
        #expect(trial.microseconds(1, from: 9) < 20)
    }

    @Test(arguments: [0.1, 90.0]) func `time that the device lost in silence is found again`(seconds: Double) {
        var trial = ClockTrial()
        trial.run(seconds: 20, blocks: [64], ppm: 200, jitter: .uniform)
        trial.suspend(seconds: seconds)
        trial.run(seconds: 6, blocks: [64], ppm: 200, jitter: .uniform)
        #expect(trial.microseconds(1, from: 20 + seconds + 0.1) < 120)
        #expect(trial.microseconds(0.99, from: 25 + seconds) < 20)
        #expect(abs(trial.loop.driftPPM - 200) < 20)
    }

    @Test func `a counter that runs back starts the loop anew`() {
        var loop = DelayLockedLoop(sampleRate: 48_000)
        let start = HostTime(nanoseconds: 1_000)
        #expect(loop.update(sampleTime: 1_000, now: start) == start)
        let later = start.advanced(bySeconds: 0.5)
        #expect(loop.update(sampleTime: 1_000, now: later) == later)
        #expect(loop.update(sampleTime: 0, now: start) == start)
        #expect(loop.driftPPM == 0)
    }
}
