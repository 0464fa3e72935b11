// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation
import Testing

/// A file returns as many frames as were written.
@Suite struct GaplessTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        let type: AudioFileType
        var bitRate: MP3Encoder.BitRate?
        var channels = [1, 2]
        var testDescription: String { "\(type) \(bitRate.map { "\($0)" } ?? "")" }
    }
    static let kinds = [
        Kind(type: .wav, channels: [1, 2, 6]), Kind(type: .rf64, channels: [1, 2, 6]),
        Kind(type: .aiff, channels: [1, 2, 6]), Kind(type: .caf, channels: [1, 2, 6]),
        Kind(type: .flac, channels: [1, 2, 6]), Kind(type: .vorbis), Kind(type: .opus), Kind(type: .mp3),
        Kind(type: .mp3, bitRate: .constant(64)), Kind(type: .m4a), Kind(type: .adts),
    ]
    static let rates = [8_000.0, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000, 88_200, 96_000]

    @Test("Every file type preserves the frame count at every sample rate and length", arguments: kinds)
    func roundTrip(kind: Kind) throws {
        let folder = try Folder()
        let path = folder.path("a.bin")
        for (index, rate) in Self.rates.enumerated() {
            for channels in kind.channels {
                let format = AudioFormat(sampleRate: rate, channelCount: channels)
                let said = sound(frames: 4_801, channels: channels, rate: rate)
                // Each sample rate has another odd length.
                for frames in [0, 1, 1_151 + index, 4_801] {
                    let settings = SoundFiles.Settings(bitRate: kind.bitRate)
                    let writer = try SoundFiles.create(path, type: kind.type, format: format, settings: settings)
                    try writer.write(said.channels, frameCount: frames, offset: 0)
                    try writer.close()
                    #expect(writer.frameCount == frames)
                    try check(kind.type, path, format, frames)
                }
            }
        }
    }

    private func check(_ type: AudioFileType, _ path: String, _ format: AudioFormat, _ frames: Int) throws {
        let reader = try SoundFiles.open(path)
        let rate = reader.processingFormat.sampleRate
        let expected = RateConverter.frameCount(frames, from: format.sampleRate, to: rate)
        let heard = try contents(reader)[0].count
        let what = "\(type) of \(frames) frames, \(format.channelCount) channels at \(format.sampleRate) Hz"
        #expect(heard == reader.frameCount, "\(what)")
        // An ADTS file cannot declare where its sound begins and ends.
        if type == .adts { return #expect((expected...expected + 4_096).contains(heard), "\(what): \(heard)") }
        // At these sample rates no decoder finds the exact length of an MP3 shorter than a block, even in LAME's own files.
        if type == .mp3, rate <= 24_000, expected < 576 { return #expect(heard < 1_152, "\(what): \(heard)") }
        #expect(heard == expected, "\(what): \(heard)")
        // Opus and MP3 support at most 48 kHz, and MP3 halves 88.2 kHz. All others keep the sample rate.
        let isLimited = type == .opus || type == .mp3
        #expect(isLimited ? rate >= min(format.sampleRate, 44_100) : rate == format.sampleRate, "\(what): \(rate) Hz")
        if rate < format.sampleRate { return }
        let back = ConvertedFileReader(try SoundFiles.open(path), as: format)
        let block = AudioBuffer(channelCount: format.channelCount, frameCapacity: 8_192)
        #expect(try back.read(into: block.channels, frameCount: 8_192) == frames, "\(what), back at its own rate")
        #expect(back.frameCount == frames, "\(what)")
    }

    @Test func `thirty seconds of 44100 Hz sound give thirty seconds of Opus`() throws {
        #expect(RateConverter.frameCount(1_323_000, from: 44_100, to: 48_000) == 1_440_000)
        let folder = try Folder()
        let path = folder.path("a.opus")
        let writer = try SoundFiles.create(path, format: AudioFormat(sampleRate: 44_100, channelCount: 1))
        try writer.writeSilence(frameCount: 1_323_000)
        try writer.close()
        #expect(try SoundFiles.open(path).frameCount == 1_440_000)
    }

    @Test func `a frame count converted to another rate and back is unchanged`() {
        for (from, to) in [(44_100.0, 48_000.0), (11_025, 48_000), (47_999.5, 48_000), (8_000, 384_000)] {
            for count in (0..<2_000) + [1_323_000, 158_760_000, 3_810_240_001] {
                let there = RateConverter.frameCount(count, from: from, to: to)
                #expect(RateConverter.frameCount(there, from: to, to: from) == count)
            }
        }
        #expect(RateConverter.frameCount(1, from: 384_000, to: 8_000) == 1)
        #expect(RateConverter.frameCount(.max, from: 8_000, to: 48_000) == .max)
    }
}
