// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import Testing

@Suite struct AudioFileInfoTests {
    @Test(
        arguments: [
            ("wav", "WAV", "32-bit float", 32), ("aiff", "AIFF", "32-bit float", 32),
            ("caf", "CAF", "32-bit float", 32),
            ("flac", "FLAC", "FLAC, 24-bit", 24), ("ogg", "Ogg", "Vorbis", nil), ("opus", "Ogg", "Opus", nil),
            ("mp3", "MPEG audio", "MP3", nil),
        ] as [(String, String, String, Int?)])
    func `file info reports type, format, frame count, tags and priming`(
        _ kind: String, _ container: String, _ codec: String, _ bits: Int?
    ) throws {
        let folder = try Folder()
        let path = folder.path("a." + kind)
        let format = AudioFormat(sampleRate: 48_000, channelCount: 2)
        let writer = try makeWriter(path, format)
        let sound = tone(frames: 60_000, channels: 2)
        try withExtendedLifetime(sound) { try writer.write(sound.channels, frameCount: 60_000, offset: 0) }
        try writer.close()
        let named = AudioFileType(fileName: path)
        #expect(try AudioFileType(contentsOf: path) == (named == .rf64 ? .wav : named))
        if kind != "caf" {
            var tags = AudioFileTags()
            tags.title = "A title"
            try tags.write(to: path)
        }
        let info = try AudioFileInfo(path: path)
        #expect(info.container == container && info.codec == codec && info.bitDepth == bits, "\(info)")
        #expect(info.type == (named == .rf64 ? .wav : named))
        #expect(info.format == format && info.frameCount == 60_000 && info.duration == 1.25)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int == info.byteCount)
        #expect(abs(info.bitRate - info.byteCount * 8 * 4 / 5) < 10)
        #expect(info.tags.title == (kind == "caf" ? nil : "A title"))
        #expect(info.timeReference == nil)
        switch kind {
        case "mp3":
            #expect(info.primingFrames == 576)
            let blocks = (60_000 + 576 + (info.remainderFrames ?? 1)) % 1_152
            #expect(blocks == 0)
        case "opus": #expect(info.primingFrames == 312)
        default: #expect(info.primingFrames == nil && info.remainderFrames == nil)
        }
    }

    @Test func `a bit rate is computed for a single frame in a file of terabytes`() throws {
        let folder = try Folder()
        let format = AudioFormat(sampleRate: 384_000, channelCount: 1)
        let path = folder.path("a.wav")
        let writer = try AudioFileWriter(path: path, format: format)
        try writer.writeSilence(frameCount: 1)
        try writer.close()
        try #require(truncate(path, 4 << 40) == 0)
        let info = try AudioFileInfo(path: path)
        #expect(info.frameCount == 1 && info.byteCount == 4 << 40 && info.bitRate > 1 << 61)
        let other = AudioFileInfo(
            path: path, type: .m4a, container: "M4A", codec: "AAC-LC", format: format, frameCount: 1, bitDepth: nil,
            byteCount: .max, tags: AudioFileTags())
        #expect(other.bitRate > 1 << 61)
    }

    @Test func `a file is recognised by its bytes, not by its name`() throws {
        let folder = try Folder()
        let format = AudioFormat(sampleRate: 44_100, channelCount: 1)
        let path = folder.path("really.wav")
        let writer = try AudioFileWriter(path: path, format: format, type: .flac, sampleFormat: .int16)
        let sound = tone(frames: 10_000)
        try withExtendedLifetime(sound) { try writer.write(sound.channels, frameCount: 10_000) }
        try writer.close()
        let info = try AudioFileInfo(path: path)
        #expect(info.type == .flac && info.codec == "FLAC, 16-bit" && info.bitDepth == 16)
        let text = folder.path("text.mp3")
        try Data("no sound".utf8).write(to: URL(filePath: text))
        #expect(try AudioFileType(contentsOf: text) == nil)
        #expect(throws: AudioFileError.self) { try AudioFileInfo(path: text) }
        #expect(throws: AudioFileError.self) { try AudioFileWriter(path: text, format: format, type: .mp3) }
    }

    @Test func `a forged length of a FLAC file is replaced by that of its last frame`() throws {
        let folder = try Folder()
        let path = folder.path("forged.flac")
        let writer = try makeWriter(path, AudioFormat(sampleRate: 48_000, channelCount: 1))
        let sound = tone(frames: 60_000)
        try withExtendedLifetime(sound) { try writer.write(sound.channels, frameCount: 60_000, offset: 0) }
        try writer.close()
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        bytes[21] |= 0x0F
        for i in 22..<26 { bytes[i] = 0xFF }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        #expect(try AudioFileInfo(path: path).frameCount == 60_000)
    }

    /// A file without a length in its header, behind whose sound a frame's header with a 36-bit number follows.
    @Test func `a forged number of the last FLAC frame is ignored`() throws {
        let folder = try Folder()
        let path = folder.path("forged.flac")
        let writer = try makeWriter(path, AudioFormat(sampleRate: 48_000, channelCount: 1))
        let sound = tone(frames: 60_000)
        try withExtendedLifetime(sound) { try writer.write(sound.channels, frameCount: 60_000, offset: 0) }
        try writer.close()
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        bytes[21] &= 0xF0
        for i in 22..<26 { bytes[i] = 0 }
        let header: [UInt8] = [0xFF, 0xF9, 0xC9, 0x08, 0xFE] + [UInt8](repeating: 0xBF, count: 6)
        let checksum = header.reduce(UInt8(0)) { sum, byte in
            (0..<8).reduce(sum ^ byte) { value, _ in value & 0x80 != 0 ? value << 1 ^ 0x07 : value << 1 }
        }
        try Data(bytes + header + [checksum]).write(to: URL(fileURLWithPath: path))
        // The last real frame has another end now, so it may be left out.
        #expect((50_000...60_000).contains(try AudioFileInfo(path: path).frameCount))
    }

    @Test func `only the first tags of an endless row are searched`() throws {
        let folder = try Folder()
        let path = folder.path("tags.mp3")
        let tag: [UInt8] = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 0]
        try Data((0..<1_000).flatMap { _ in tag }).write(to: URL(fileURLWithPath: path))
        #expect(try ID3Prefix.length(ReadableFile(path)) == 640)
    }
}
