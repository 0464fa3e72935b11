// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

/// A speech-like signal that speech codecs preserve well and that never repeats for half a second: syllables of gliding pitch
/// with two formants, at 48 kHz.
func babble(seconds: Int, voice: UInt64) -> [Float] {
    let rate = 48_000.0
    var random = SeededRandom(seed: voice)
    func between(_ least: Double, _ most: Double) -> Double { least + (most - least) * random.unit() }
    var sound: [Float] = []
    let whole = seconds * Int(rate)
    sound.reserveCapacity(whole)
    var phase = 0.0
    while sound.count < whole {
        let count = Int(between(0.12, 0.26) * rate)
        let (from, to) = (between(110, 230), between(110, 230))
        let formants = [(between(300, 800), 1.0), (between(900, 2_400), 0.4)]
        let weights = (1...30).map { harmonic in
            formants.reduce(0.02) { sum, formant in
                let distance = (Double(harmonic) * (from + to) / 2 - formant.0) / 150
                return sum + formant.1 * exp(-distance * distance / 2)
            }
        }
        let level = between(0.1, 0.25)
        for frame in 0..<count {
            let pitch = from + (to - from) * Double(frame) / Double(count)
            phase += 2 * .pi * pitch / rate
            let edge = min(1, Double(min(frame, count - frame)) / (0.015 * rate))
            var sum = 0.0
            for harmonic in 1...30 where Double(harmonic) * pitch < 3_800 {
                sum += weights[harmonic - 1] * sin(Double(harmonic) * phase)
            }
            sound.append(Float(level * edge * sum / 2))
        }
        sound += [Float](repeating: 0, count: Int(between(0.01, 0.05) * rate))
    }
    return Array(sound[..<whole])
}
