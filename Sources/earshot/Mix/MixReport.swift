// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import EarshotLiveCall
import Foundation

/// The report of `mix --json`. The manual page documents its fields, which must not change.
struct MixReport: Encodable {
    struct Voice: Encodable {
        var name: String
        var file: String
        /// `voice` or `song`.
        var kind: String
        var balanceDb: Double
        /// −1 for left, 1 for right.
        var pan: Double
        var nudgeMs: Double
        /// The gaps in the recording, which are silent, and their seconds.
        var gaps: Int
        var gapSeconds: Double
        /// The reasons that the voice is not complete in the mix, apart from the gaps.
        var problems: [String]
        /// The part of a duet's song that the singer had, 1 or 2; nil if unknown.
        var part: Int?
    }

    var folder: String
    var output: String
    var preset: String
    var rate: Double
    var frames: Int
    var seconds: Double
    /// The loudness before encoding in LUFS; nil for silence.
    var loudnessLufs: Double?
    /// The true peak before encoding in dBTP; nil for silence.
    var truePeakDbtp: Double?
    var gainDb: Double
    var limited: Bool
    var clippedSamples: Int
    var voices: [Voice]
    /// The files of `--stems`.
    var stems: [String]
    /// The file of `--picture`; nil without it.
    var picture: String?
    /// The times that the voices were rendered for the mix.
    var passes: Int
    var elapsedSeconds: Double
    var timesRealTime: Double

    init(
        _ source: MixSource, _ settings: MixSettings, _ result: MixFile.Result, output: String, stems: [String],
        picture: String?,
        elapsed: Double
    ) {
        (folder, self.output, preset, self.stems) = (source.folder, output, settings.preset.name, stems)
        self.picture = picture
        (rate, frames, seconds) = (
            result.sampleRate, result.frameCount, Double(result.frameCount) / result.sampleRate
        )
        loudnessLufs = result.loudness
        truePeakDbtp = result.truePeak.isFinite ? result.truePeak : nil
        (gainDb, limited, clippedSamples) = (result.gain, result.isLimited, result.clippedSampleCount)
        voices = source.voices.enumerated().map { index, voice in
            Voice(
                name: voice.name, file: voice.file, kind: voice.isSong ? "song" : "voice",
                balanceDb: Double(settings.voices[index].balance), pan: Double(settings.pan(of: index)),
                nudgeMs: settings.voices[index].nudge, gaps: voice.gapCount,
                gapSeconds: voice.gapSeconds,
                problems: result.faults.filter { $0.file == voice.file }.map(\.text), part: voice.part)
        }
        passes = result.passCount
        (elapsedSeconds, timesRealTime) = (elapsed, elapsed > 0 ? seconds / elapsed : 0)
        target = settings.loudness
    }

    private let target: Double?

    private enum CodingKeys: String, CodingKey {
        case folder, output, preset, rate, frames, seconds, loudnessLufs, truePeakDbtp, gainDb, limited
        case clippedSamples, voices, stems, picture, passes, elapsedSeconds, timesRealTime
    }

    /// The warnings, one line per voice and one about the sound.
    var warnings: [String] {
        var warnings = voices.compactMap { voice -> String? in
            guard let first = voice.problems.first else { return nil }
            let others = voice.problems.count - 1
            let subject = voice.kind == "song" ? "The song" : "\(voice.name)'s voice"
            return "\(subject) is incomplete: \(first)"
                + (others > 0 ? " \(others) more in --json." : "")
        }
        if clippedSamples > 0 {
            warnings.append(
                "\(output): \(clippedSamples) samples are louder than full scale and were clipped. "
                    + "Use --bits float, or omit --no-normalize.")
        }
        if let target, let loudnessLufs, abs(loudnessLufs - target) > 0.5 {
            warnings.append(
                String(
                    format: "%@: %.1f LUFS instead of %.0f, because %@.", output, loudnessLufs, target,
                    limited ? "its peaks are limited" : "the gain is at most 40 dB")
            )
        }
        return warnings
    }

    /// The report as text.
    var text: String {
        let level =
            loudnessLufs.map {
                String(format: ", %.1f LUFS (%+.1f dB%@)", $0, gainDb, limited ? ", peaks limited" : "")
            }
            ?? ", silent"
        let voiceCount = voices.count { $0.kind == "voice" }
        let words =
            "\(voiceCount) \(voiceCount == 1 ? "voice" : "voices")" + (voiceCount < voices.count ? ", a song" : "")
        let stemWords = stems.isEmpty ? "" : ", \(stems.count) files for a DAW"
        return TerminalText.sanitizedLine("\(folder) → \(output)")
            + ": \(words), \(FileFormatting.time(seconds))\(level)\(stemWords)\(picture == nil ? "" : ", a picture"), "
            + "\(FileFormatting.decimal(timesRealTime)) times real time\n"
    }
}

extension MixFault {
    /// One sentence for the user.
    fileprivate var text: String {
        switch kind {
        case .missing, .damaged: "\(description)."
        case .short(let seconds): String(format: "\(description.replacing("%", with: "%%")), by %.1f s.", seconds)
        }
    }
}
