// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotDiagnostics
import Foundation

/// A seeded source of noise (SplitMix64).
struct Noise {
    var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> Float {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return Float(Int32(truncatingIfNeeded: z >> 32)) / 2_147_483_648
    }
}

/// A speech-like signal, computed at any time so that any fractional delay is possible: harmonics of a gliding pitch, in
/// syllables, with pauses.
struct Voice {
    private var partials: [(hertz: Double, phase: Double, gain: Double, rate: Double, start: Double)] = []

    init(seed: UInt64 = 1) {
        var noise = Noise(seed: seed)
        for _ in 0..<30 {
            partials.append(
                (
                    150 + 3000 * pow(Double(noise.next().magnitude), 2), Double(noise.next()) * .pi,
                    0.02 + 0.03 * Double(noise.next().magnitude), 0.3 + 3 * Double(noise.next().magnitude),
                    Double(noise.next()) * 10
                ))
        }
    }

    func callAsFunction(_ t: Double) -> Float {
        if t < 0 { return 0 }
        var sum = 0.0
        for p in partials {
            let envelope = max(0, sin(2 * .pi * p.rate * (t + p.start)))
            sum += p.gain * envelope * sin(2 * .pi * p.hertz * t + p.phase + 3 * sin(2 * .pi * 0.37 * (t + p.start)))
        }
        return Float(sum)
    }

    /// Returns `seconds` of the voice, delayed by `delay` of each time at the listener.
    func recorded(_ seconds: Double, rate: Double, at start: HostTime, delay: (Double) -> Double = { _ in 0 })
        -> TimedSignal
    {
        let samples = (0..<Int(seconds * rate)).map { i -> Float in
            let t = Double(i) / rate
            return self(t - delay(t))
        }
        return TimedSignal(samples: samples, sampleRate: rate, firstFrameTime: start)
    }
}
