// SPDX-License-Identifier: Apache-2.0

import EarshotAudioContainers
import EarshotAudioFiles
import Foundation

/// The report of `convert --json` on a file. The manual page documents its fields, which must not change.
struct ConversionReport: Codable {
    var input: String
    var output: String
    var type: String
    var rate: Double
    var channels: Int
    var frames: Int
    var seconds: Double
    var bytes: Int
    /// The LUFS of the output; nil if none was requested.
    var loudnessLufs: Double?
    var gainDb: Double
    /// True if peaks were limited to reach the loudness.
    var limited: Bool
    /// The first damage of the input; nil if all of it was read.
    var damage: String?
    /// The samples that were NaN or infinite, and became 0.
    var invalidSamples: Int
    /// The samples beyond full scale that were clipped.
    var clippedSamples: Int
    /// The input's content that was not copied: `chapters`, `markers`, `loops`, `cueSheet`, `broadcastInfo`, `productionNotes`.
    var notCopied: [String]
    var elapsedSeconds: Double
    var timesRealTime: Double
    /// The reason that tags or pictures were left out.
    var warning: String?

    init(_ item: ConversionPlan.Item, _ result: SoundFileConversion.Result, seconds elapsed: Double) {
        input = item.source.name
        output = item.spool == nil ? item.output : "-"
        type = FileKinds.ending(result.type)
        rate = result.fileSampleRate
        channels = result.format.channelCount
        seconds = Double(result.frameCount) / result.format.sampleRate
        frames = Int((seconds * rate).rounded())
        bytes = PathText.status(item.output).map { Int($0.st_size) } ?? 0
        loudnessLufs = result.loudness
        gainDb = result.gain
        limited = result.isLimited
        if let error = result.inputDamage {
            damage = item.named(error.description)
            damageError = ErrorText.join(
                "\(item.named(error.description)). Converted what could be read: \(FileFormatting.time(seconds)).",
                error.advice)
        }
        invalidSamples = result.faultCount
        clippedSamples = result.clippedSampleCount
        notCopied = result.lostExtras.map(\.rawValue)
        lostExtras = result.lostExtras
        elapsedSeconds = elapsed
        timesRealTime = elapsed > 0 ? seconds / elapsed : 0
        warning = result.tagsError.map { "Tags were not copied: \(item.named(ErrorText.text($0)))" }
        if rate < result.format.sampleRate {
            lowerRate =
                "\(output) has \(FileFormatting.kilohertz(rate)): \(type) does not support "
                + "\(FileFormatting.kilohertz(result.format.sampleRate))."
        }
    }

    /// The warning that the file has a lower sample rate than requested; not in the JSON, which has the rate.
    private(set) var lowerRate: String?
    /// The error about a damaged input, which was converted as far as possible; not in the JSON, which has the damage.
    private(set) var damageError: String?

    private var lostExtras: [AudioFileExtra] = []

    /// The warnings about the sound and what is beside it, one sentence each.
    var warnings: [String] {
        var warnings: [String] = []
        if !lostExtras.isEmpty {
            warnings.append("\(input): not copied: \(lostExtras.map(\.name).joined(separator: ", ")).")
        }
        if invalidSamples > 0 {
            warnings.append("\(input): \(invalidSamples) invalid samples (NaN or infinite) are now silence.")
        }
        if clippedSamples > 0 {
            warnings.append(
                "\(output): \(clippedSamples) samples are louder than full scale and were clipped. "
                    + "Use --bits float or --normalize.")
        }
        return warnings
    }

    private enum CodingKeys: String, CodingKey {
        case input, output, type, rate, channels, frames, seconds, bytes, loudnessLufs, gainDb, limited
        case damage, invalidSamples, clippedSamples, notCopied, elapsedSeconds, timesRealTime, warning
    }

    /// The report as text.
    var text: String {
        let level =
            loudnessLufs.map {
                String(format: ", %.1f LUFS (%+.1f dB%@)", $0, gainDb, limited ? ", peaks limited" : "")
            } ?? ""
        return TerminalText.sanitizedLine("\(input) → \(output)") + ": \(FileFormatting.time(seconds)), "
            + FileFormatting.format(rate: rate, channels: channels) + ", \(FileFormatting.size(bytes))\(level), "
            + "\(FileFormatting.decimal(timesRealTime)) times real time\n"
    }
}

extension AudioFileExtra {
    fileprivate var name: String {
        switch self {
        case .chapters: "chapters"
        case .markers: "markers"
        case .loops: "loops"
        case .cueSheet: "cue sheet"
        case .broadcastInfo: "broadcast information (BWF)"
        case .productionNotes: "production notes (iXML)"
        }
    }
}

/// Shows the progress of a batch on a terminal.
struct ConversionProgress {
    private let count: Int
    private var line = ProgressLine()

    init(count: Int) { self.count = count }

    mutating func show(_ done: (files: Int, part: Double)) {
        let count = count
        line.show { Self.text(files: done.files, of: count, part: done.part, elapsed: $0) }
    }

    static func text(files: Int, of count: Int, part: Double, elapsed: Double) -> String {
        let width = 24
        let filled = Int((part * Double(width)).rounded())
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
        let left =
            part > 0.02
            ? ", \(FileFormatting.time((elapsed / part - elapsed).rounded()).prefix { $0 != "." }) left" : ""
        let files = count > 1 ? ", \(files) of \(count) files" : ""
        return "\(bar) \(String(format: "%3.0f", part * 100)) %\(files)\(left)"
    }

    func clear() { line.clear() }
}
