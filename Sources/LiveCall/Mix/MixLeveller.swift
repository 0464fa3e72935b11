// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import Glibc

/// Applies a gain to a mix, holds its true peaks below a ceiling, and measures the result. For one thread at a time.
final class MixLeveller {
    /// Frames of the limiter's delay that are still to be removed.
    private var lead: Int
    private let gain: Float
    private let limiter: UnitInstance?
    private let meter: LoudnessMeter
    private(set) var clippedSampleCount = 0

    /// - Parameters:
    ///   - decibels: the gain.
    ///   - ceiling: in dBTP; nil to limit nothing.
    init(decibels: Double, ceiling: Double?, format: AudioFormat) {
        gain = decibels == 0 ? 1 : Float(pow(10, decibels / 20))
        if let ceiling {
            let unit = UnitType.limiter.makeUnit(sampleRate: format.sampleRate, channelCount: format.channelCount)
            var values = unit.description.defaultValues
            if let index = unit.description.index(of: "ceiling") { values[index] = Float(ceiling) }
            unit.set(values)
            limiter = unit
        } else {
            limiter = nil
        }
        lead = limiter?.latency ?? 0
        meter = LoudnessMeter(sampleRate: format.sampleRate, channelCount: format.channelCount)
    }

    /// The frames that the limiter holds at the end.
    var latency: Int { limiter?.latency ?? 0 }
    var isLimiting: Bool { limiter != nil }
    /// The loudness and peaks of the result so far.
    var measurement: LoudnessMeter.Measurement { meter.measurement }

    /// Changes a block in place. Returns the frames to keep, which exclude the limiter's delay.
    func process(_ channels: Channels, _ count: Int) -> Range<Int> {
        for c in 0..<channels.count where gain != 1 { scaleSamples(channels[c], channels[c], count, gain: gain) }
        limiter?.process(channels, channels, frameCount: count)
        let kept = min(lead, count)..<count
        lead -= kept.lowerBound
        meter.add(channels, offset: kept.lowerBound, frameCount: kept.count)
        for c in 0..<channels.count {
            clippedSampleCount += countBeyondFullScale(channels[c] + kept.lowerBound, kept.count)
        }
        return kept
    }
}
