// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation

/// The options for the encoding of a new sound file.
struct EncodingOptions: ParsableArguments {
    @Option(
        name: .lettered("bitrate"),
        help: ArgumentHelp(
            "Bit rate of MP3, AAC, Opus and Vorbis in kb/s: 128 or 128k; MP3 also V0 (best) to V9 (smallest).",
            valueName: "kb/s"))
    var bitrate: String?

    @Option(
        help: ArgumentHelp(
            "Sample format of WAV, AIFF, CAF and FLAC: 16, 24 or float. [default: the input's; record, mix: 24]",
            valueName: "bits"),
        completion: .list(["16", "24", "float"]))
    var bits: String?

    @Option(help: ArgumentHelp("FLAC compression, 0 (fast) to 8 (small).", valueName: "level"))
    var compression = 5

    func validate() throws {
        if let bitrate, Self.bitRate(bitrate) == nil {
            throw ValidationError("--bitrate must be 8 to 512 kb/s, or V0 to V9; got '\(bitrate)'")
        }
        if let bits, Self.sampleFormat(bits) == nil { throw ValidationError("--bits must be 16, 24 or float") }
        guard (0...8).contains(compression) else { throw ValidationError("--compression must be 0 to 8") }
    }

    /// - Parameter sampleFormat: the sample format to use without `--bits`.
    func settings(orAs sampleFormat: AudioFileWriter.SampleFormat) -> SoundFiles.Settings {
        SoundFiles.Settings(
            sampleFormat: bits.flatMap(Self.sampleFormat) ?? sampleFormat, bitRate: bitrate.flatMap(Self.bitRate),
            compressionLevel: compression)
    }

    private static func bitRate(_ text: String) -> MP3Encoder.BitRate? {
        if text.lowercased().hasPrefix("v"), let quality = Int(text.dropFirst()), (0...9).contains(quality) {
            return .variable(quality)
        }
        return BitRateArgument.kilobits(text).flatMap { (8...512).contains($0) ? .constant($0) : nil }
    }

    private static func sampleFormat(_ text: String) -> AudioFileWriter.SampleFormat? {
        ["16": .int16, "24": .int24, "float": .float32][text]
    }
}

/// The file types, by the names that users type.
enum FileKinds {
    static let all: [String: AudioFileType] = [
        "wav": .rf64, "aiff": .aiff, "caf": .caf, "flac": .flac, "ogg": .vorbis, "opus": .opus, "mp3": .mp3,
        "m4a": .m4a, "aac": .adts,
    ]
    static var names: [String] { all.keys.sorted() }
    /// Returns the extension of a file type.
    static func ending(_ type: AudioFileType) -> String { type.fileExtension }

    /// Returns the sentence for a file with an unknown extension.
    static func unknown(_ path: String) -> String {
        let ending = (path as NSString).pathExtension
        let format =
            ending.isEmpty && !path.hasPrefix(".") ? "of '\(path)'" : "'\(ending.isEmpty ? path : ".\(ending)")'"
        return "Unknown format \(format). Formats: \(names.joined(separator: ", "))."
    }

    /// Throws if a name is not a file type. The error lists all file types.
    static func check(_ name: String?) throws {
        guard let name, all[name.lowercased()] == nil else { return }
        throw ValidationError(unknown(".\(name)"))
    }
}
