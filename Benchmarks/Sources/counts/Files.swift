// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import EarshotAudioBase
@testable import EarshotAudioContainers
@testable import EarshotAudioFiles

/// Files of two seconds of stereo at 44.1 kHz, converted like `earshot convert`, and seeks in them. The codecs' own work is not
/// counted. The files are in the working folder, whose name scripts/counts chooses, since its length affects the allocations of
/// strings.
enum Files {
    private static let format = AudioFormat(sampleRate: 44_100, channelCount: 2)
    private static let blocks = 86  // of 1,024 frames

    static func count() throws {
        let noise = Kernels.noise(channels: 2, frames: blocks * 1_024)
        let writer = try SoundFiles.create(
            "in.wav", format: format, settings: SoundFiles.Settings(sampleFormat: .int16))
        try writer.write(noise.channels, frameCount: blocks * 1_024, offset: 0)
        try writer.close()
        try convert("WAV to FLAC, level 5", "in.wav", "out.flac")
        try convert("WAV to MP3, V2", "in.wav", "out.mp3") { $0.settings.bitRate = .variable(2) }
        try convert("WAV to AAC, 128 kb/s", "in.wav", "out.m4a") { $0.settings.bitRate = .constant(128) }
        try convert("MP3 to WAV of 16 bits", "out.mp3", "out.wav")
        try convert("44.1 to 48 kHz, WAV of 16 bits", "in.wav", "out.wav") { $0.sampleRate = 48_000 }
        for file in ["out.mp3", "out.m4a"] { try seek(file) }
    }

    private static func convert(
        _ name: String, _ input: String, _ output: String, _ change: (inout SoundFileConversion) -> Void = { _ in }
    ) throws {
        var conversion = SoundFileConversion(from: input, to: output)
        conversion.settings.sampleFormat = .int16
        change(&conversion)
        // The first conversion performs the one-time initialisation of the libraries.
        _ = try conversion.run()
        try FileManager.default.removeItem(atPath: output)
        try counted("\(name), 1024 frames", blocks) { _ = try conversion.run() }
    }

    private static func seek(_ path: String) throws {
        let reader = try SoundFiles.open(path)
        let block = AudioBuffer(channelCount: 2, frameCapacity: 512)
        var random = SeededRandom(seed: 5)
        try counted("a seek in \(path.suffix(3).uppercased()), 512 frames read") {
            try reader.seek(to: Int(random.unit() * Double(reader.frameCount - 1_024)))
            require(try reader.read(into: block.channels, frameCount: 512) == 512, "the file is too short")
        }
    }
}
