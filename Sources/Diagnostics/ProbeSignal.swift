// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The test signal for measuring a loop: an exponential sweep (A. Farina, "Simultaneous measurement of impulse response and
/// distortion with a swept-sine technique", 2000), whose autocorrelation has one sharp peak.
struct ProbeSignal {
    /// The duration of the sweep in seconds: long enough for the sweep to be found 20 dB below the noise.
    static let duration = 0.2
    /// The amplitude of the sweep: −20 dB of full scale.
    static let amplitude = 0.1
    /// Seconds of fade-in and of fade-out.
    private static let fade = 0.005

    /// Returns the sweep at this sample rate. It rises from 300 Hz to 8 kHz, or to 0.4 times the sample rate if that is lower:
    /// the range of a small loudspeaker.
    static func samples(rate: Double) -> [Float] {
        let (low, high) = (300.0, min(8_000, 0.4 * rate))
        let count = Int(duration * rate)
        let growth = log(high / low)
        let fadeLength = fade * rate
        return (0..<count).map { i in
            let share = Double(i) / Double(count)
            let phase = 2 * Double.pi * low * duration / growth * (exp(share * growth) - 1)
            let distance = min(Double(i), Double(count - i)) / fadeLength
            let envelope = distance < 1 ? 0.5 - 0.5 * cos(.pi * distance) : 1
            return Float(amplitude * envelope * sin(phase))
        }
    }
}
