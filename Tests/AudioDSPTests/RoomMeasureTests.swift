// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import Glibc
import Testing
import UnitMeasures

/// Tests that the measures detect what they are for.
@Suite struct RoomMeasureTests {
    /// Gaussian noise that decays by 60 dB in this time.
    private func tail(_ decay: Double, seed: Int) -> [Double] {
        var noise = SmallNoise()
        for _ in 0..<seed * 1_000_003 { _ = noise.next() }
        return (0..<Int(48_000 * 1.2 * decay)).map { i in
            let sum = (0..<6).reduce(0.0) { s, _ in s + Double(noise.next()) }
            return sum * pow(10, -3 * Double(i) / 48_000 / decay)
        }
    }

    @Test func `decay time and density of decaying noise are measured`() {
        let tails = (0..<4).map { tail(1.5, seed: $0) }
        for octave in [125.0, 1000, 4000] {
            #expect(abs(RoomResponse.decay(tails, octave: octave, rate: 48_000) / 1.5 - 1) < 0.06)
        }
        #expect(RoomResponse.timeUntilDense(tails[0], above: 0.9, rate: 48_000) < 0.02)
        // A click every half millisecond is not dense, however long it lasts.
        let sparse = (0..<48_000).map { $0 % 24 == 0 ? 1.0 : 0 }
        #expect(RoomResponse.timeUntilDense(sparse, above: 0.9, rate: 48_000) == .infinity)
    }

    @Test func `a mode that is louder or decays more slowly than the noise is detected`() {
        let tails = (0..<4).map { tail(1.5, seed: $0) }
        #expect(RoomResponse.loudestMode(tails, decay: 1.5, rate: 48_000).level < 6)
        // A faint one with twice the decay, and a loud one with the same.
        for (level, decay) in [(0.06, 3.0), (0.15, 1.5)] {
            let ringing = tails.map { tail in
                tail.enumerated().map { i, x in
                    let t = Double(i) / 48_000
                    return x + level * sin(2 * Double.pi * 1000 * t) * pow(10, -3 * t / decay)
                }
            }
            let mode = RoomResponse.loudestMode(ringing, decay: 1.5, rate: 48_000)
            #expect(mode.level > 10 && abs(mode.frequency - 1000) < 3, "\(mode)")
        }
    }
}
