// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioFiles
import Glibc

/// Changes a sound to a target loudness and keeps its peaks below −1 dBTP.
///
/// Applies one gain to the whole sound. A limiter holds the peaks below the ceiling; the loudness lost in this way is not
/// compensated.
final class LoudnessNormalizer {
    /// The gain in dB.
    let decibels: Double
    private let gain: Float
    private let limiter: UnitInstance?
    private let meter: LoudnessMeter
    /// Frames of the limiter's delay that are still to be removed.
    private var lead: Int
    private let channelCount: Int

    /// The highest allowed true peak in dBTP.
    static let ceiling = -1.0

    init(_ measured: LoudnessMeter.Measurement, target: Double, format: AudioFormat) {
        // Silence has no loudness, so it stays as it is.
        decibels = measured.integrated.isFinite ? target - measured.integrated : 0
        gain = Float(pow(10, decibels / 20))
        channelCount = format.channelCount
        if measured.truePeak + decibels > Self.ceiling {
            let unit = UnitType.limiter.makeUnit(sampleRate: format.sampleRate, channelCount: format.channelCount)
            var values = unit.description.parameters.map(\.defaultValue)
            values[0] = Float(Self.ceiling)
            unit.set(values)
            limiter = unit
        } else {
            limiter = nil
        }
        lead = limiter?.latency ?? 0
        meter = LoudnessMeter(
            sampleRate: format.sampleRate, channelCount: format.channelCount, measuresTruePeak: false)
    }

    var isLimiting: Bool { limiter != nil }

    /// The loudness of the output in LUFS; nil if nothing passed the gates.
    var measured: Double? { meter.measurement.integrated.isFinite ? meter.measurement.integrated : nil }

    /// Changes a block in place. Returns the frames to keep, which exclude the limiter's delay.
    func process(_ channels: Channels, _ count: Int) -> Range<Int> {
        for c in 0..<channelCount { scaleSamples(channels[c], channels[c], count, gain: gain) }
        limiter?.process(channels, channels, frameCount: count)
        let kept = min(lead, count)..<count
        lead -= kept.lowerBound
        meter.add(channels, offset: kept.lowerBound, frameCount: kept.count)
        return kept
    }

    /// Passes on the sound that the limiter still holds.
    func finish(_ give: (Channels, Range<Int>) throws(AudioFileError) -> Void) throws(AudioFileError) {
        guard let limiter else { return }
        let rest = AudioBuffer(channelCount: channelCount, frameCapacity: limiter.latency)
        for c in 0..<channelCount { clearSamples(rest.channels[c], limiter.latency) }
        try give(rest.channels, process(rest.channels, limiter.latency))
    }
}
