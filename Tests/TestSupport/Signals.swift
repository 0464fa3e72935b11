// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Glibc

/// Frame `n` of a sine.
public func sine(_ n: Int, frequency: Double, rate: Double, amplitude: Double = 0.5) -> Float {
    Float(amplitude * sin(2 * Double.pi * frequency * Double(n) / rate))
}

/// Returns the deviation from a constant sine, in dB below its level: the largest residual of the recurrence of a sine, x[n] = 2
/// cos(w) x[n−1] − x[n−2]. A click of one sample at −60 dB gives about −60.
public func sineDefect(_ samples: [Float], frequency: Double, rate: Double, amplitude: Double = 0.5) -> Double {
    let c = 2 * cos(2 * Double.pi * frequency / rate)
    var worst = 0.0
    for n in 2..<max(3, samples.count) where n < samples.count {
        let r = Double(samples[n]) - c * Double(samples[n - 1]) + Double(samples[n - 2])
        worst = max(worst, abs(r))
    }
    return decibels(worst / amplitude)
}

/// Converts an amplitude ratio to decibels.
public func decibels(_ ratio: Double) -> Double { 20 * log10(max(ratio, 1e-12)) }

/// Returns the distance of `b` from `a`: the energy of the difference relative to that of `a`, in dB.
public func errorDecibels(_ a: [Float], _ b: [Float]) -> Double {
    var signal = 0.0
    var error = 0.0
    for (x, y) in zip(a, b) {
        signal += Double(x) * Double(x)
        error += Double(x - y) * Double(x - y)
    }
    return 10 * log10(max(error, 1e-20) / max(signal, 1e-20))
}
