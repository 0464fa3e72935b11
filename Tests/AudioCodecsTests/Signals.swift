// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation

/// Seeded test signals and measurements of them.
enum Signals {
    /// White noise, uniform in ±`level`, low-pass filtered by a moving average of `smoothing` samples.
    static func noise(_ count: Int, level: Float = 0.5, smoothing: Int = 1, seed: UInt64 = 1) -> [Float] {
        var generator = SplitMix(state: seed)
        let white = (0..<count + smoothing).map { _ in Float.random(in: -level...level, using: &generator) }
        return (0..<count).map { i in white[i..<i + smoothing].reduce(0, +) / Float(smoothing) }
    }

    static func sine(_ count: Int, hertz: Double, rate: Double, level: Float = 0.5) -> [Float] {
        (0..<count).map { level * Float(sin(2 * Double.pi * hertz * Double($0) / rate)) }
    }

    /// Returns the lag, 0 to `limit`, at which `heard` matches `said` best.
    static func lag(of heard: [Float], behind said: [Float], limit: Int) -> Int {
        let length = min(said.count, heard.count - limit)
        var best = (lag: 0, score: -Float.infinity)
        for lag in 0...limit {
            var score: Float = 0
            var i = 0
            while i < length {
                score += said[i] * heard[i + lag]
                i += 1
            }
            if score > best.score { best = (lag, score) }
        }
        return best.lag
    }

    /// Returns the ratio of signal to error in dB of `heard`, from `lag` on, relative to `said`.
    static func ratio(_ heard: ArraySlice<Float>, _ said: ArraySlice<Float>) -> Double {
        var (signal, error) = (0.0, 1e-20)
        for (h, s) in zip(heard, said) {
            signal += Double(s * s)
            error += Double((h - s) * (h - s))
        }
        return 10 * log10(signal / error)
    }
}

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

extension AudioBuffer {
    convenience init(_ signals: [[Float]]) {
        self.init(channelCount: signals.count, frameCapacity: signals[0].count)
        for (c, signal) in signals.enumerated() { for (i, x) in signal.enumerated() { channels[c][i] = x } }
    }

    func samples(_ channel: Int) -> [Float] {
        Array(UnsafeBufferPointer(start: channels[channel], count: frameCapacity))
    }
}
