// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The clicks of a beat, as a function of the position in the song. A position before the song is negative.
extension Beat {
    /// The seconds of a click, and of its rise.
    private static let (length, rise) = (0.04, 0.001)
    /// The frequency in hertz and the level of the first beat of a bar, and of the others.
    private static let (accent, plain) = ((frequency: 1_600.0, level: 0.4), (frequency: 1_000.0, level: 0.25))

    /// Returns the sample at a position in seconds.
    func sample(at seconds: Double) -> Float {
        let number = (seconds / period).rounded(.down)
        let time = seconds - number * period
        guard time < Self.length else { return 0 }
        let isFirst = number.remainder(dividingBy: Double(beatsPerBar)) == 0
        let tone = isFirst ? Self.accent : Self.plain
        let rise = time < Self.rise ? sin(.pi / 2 * time / Self.rise) : 1
        let decay = 1 - time / Self.length
        return Float(tone.level * rise * rise * decay * decay * decay * sin(2 * .pi * tone.frequency * time))
    }

    /// Writes the samples from a frame of the song on.
    func render(into samples: UnsafeMutablePointer<Float>, from frame: Int64, _ frameCount: Int, sampleRate: Double) {
        for i in 0..<frameCount { samples[i] = sample(at: Double(frame + Int64(i)) / sampleRate) }
    }
}
