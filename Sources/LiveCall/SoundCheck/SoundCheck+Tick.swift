// SPDX-License-Identifier: Apache-2.0

import Foundation

extension SoundCheck {
    /// Returns the samples of a tick: a decaying tone of 1 kHz, which small loudspeakers play well.
    static func tick(sampleRate: Double) -> [Float] {
        let (duration, amplitude, frequency) = (0.06, 0.25, 1_000.0)  // -12 dBFS: audible, and not startling
        let count = Int(duration * sampleRate)
        let attack = 0.001 * sampleRate  // frames; a sudden start would click
        return (0..<count).map { i in
            let time = Double(i) / sampleRate
            let remaining = 1 - Double(i) / Double(count)
            let envelope = min(1, Double(i) / attack) * exp(-time / 0.015) * min(1, 10 * remaining)
            return Float(amplitude * envelope * sin(2 * .pi * frequency * time))
        }
    }
}
