// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles

/// The options of converted sound.
struct ConversionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Sample rate in Hz, 8000 to 384000. [default: the input's]", valueName: "hertz"))
    var rate: Double?

    @Option(help: ArgumentHelp("Channels, 1 to 32. [default: the input's]", valueName: "count"))
    var channels: Int?

    @OptionGroup var encoding: EncodingOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Normalize each file to this loudness, -70 to -5 LUFS, with peaks below -1 dBTP.",
            valueName: "LUFS"))
    var normalize: Double?

    @Flag(help: "Do not copy tags and pictures.")
    var noTags = false

    func validate() throws {
        if let rate, !AudioFormat.sampleRates.contains(rate) {
            throw ValidationError("--rate must be 8000 to 384000 (Hz)")
        }
        if let channels, !AudioFormat.channelCounts.contains(channels) {
            throw ValidationError("--channels must be 1 to 32")
        }
        if let normalize, !(-70 ... -5).contains(normalize) {
            throw ValidationError("--normalize must be -70 to -5 (LUFS)")
        }
    }

    func apply(to conversion: inout SoundFileConversion) {
        conversion.sampleRate = rate
        conversion.channelCount = channels
        conversion.loudness = normalize
        conversion.keepsTags = !noTags
        conversion.settings = encoding.settings(orAs: .float32)
    }

    /// Returns the input's bit depth; float if it has none, or the output's type lacks it.
    static func sampleFormat(of conversion: SoundFileConversion) -> AudioFileWriter.SampleFormat {
        guard let type = conversion.type, [.wav, .rf64, .aiff, .caf, .flac].contains(type) else { return .float32 }
        return switch (try? SoundFiles.info(conversion.input))?.bitDepth {
        case 8?, 16?: .int16
        case 20?, 24?: .int24
        default: .float32
        }
    }
}
