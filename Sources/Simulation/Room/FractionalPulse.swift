// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An impulse between two frames: a sinc in a Hann window (P. M. Peterson, "Simulating the response of multiple microphones to a
/// single acoustic source in a reverberant room", 1986).
struct FractionalPulse {
    /// The frames of the pulse.
    static let length = 40
    /// The positions between two frames.
    private static let phaseCount = 256

    private let taps: [Float]

    init() {
        let half = Double(Self.length / 2)
        taps = (0...Self.phaseCount).flatMap { phase in
            (0..<Self.length).map { tap in
                let x = Double(tap + 1) - half - Double(phase) / Double(Self.phaseCount)
                let sinc = abs(x) < 1e-9 ? 1 : sin(.pi * x) / (.pi * x)
                return Float(abs(x) < half ? sinc * (0.5 + 0.5 * cos(.pi * x / half)) : 0)
            }
        }
    }

    /// Adds a pulse at a frame, at least 0, with its fraction. Frames outside the samples are left out.
    @inline(__always)
    func add(at frame: Double, gain: Double, to samples: inout [Float]) {
        let whole = Int(frame)
        let row = Int(((frame - Double(whole)) * Double(Self.phaseCount)).rounded()) * Self.length
        let first = whole + 1 - Self.length / 2
        let gain = Float(gain)
        for tap in max(0, -first)..<max(max(0, -first), min(Self.length, samples.count - first)) {
            samples[first + tap] += gain * taps[row + tap]
        }
    }
}
