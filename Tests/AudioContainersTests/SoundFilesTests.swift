// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation
import Testing

@Suite struct SoundFilesTests {
    /// Kinds of files, and the error of their sound in dB.
    private static let kinds: [(AudioFileType, ending: String, decibels: Double)] = [
        (.wav, "wav", 120), (.rf64, "wav", 120), (.aiff, "aiff", 120), (.caf, "caf", 120), (.flac, "flac", 110),
        (.mp3, "mp3", 15), (.m4a, "m4a", 15), (.vorbis, "ogg", 12), (.opus, "opus", 8),
    ]

    @Test("Files created by extension or by type are opened by their content", arguments: kinds.indices)
    func roundTrip(kind: Int) throws {
        let (type, ending, decibels) = Self.kinds[kind]
        let folder = try Folder()
        let said = sound(frames: 40_001, noise: 0.01)
        let format = AudioFormat(sampleRate: 48_000, channelCount: 2)
        for (name, asked) in [("a.\(ending)", nil), ("b.bin", type)] {
            let path = folder.path(name)
            try write(said, frames: 40_001, to: SoundFiles.create(path, type: asked, format: format))
            let reader = try SoundFiles.open(path)
            #expect(reader.processingFormat == format && reader.frameCount == 40_001)
            let heard = try contents(reader)
            #expect(heard[0].count == 40_001)
            let ratio = signalToError(heard[1], said, 1, 3_000..<37_000)
            #expect(ratio > decibels, "\(type): \(ratio) dB")
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test func `ADTS is created with the encoder's priming and only at a constant bit rate`() throws {
        let folder = try Folder()
        let said = sound(frames: 40_001, noise: 0.01)
        let path = folder.path("a.aac")
        let settings = SoundFiles.Settings(bitRate: .constant(192))
        let format = AudioFormat(sampleRate: 48_000, channelCount: 2)
        try write(said, frames: 40_001, to: SoundFiles.create(path, format: format, settings: settings))
        #expect(try SoundFiles.open(path).frameCount > 40_001)
        #expect(try bytes(path).prefix(2) == [0xFF, 0xF1])
        let error = #expect(throws: AudioFileError.self) {
            try SoundFiles.create(path, format: format, settings: SoundFiles.Settings(bitRate: .variable(3)))
        }
        guard case .unsupportedFormat? = error else { Issue.record("\(String(describing: error))"); return }
    }

    @Test func `our own M4A files accept tags, and their sound is unchanged`() throws {
        let folder = try Folder()
        let said = sound(frames: 150_000)
        let path = folder.path("a.m4a")
        try write(
            said, frames: 150_000,
            to: SoundFiles.create(path, format: AudioFormat(sampleRate: 48_000, channelCount: 2)))
        let before = try contents(path)
        var tags = AudioFileTags()
        tags.title = "Ouverture"
        tags.pictures = [AudioFileTags.Picture(mimeType: "image/png", bytes: [UInt8](repeating: 7, count: 70_000))]
        try tags.write(to: path)
        #expect(try contents(path) == before)
        let info = try SoundFiles.info(path)
        #expect(info.tags.title == "Ouverture" && info.tags.pictures.first?.bytes.count == 70_000)
        #expect(info.type == .m4a && info.codec == "AAC-LC" && info.bitDepth == nil)
        #expect(info.frameCount == 150_000 && info.primingFrames == 1_024)
        #expect((0..<2_048).contains(info.remainderFrames ?? -1))
        #expect(try decodedByFFmpeg(path, in: folder).heard[0].count >= 150_000)
    }

    @Test func `file info gives codec, bit depth, frame count and type`() throws {
        let folder = try Folder()
        let said = sound(frames: 10_000)
        for (options, codec, depth) in [
            (["-c:a", "alac", "-sample_fmt", "s16p"], "Apple Lossless, 16-bit", 16),
            (["-c:a", "alac", "-sample_fmt", "s32p"], "Apple Lossless, 24-bit", 24), (["-c:a", "aac"], "AAC-LC", nil),
        ] {
            let path = try ffmpegFile(folder, "a.m4a", said, frames: 10_000, rate: 48_000, options)
            let info = try SoundFiles.info(path)
            #expect(info.codec == codec && info.bitDepth == depth && info.frameCount == 10_000, "\(info)")
        }
        let path = folder.path("a.caf")
        try write(
            said, frames: 10_000, to: SoundFiles.create(path, format: AudioFormat(sampleRate: 48_000, channelCount: 2)))
        #expect(try SoundFiles.info(path).type == .caf)
        #expect(throws: AudioFileError.missing(path: folder.path("none"))) { try SoundFiles.info(folder.path("none")) }
    }

    @Test func `an invalid file gives the same error whatever its extension`() throws {
        let folder = try Folder()
        let missing = folder.path("none.m4a")
        #expect(throws: AudioFileError.missing(path: missing)) { try SoundFiles.open(missing) }
        #expect(throws: AudioFileError.directory(path: folder.url.path)) { try SoundFiles.open(folder.url.path) }
        for name in ["a.m4a", "a.aac", "a.wav", "a.mp3"] {
            for content in [[], Array("<html><body>Not found</body></html>".utf8)] {
                let path = try folder.file(name, content)
                let error = #expect(throws: AudioFileError.self) { try SoundFiles.open(path) }
                guard case .notAudio? = error else { Issue.record("\(String(describing: error))"); continue }
            }
        }
    }

    @Test func `any reader can be converted to another format and still seek`() throws {
        let folder = try Folder()
        let said = sound(frames: 40_000, rate: 44_100, noise: 0)
        let path = folder.path("a.m4a")
        let format = AudioFormat(sampleRate: 44_100, channelCount: 2)
        try write(said, frames: 40_000, to: SoundFiles.create(path, format: format))
        let reader = try ConvertedFileReader(
            SoundFiles.open(path), as: AudioFormat(sampleRate: 48_000, channelCount: 1))
        #expect(reader.frameCount == Int((40_000.0 * 48_000 / 44_100).rounded()))
        let part = AudioBuffer(channelCount: 1, frameCapacity: 1_000)
        try reader.seek(to: 20_000)
        #expect(try reader.read(into: part.channels, frameCount: 1_000) == 1_000)
        let rate = 48_000.0
        var worst = 0.0
        for i in 0..<1_000 {
            let t = Double(20_000 + i) / rate
            let both = [300.0, 500].map { 0.3 * sin(2 * .pi * $0 * t) + 0.2 * sin(2 * .pi * (200 + 60 * t) * t) }
            worst = max(worst, abs(Double(part.channels[0][i]) - (both[0] + both[1]) / 2))
        }
        #expect(worst < 0.05, "off by \(worst)")
    }
}
