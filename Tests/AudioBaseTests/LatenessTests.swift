import Foundation
import TestSupport
import Testing

@testable import AudioBase

/// Residuals of calls that are only ever late, against the line through their mean.
@Suite struct LatenessTests {
    private struct Calls {
        var lateness = DelayLockedLoop.Lateness()
        private var random = SeededRandom(seed: 3)

        /// Calls 10 ms apart: `least` seconds after the line, and late by 100 µs more in the mean.
        mutating func add(_ count: Int, least: Double) {
            for _ in 0..<count { add(residual: least - 100e-6 * log(1 - random.unit())) }
        }

        mutating func add(residual: Double) {
            lateness.update(elapsed: 0.01, shift: 0, turn: 0, residual: residual)
        }
    }

    @Test func `the floor is the least residual of the last windows`() {
        var calls = Calls()
        #expect(calls.lateness.floor == 0)
        calls.add(400, least: -100e-6)
        #expect(abs(calls.lateness.floor + 100e-6) < 5e-6, "\(calls.lateness.floor)")
    }

    @Test func `a new line knows nothing of the old one but the jitter`() {
        var calls = Calls()
        calls.add(400, least: -100e-6)
        calls.add(residual: -600e-6)  // in a window that the new line begins before its end
        calls.lateness.restart()
        #expect(calls.lateness.floor == 0)
        calls.add(49, least: -50e-6)
        #expect(calls.lateness.floor == 0, "the first window of the new line lasts half a second")
        calls.add(2, least: -50e-6)
        #expect(abs(calls.lateness.floor + 50e-6) < 5e-6, "\(calls.lateness.floor)")
    }

    @Test func `nothing is due after the line, however late all calls are`() {
        var calls = Calls()
        calls.add(400, least: 50e-6)
        #expect(calls.lateness.floor == 0, "\(calls.lateness.floor)")
    }

    @Test func `jitter that is symmetric leaves the floor at the line`() {
        var calls = Calls()
        var random = SeededRandom(seed: 5)
        for _ in 0..<1_000 { calls.add(residual: 200e-6 * random.unit() - 100e-6) }
        #expect(calls.lateness.floor == 0)
    }
}
