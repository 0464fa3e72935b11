// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import EarshotAudioBase

/// Compares the loop's line with a least-squares line through all callbacks, solved anew each time.
@Suite struct LineTests {
    /// Callbacks with their weights, as seconds of the device and seconds of lateness relative to nominal.
    private struct Reference {
        var calls: [(time: Double, late: Double, weight: Double)] = [(0, 0, 1)]
        var prior = 0.1  // seconds squared, for a slope of 1

        /// Returns the lateness at a time, and the slope minus 1.
        func line(at now: Double) -> (late: Double, slope: Double) {
            var (s0, s1, s2, y0, y1) = (0.0, 0.0, prior, 0.0, 0.0)
            for call in calls {
                let t = call.time - now
                s0 += call.weight
                s1 += call.weight * t
                s2 += call.weight * t * t
                y0 += call.weight * call.late
                y1 += call.weight * t * call.late
            }
            let determinant = s0 * s2 - s1 * s1
            return ((y0 * s2 - y1 * s1) / determinant, (y1 * s0 - y0 * s1) / determinant)
        }

        mutating func fade(by kept: Double) {
            for i in calls.indices { calls[i].weight *= kept }
            prior *= kept
        }
    }

    @Test(arguments: [1, 2] as [UInt64]) func `the line is a least-squares fit with a memory of 5 s from 16 s on`(
        seed: UInt64
    ) {
        var random = SeededRandom(seed: seed)
        var (line, reference) = (DelayLockedLoop.Line(), Reference())
        var (now, late) = (0.0, 0.0)
        for n in 0..<1_000 {
            let elapsed = 0.002 + 0.046 * random.unit()
            now += elapsed
            let found = 40e-6 * now + 200e-6 * random.unit() - 100e-6
            late += elapsed * (line.slope - 1)
            late += line.update(elapsed: elapsed, error: found - late)
            if now > 16 { reference.fade(by: 5 / (5 + elapsed)) }
            reference.calls.append((now, found, 1))
            let right = reference.line(at: now)
            #expect(abs(late - right.late) < 1e-10, "call \(n): \(late), not \(right.late)")
            #expect(abs(line.slope - 1 - right.slope) < 1e-10, "call \(n): \(line.slope), not 1 + \(right.slope)")
        }
        #expect(now > 22)
    }

    @Test func `a new line keeps its initial slope, limited to within 1 %`() {
        #expect(DelayLockedLoop.Line().slope == 1 && DelayLockedLoop.Line(slope: 1.0002).slope == 1.0002)
        for (error, slope) in [(-1.0, 0.99), (1.0, 1.01)] {
            var line = DelayLockedLoop.Line()
            for n in 1...5 { _ = line.update(elapsed: 1, error: error * Double(n)) }
            #expect(line.slope == slope)
        }
    }
}
