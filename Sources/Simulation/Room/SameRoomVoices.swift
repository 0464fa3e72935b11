// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotCall
import EarshotDiagnostics
import Foundation

/// The sound of people and of a song, with a root mean square of 0.1 while it lasts.
enum SameRoomVoices {
    static let rate = SameRoomDetector.sampleRate

    /// Recorded sentences in random order from random positions, with pauses of 0.2 to 0.8 s.
    static func talk(_ random: inout SeededRandom, count: Int, _ sentences: [[Float]]) -> [Float] {
        var samples: [Float] = silence(0.5 * random.unit())
        while samples.count < count {
            let sentence = sentences[Int(random.unit() * Double(sentences.count))]
            let first = Int(random.unit() * 0.5 * Double(sentence.count))
            samples += sentence[first...].prefix(Int((1 + 3 * random.unit()) * rate))
            samples += silence(0.2 + 0.6 * random.unit())
        }
        return Array(samples.prefix(count))
    }

    /// Notes of 0.3 to 1.5 s with vibrato, four formants, breath 20 dB lower, and a consonant before each.
    static func sing(_ random: inout SeededRandom, count: Int) -> [Float] {
        let lowest = random.unit() < 0.5 ? 130.0 : 220.0
        var samples: [Float] = []
        var noise = SeededRandom(seed: random.next())
        while samples.count < count {
            let pitch = lowest * pow(2, (random.unit() * 12).rounded(.down) / 12)
            let formants = [400 + 400 * random.unit(), 1_000 + 1_200 * random.unit(), 2_700, 3_500]
            for _ in 0..<Int((0.03 + 0.05 * random.unit()) * rate) { samples.append(0.15 * gauss(&noise)) }
            samples += note(pitch, formants, seconds: 0.3 + 1.2 * random.unit(), &noise)
            samples += silence(0.2 * random.unit())
        }
        return Array(samples.prefix(count))
    }

    private static func note(
        _ pitch: Double, _ formants: [Double], seconds: Double, _ noise: inout SeededRandom
    ) -> [Float] {
        let count = Int(seconds * rate)
        let gains = (1...Int(3_900 / pitch)).map { harmonic in
            let frequency = Double(harmonic) * pitch
            return formants.reduce(0) { $0 + 1 / (1 + pow(($1 - frequency) / 150, 2)) } / Double(harmonic).squareRoot()
        }
        let scale = 0.1 / (gains.reduce(0) { $0 + $1 * $1 } / 2).squareRoot()
        var phase = 0.0
        return (0..<count).map { frame in
            let time = Double(frame) / rate
            phase += 2 * .pi * pitch * (1 + 0.008 * sin(2 * .pi * 5.5 * time)) / rate
            var sum = 0.0
            for (index, gain) in gains.enumerated() { sum += gain * cos(Double(index + 1) * phase) }
            let fade = min(1, time / 0.03, (seconds - time) / 0.05)
            return Float(fade * (scale * sum + 0.01 * Double(gauss(&noise))))
        }
    }

    static func noise(_ random: inout SeededRandom, count: Int, gain: Float) -> [Float] {
        (0..<count).map { _ in gain * gauss(&random) }
    }

    /// Returns the sound of files at ``rate``, each with the same level.
    static func sentences(_ paths: [String]) throws(AudioFileError) -> [[Float]] {
        try paths.map { path throws(AudioFileError) in
            let samples = try TimedSignal(AudioFileReader(path: path), firstFrameTime: HostTime(nanoseconds: 0))
                .resampled(to: rate)
            let power = samples.reduce(0) { $0 + $1 * $1 } / Float(samples.count)
            return samples.map { $0 * 0.1 / power.squareRoot() }
        }
    }

    private static func silence(_ seconds: Double) -> [Float] { [Float](repeating: 0, count: Int(seconds * rate)) }

    /// A number with nearly a normal distribution of variance 1.
    private static func gauss(_ random: inout SeededRandom) -> Float {
        Float(2 * (random.unit() + random.unit() + random.unit() - 1.5))
    }
}
