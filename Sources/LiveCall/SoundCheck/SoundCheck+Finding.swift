// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

extension SoundCheck {
    /// The levels of a recording, in dBFS.
    package struct Levels: Hashable, Sendable {
        /// The RMS level of the loudest 100 ms.
        package var level: Double
        /// The highest absolute sample.
        package var peak: Double
    }

    /// The judgement of a microphone.
    package enum Finding: Hashable, Sendable {
        /// No fault was found.
        case fine(Levels)
        /// The loudest 100 ms are below ``SoundCheck/quietLevel``.
        case tooQuiet(Levels)
        /// More than a tenth of the recording has samples at full scale.
        case clipping(Levels)
        /// All samples are zero: muted by software, or an input without a microphone.
        case digitalSilence
        /// The device delivered only this many seconds of sound in time.
        case stalled(capturedSeconds: Double)
        /// The route has no microphone.
        case noMicrophone

        /// The name in files and reports, without the values.
        package var name: String {
            switch self {
            case .fine: "fine"
            case .tooQuiet: "tooQuiet"
            case .clipping: "clipping"
            case .digitalSilence: "digitalSilence"
            case .stalled: "stalled"
            case .noMicrophone: "noMicrophone"
            }
        }

        /// The levels of the recording; nil if there is no sound in it.
        package var levels: Levels? {
            switch self {
            case .fine(let levels), .tooQuiet(let levels), .clipping(let levels): levels
            case .digitalSilence, .stalled, .noMicrophone: nil
            }
        }

        /// True if no fault was found.
        package var isFine: Bool {
            if case .fine = self { true } else { false }
        }

        /// True if the recording is worth playing.
        var hasSound: Bool { levels != nil }
    }

    /// The level in dBFS below which a voice is too quiet: 24 dB below that of recorded speech, -26 dBov (ITU-T P.56, P.800).
    package static let quietLevel = -50.0
    /// Seconds of each judged window.
    static let windowDuration = 0.1
    /// The lowest magnitude at full scale. Converters of 16 bits reach 0.99997.
    static let fullScale: Float = 0.999_9
    /// The share of windows that may have samples at full scale. A single pop or tap does not exceed it.
    static let clippedShare = 0.1
}

extension SoundCheck.Finding {
    /// Judges a recording.
    init(_ recording: [Float], sampleRate: Double) {
        let windowLength = max(1, Int(sampleRate * SoundCheck.windowDuration))
        var (maximumMeanSquare, peak): (Float, Float) = (0, 0)
        var (windowCount, clippedCount) = (0, 0)
        recording.withUnsafeBufferPointer { samples in
            guard let first = samples.baseAddress else { return }
            for start in stride(from: 0, to: samples.count, by: windowLength) {
                let count = min(windowLength, samples.count - start)
                let window = peakAndEnergyOfSamples(first + start, count)
                maximumMeanSquare = max(maximumMeanSquare, window.energy / Float(count))
                peak = max(peak, window.peak)
                windowCount += 1
                clippedCount += window.peak >= SoundCheck.fullScale ? 1 : 0
            }
        }
        guard peak > 0 else {
            self = .digitalSilence
            return
        }
        let levels = SoundCheck.Levels(
            level: Double(gainToDecibels(maximumMeanSquare.squareRoot())), peak: Double(gainToDecibels(peak)))
        if Double(clippedCount) > SoundCheck.clippedShare * Double(windowCount) {
            self = .clipping(levels)
        } else if levels.level < SoundCheck.quietLevel {
            self = .tooQuiet(levels)
        } else {
            self = .fine(levels)
        }
    }
}
