// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import Foundation

/// Sounds and packets for measurements.
public enum Sounds {
    /// A gliding harmonic sound with breath noise, four times per second.
    public static func voice(sampleRate: Double, seconds: Int = 4) -> AudioBuffer {
        let count = seconds * Int(sampleRate)
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: count)
        var phase = 0.0
        var noise: UInt32 = 1
        for i in 0..<count {
            let t = Double(i) / sampleRate
            phase += 2 * .pi * (150 + 40 * sin(2 * .pi * 0.7 * t)) / sampleRate
            noise = noise &* 1_664_525 &+ 1_013_904_223
            let tone = (1...20).reduce(0.0) { $0 + sin(Double($1) * phase) / Double($1) }
            let level = 0.12 * (1 - cos(2 * .pi * 4 * t))
            buffer.channels[0][i] = Float(level * (tone + 0.1 * (Double(noise) / Double(UInt32.max) - 0.5)))
        }
        return buffer
    }

    /// Returns the voice at 48 kHz as packets of 64 kb/s.
    public static func opusPackets(_ duration: OpusFrameDuration, seconds: Int = 4) throws -> [[UInt8]] {
        let sound = voice(sampleRate: 48_000, seconds: seconds)
        let encoder = try OpusEncoder(channelCount: 1, frameDuration: duration, bitRate: 64_000)
        var bytes = [UInt8](repeating: 0, count: 1_500)
        return try (0..<sound.frameCapacity / duration.frameCount).map { n in
            let count = try bytes.withUnsafeMutableBytes {
                try encoder.encode(sound.channels, offset: n * duration.frameCount, into: $0)
            }
            return Array(bytes[..<count])
        }
    }
}
