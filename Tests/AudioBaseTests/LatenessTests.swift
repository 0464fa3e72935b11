// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import EarshotAudioBase

/// The residuals of callbacks that are only ever late, relative to the line through their mean.
@Suite struct LatenessTests {
    private struct Calls {
        var lateness = DelayLockedLoop.Lateness()
        private var random = SeededRandom(seed: 3)

        /// Adds callbacks 10 ms apart: at least `least` seconds after the line, and 100 µs later on average.
        mutating func add(_ count: Int, least: Double) {
            for _ in 0..<count { add(residual: least - 100e-6 * log(1 - random.unit())) }
        }

        mutating func add(residual: Double) {
            lateness.update(elapsed: 0.01, shift: 0, turn: 0, residual: residual)
        }
    }

    @Test func `the floor is the smallest residual of the last windows`() {
        var calls = Calls()
        #expect(calls.lateness.floor == 0)
        calls.add(400, least: -100e-6)
        #expect(abs(calls.lateness.floor + 100e-6) < 5e-6, "\(calls.lateness.floor)")
    }

    @Test func `a restarted line keeps only the jitter of the old one`() {
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

    @Test func `the floor stays on the line even when all callbacks are late`() {
        var calls = Calls()
        calls.add(400, least: 50e-6)
        #expect(calls.lateness.floor == 0, "\(calls.lateness.floor)")
    }

    @Test func `symmetric jitter leaves the floor on the line`() {
        var calls = Calls()
        var random = SeededRandom(seed: 5)
        for _ in 0..<1_000 { calls.add(residual: 200e-6 * random.unit() - 100e-6) }
        #expect(calls.lateness.floor == 0)
    }

    /// Returns the floor after callbacks 10 ms apart with a repeated pattern, in microseconds relative to the line.
    private func floor(_ pattern: [Double], calls: Int) -> Double {
        var lateness = DelayLockedLoop.Lateness()
        for n in 0..<calls {
            lateness.update(elapsed: 0.01, shift: 0, turn: 0, residual: pattern[n % pattern.count] * 1e-6)
        }
        return lateness.floor * 1e6
    }

    /// Nine of ten callbacks are on time, 100 µs before the line through the mean.
    private static let late = [900.0] + [Double](repeating: -100, count: 9)

    /// The minimum of a window of 50 callbacks is raised by one fiftieth.
    @Test(arguments: [(49, 0.0), (51, 51 / 128), (64, 0.5), (96, 0.75), (128, 1), (1_000, 1)] as [(Int, Double)])
    func `the floor gains weight with each callback and has full weight after 128`(calls: Int, share: Double) {
        #expect(abs(floor(Self.late, calls: calls) + 102 * share) < 0.5, "\(floor(Self.late, calls: calls))")
    }

    @Test(
        arguments: [
            ([-50.0, -50, 100], 0.512), ([-100.0, 100], 0), ([-10.0, -10, -10, -10, 40], 1),
            ([-40.0, 10, 10, 10, 10], 0),
        ] as [([Double], Double)]) func `more skew in the jitter gives the floor more weight`(
            pattern: [Double], share: Double
        )
    {
        let right = (pattern.min() ?? 0) * 1.02 * share
        let found = floor(pattern, calls: 1_000)
        #expect(abs(found - right) < 0.02 * abs(right) + 0.1, "\(found), not \(right)")
    }

    @Test func `the floor of exponential delays is their minimum on average`() {
        var calls = Calls()
        calls.add(500, least: -100e-6)
        var sum = 0.0
        for _ in 0..<4_000 {
            calls.add(1, least: -100e-6)
            sum += calls.lateness.floor * 1e6 / 4_000
        }
        #expect(abs(sum + 100) < 1.5, "\(sum)")
    }

    @Test func `one stall in three hundred callbacks does not skew the jitter`() {
        var lateness = DelayLockedLoop.Lateness()
        var random = SeededRandom(seed: 5)
        for n in 0..<6_000 {
            let residual = n % 300 == 299 ? 0.001 : 200e-6 * random.unit() - 100e-6
            lateness.update(elapsed: 0.01, shift: 0, turn: 0, residual: residual)
            if n > 1_000 { #expect(lateness.floor > -10e-6, "call \(n): \(lateness.floor)") }
        }
    }

    @Test func `a window covers sixteen callbacks when they are rare`() {
        var lateness = DelayLockedLoop.Lateness()
        for n in 0..<400 {
            lateness.update(elapsed: 0.1, shift: 0, turn: 0, residual: Self.late[n % 10] * 1e-6)
        }
        #expect(abs(lateness.floor * 1e6 + 100 * (1 + 1 / 16.0)) < 0.1, "\(lateness.floor)")
        lateness.restart()
        for n in 0..<16 {
            #expect(lateness.floor == 0, "\(n)")
            lateness.update(elapsed: 0.1, shift: 0, turn: 0, residual: Self.late[n % 10] * 1e-6)
        }
        #expect(lateness.floor < -90e-6)
    }

    @Test func `the floor averages roughly the last four windows`() {
        var lateness = DelayLockedLoop.Lateness()
        func add(_ windows: Int, _ least: Double) {
            for n in 0..<50 * windows {
                let residual = n % 10 == 0 ? 900e-6 : n % 50 == 7 ? least : -50e-6
                lateness.update(elapsed: 0.01, shift: 0, turn: 0, residual: residual)
            }
        }
        add(20, -100e-6)
        #expect(abs(lateness.floor * 1e6 + 102) < 0.5)
        add(1, -200e-6)
        #expect(abs(lateness.floor * 1e6 + 102 + 102 / 4) < 0.5, "\(lateness.floor)")
        add(1, -200e-6)
        #expect(abs(lateness.floor * 1e6 + 204 - 102 * 9 / 16) < 0.5, "\(lateness.floor)")
    }

    /// The times of the last windows' minima lie 1.99 s back on average, and so does the next callback.
    @Test func `the floor keeps its place on the clock when the line shifts or changes slope`() {
        var settled = DelayLockedLoop.Lateness()
        func add(_ lateness: inout DelayLockedLoop.Lateness, _ n: Int, shift: Double = 0, turn: Double = 0) {
            let residual = n % 10 == 0 ? 900e-6 : n % 50 == 1 ? -100e-6 : -50e-6
            lateness.update(elapsed: 0.01, shift: shift, turn: turn, residual: residual)
        }
        for n in 1...2_000 { add(&settled, n) }
        #expect(abs(settled.floor * 1e6 + 102) < 0.5)
        var moved = settled
        add(&moved, 2_001, shift: 30e-6)
        #expect(abs(moved.floor * 1e6 + 132) < 1, "\(moved.floor)")
        var turned = settled
        add(&turned, 2_001, turn: 20e-6)
        #expect(abs(turned.floor * 1e6 + 102 - 40) < 1, "\(turned.floor)")
        // A window that has not ended is moved, too.
        var within = DelayLockedLoop.Lateness()
        for n in 1...2_025 { add(&within, n) }
        add(&within, 2_026, shift: -200e-6)
        for n in 2_027...2_050 { add(&within, n) }
        // Its minimum moves to 100 µs, so that the next value, −50 µs, is the minimum. The other windows are at 98 µs.
        #expect(within.floor == 0, "\(within.floor)")
        add(&within, 2_051, shift: 200e-6)
        #expect(abs(within.floor * 1e6 + 200 - 0.75 * 98 + 0.25 * 51) < 1, "\(within.floor)")
    }
}
