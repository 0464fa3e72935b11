// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The test signal for measuring a loop: an exponential sweep (A. Farina, "Simultaneous measurement of impulse response and
/// distortion with a swept-sine technique", 2000), whose autocorrelation has one sharp peak.
struct ProbeSignal {
    /// The duration of the sweep in seconds: long enough for the sweep to be found 20 dB below the noise.
    static let duration = 0.2
    /// The duration of a sweep through the air, in seconds: the distortion of a loudspeaker arrives 0.1 s and more before the sweep.
    static let airDuration = 0.6
    /// The amplitude of the sweep: −20 dB of full scale.
    static let amplitude = 0.1
    /// Seconds of fade-in and of fade-out.
    private static let fade = 0.005
    /// The lowest frequency in hertz.
    static let lowestFrequency = 300.0

    /// Returns the highest frequency in hertz.
    static func highestFrequency(rate: Double) -> Double { min(8_000, 0.4 * rate) }

    /// Returns the sweep at this sample rate. It rises from 300 Hz to 8 kHz, or to 0.4 times the sample rate if that is lower:
    /// the range of a small loudspeaker.
    static func samples(rate: Double, duration: Double = duration) -> [Float] {
        let (low, high) = (lowestFrequency, highestFrequency(rate: rate))
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
