import ArgumentParser
import AudioBase
import AudioContainers
import AudioFiles

/// How converted sound is to be.
struct ConversionOptions: ParsableArguments {
    /// By the name that people type.
    static let kinds: [String: AudioFileType] = [
        "wav": .rf64, "aiff": .aiff, "caf": .caf, "flac": .flac, "ogg": .vorbis, "opus": .opus, "mp3": .mp3,
        "m4a": .m4a,
        "aac": .adts,
    ]
    /// The ending of a file of a kind.
    static func ending(_ type: AudioFileType) -> String { kinds.first { $0.value == type }?.key ?? "wav" }

    @Option(help: ArgumentHelp("Sample rate, 8000 to 384000. Default: the input's.", valueName: "hertz"))
    var rate: Double?

    @Option(help: ArgumentHelp("Channels, 1 to 32. Default: the input's.", valueName: "count"))
    var channels: Int?

    @Option(
        help: ArgumentHelp(
            "Of MP3, AAC, Opus and Vorbis: kilobits a second, or V0 (best) to V9 (smallest).", valueName: "kb/s"))
    var bitrate: String?

    @Option(
        help: ArgumentHelp("Of WAV, AIFF, CAF and FLAC: 16, 24, or float. Default: as the input.", valueName: "bits"),
        completion: .list(["16", "24", "float"]))
    var bits: String?

    @Option(help: ArgumentHelp("Of FLAC: 0 is quick, 8 small.", valueName: "level"))
    var compression = 5

    @Option(
        help: ArgumentHelp(
            "Bring each file to this loudness, -70 to -5, such as --normalize=-16; peaks stay below -1 dBTP.",
            valueName: "LUFS"))
    var normalize: Double?

    @Flag(help: "Leave tags and pictures behind.")
    var noTags = false

    func validate() throws {
        if let rate, !AudioFormat.sampleRates.contains(rate) {
            throw ValidationError("--rate takes 8000 to 384000 (Hz)")
        }
        if let channels, !AudioFormat.channelCounts.contains(channels) {
            throw ValidationError("--channels takes 1 to 32")
        }
        if let bitrate, Self.bitRate(bitrate) == nil {
            throw ValidationError("--bitrate takes kilobits a second, 8 to 512, or V0 to V9; '\(bitrate)' is neither")
        }
        if let bits, Self.sampleFormat(bits) == nil { throw ValidationError("--bits takes 16, 24 or float") }
        guard (0...8).contains(compression) else { throw ValidationError("--compression takes 0 to 8") }
        if let normalize, !(-70 ... -5).contains(normalize) {
            throw ValidationError("--normalize takes -70 to -5 (LUFS)")
        }
    }

    func apply(to conversion: inout SoundFileConversion) {
        conversion.sampleRate = rate
        conversion.channelCount = channels
        conversion.loudness = normalize
        conversion.keepsTags = !noTags
        conversion.settings = SoundFiles.Settings(
            sampleFormat: bits.flatMap(Self.sampleFormat) ?? Self.sampleFormat(of: conversion.input),
            bitRate: bitrate.flatMap(Self.bitRate),
            compressionLevel: compression)
    }

    private static func bitRate(_ text: String) -> MP3Encoder.BitRate? {
        if text.lowercased().hasPrefix("v"), let quality = Int(text.dropFirst()), (0...9).contains(quality) {
            return .variable(quality)
        }
        return Int(text).flatMap { (8...512).contains($0) ? .constant($0) : nil }
    }

    /// As many bits as a file has; float where it has none to speak of.
    private static func sampleFormat(of path: String) -> AudioFileWriter.SampleFormat {
        switch (try? SoundFiles.info(path))?.bitDepth {
        case 8?, 16?: .int16
        case 20?, 24?: .int24
        default: .float32
        }
    }

    private static func sampleFormat(_ text: String) -> AudioFileWriter.SampleFormat? {
        ["16": .int16, "24": .int24, "float": .float32][text]
    }
}
