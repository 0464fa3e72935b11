// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioFiles
import Glibc

/// Applies one gain to a whole sound, holds its true peaks below a ceiling, and measures the result. The loudness that the limiter
/// takes is not compensated.
package final class LoudnessNormalizer {
    /// The gain in dB.
    package let decibels: Double
    private let gain: Float
    private let limiter: UnitInstance?
    private let meter: LoudnessMeter
    /// Frames of the limiter's delay that are still to be removed.
    private var lead: Int
    private let channelCount: Int

    /// The highest true peak in dBTP of a sound that is changed to a target loudness.
    static let ceiling = -1.0

    /// - Parameters:
    ///   - decibels: the gain.
    ///   - ceiling: in dBTP; nil to limit nothing.
    ///   - measuresTruePeak: false to measure only the loudness.
    package init(decibels: Double, ceiling: Double?, format: AudioFormat, measuresTruePeak: Bool) {
        self.decibels = decibels
        gain = Float(pow(10, decibels / 20))
        channelCount = format.channelCount
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
        meter = LoudnessMeter(
            sampleRate: format.sampleRate, channelCount: format.channelCount, measuresTruePeak: measuresTruePeak)
    }

    /// Changes a measured sound to a target loudness, with peaks below ``ceiling``.
    convenience init(_ measured: LoudnessMeter.Measurement, target: Double, format: AudioFormat) {
        // Silence has no loudness, so it stays as it is.
        let decibels = measured.integrated.isFinite ? target - measured.integrated : 0
        self.init(
            decibels: decibels, ceiling: measured.truePeak + decibels > Self.ceiling ? Self.ceiling : nil,
            format: format, measuresTruePeak: false)
    }

    package var isLimiting: Bool { limiter != nil }

    /// The loudness and peaks of the output so far.
    package var measurement: LoudnessMeter.Measurement { meter.measurement }

    /// The loudness of the output in LUFS; nil if nothing passed the gates.
    package var measured: Double? { measurement.integrated.isFinite ? measurement.integrated : nil }

    /// Changes a block in place. Returns the frames to keep, which exclude the limiter's delay.
    package func process(_ channels: Channels, _ count: Int) -> Range<Int> {
        for c in 0..<channelCount where gain != 1 { scaleSamples(channels[c], channels[c], count, gain: gain) }
        limiter?.process(channels, channels, frameCount: count)
        let kept = min(lead, count)..<count
        lead -= kept.lowerBound
        meter.add(channels, offset: kept.lowerBound, frameCount: kept.count)
        return kept
    }

    /// Passes on the sound that the limiter still holds.
    package func finish(_ give: (Channels, Range<Int>) throws(AudioFileError) -> Void) throws(AudioFileError) {
        guard let limiter else { return }
        let rest = AudioBuffer(channelCount: channelCount, frameCapacity: limiter.latency)
        for c in 0..<channelCount { clearSamples(rest.channels[c], limiter.latency) }
        try give(rest.channels, process(rest.channels, limiter.latency))
    }
}
