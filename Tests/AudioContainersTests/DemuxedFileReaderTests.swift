// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation
import Testing

/// The kinds that are only read, in files made by ffmpeg.
@Suite struct DemuxedFileReaderTests {
    private static let frames = 96_000

    /// A file name, and ffmpeg's options for it.
    private static let kinds: [(name: String, options: [String])] = [
        ("opus.mkv", ["-c:a", "libopus"]), ("opus.webm", ["-c:a", "libopus"]), ("vorbis.webm", ["-c:a", "libvorbis"]),
        ("flac.mkv", ["-c:a", "flac"]), ("pcm.mka", ["-c:a", "pcm_s16le"]), ("aac.mkv", ["-c:a", "aac"]),
        ("mp3.mkv", ["-c:a", "libmp3lame"]), ("dolby.mkv", ["-c:a", "ac3"]), ("wma.wma", ["-c:a", "wmav2"]),
        ("dolby.ac3", ["-c:a", "ac3"]), ("dolby.eac3", ["-c:a", "eac3"]), ("flac.oga", ["-c:a", "flac", "-f", "ogg"]),
    ]

    private func make(_ folder: Folder, _ name: String) throws -> String {
        let options = try #require(Self.kinds.first { $0.name == name }?.options)
        return try ffmpegFile(
            folder, name, sound(frames: Self.frames), frames: Self.frames, rate: 48_000,
            options + ["-metadata", "title=A song", "-metadata", "track=3/9"])
    }

    @Test(arguments: kinds.map(\.name)) func `a file is decoded as ffmpeg decodes it`(name: String) throws {
        let folder = try Folder()
        let path = try make(folder, name)
        let expected = try decodedByFFmpeg(path, in: folder).heard
        let reader = try SoundFiles.open(path)
        let heard = try contents(reader)
        #expect(heard.count == 2 && heard[0].count == reader.frameCount && reader.frameCount >= Self.frames - 2_048)
        #expect(heard[0].count == expected[0].count, "\(heard[0].count), not \(expected[0].count)")
        for (ours, theirs) in zip(heard, expected) {
            let difference = zip(ours, theirs).reduce(Float(0)) { max($0, abs($1.0 - $1.1)) }
            // ffmpeg converts MP3 and WMA through another format.
            #expect(difference < 1e-4, "\(name): \(difference)")
        }
    }

    /// Codecs that fill in noise are left out: their noise depends on the packets decoded before.
    @Test(arguments: ["opus.webm", "vorbis.webm", "flac.mkv", "pcm.mka", "flac.oga", "wma.wma"])
    func `a seek to any frame continues with the same sound`(name: String) throws {
        let folder = try Folder()
        let reader = try SoundFiles.open(try make(folder, name))
        let whole = try contents(reader)
        let block = AudioBuffer(channelCount: 2, frameCapacity: 1_000)
        for frame in [80_001, 5, 47_999, 0, 90_000] {
            try reader.seek(to: frame)
            #expect(try reader.read(into: block.channels, frameCount: 1_000) == 1_000)
            let difference = (0..<1_000).reduce(Float(0)) { max($0, abs(block.channels[1][$1] - whole[1][frame + $1])) }
            #expect(difference < 1e-4, "\(name) at \(frame): \(difference)")
        }
        try reader.seek(to: .max)
        #expect(try reader.framePosition == reader.frameCount && reader.read(into: block.channels, frameCount: 9) == 0)
    }

    @Test(arguments: kinds.map(\.name).filter { !$0.hasPrefix("dolby.") || $0 == "dolby.mkv" })
    func `its kind and its tags are shown, and the tags are copied`(name: String) throws {
        let folder = try Folder()
        let path = try make(folder, name)
        let info = try SoundFiles.info(path)
        #expect(info.type == nil && info.tags.title == "A song", "\(info)")
        #expect(["Matroska", "WebM", "Windows Media", "Ogg"].contains(info.container) && !info.codec.isEmpty)
        let result = try SoundFileConversion(from: path, to: folder.path("copy.flac")).run()
        #expect(result.tagsError == nil && result.inputDamage == nil)
        let tags = try AudioFileTags(path: folder.path("copy.flac"))
        #expect(tags.title == "A song" && tags.track?.number == 3, "\(tags.fields)")
    }

    @Test func `sound after a damaged packet stays in its place`() throws {
        let folder = try Folder()
        let whole = try make(folder, "flac.mkv")
        var content = try bytes(whole)
        let middle = content.count / 2
        for i in 0..<200 { content[middle + i] ^= 0x5A }
        let reader = try SoundFiles.open(try folder.file("damaged.mkv", content))
        let expected = try contents(try SoundFiles.open(whole))
        let block = AudioBuffer(channelCount: 2, frameCapacity: Self.frames)
        var damages = 0
        while reader.framePosition < reader.frameCount, damages < 100 {
            do {
                let start = reader.framePosition
                _ = try reader.read(into: block.channels, frameCount: Self.frames - start, offset: start)
            } catch {
                guard case .damaged = error else { throw error }
                damages += 1
            }
        }
        #expect(reader.frameCount == Self.frames && damages > 0, "\(reader.frameCount), \(damages)")
        let last = Self.frames - 10_000..<Self.frames
        #expect(last.allSatisfy { block.channels[0][$0] == expected[0][$0] })
    }

    @Test func `a truncated FLAC stream in Ogg is converted up to its end, and reported`() throws {
        let folder = try Folder()
        let content = try bytes(try make(folder, "flac.oga"))
        let part = try folder.file("part.oga", Array(content.prefix(content.count / 2)))
        let result = try SoundFileConversion(from: part, to: folder.path("part.wav")).run()
        #expect(result.inputDamage != nil && (10_000..<90_000).contains(result.frameCount), "\(result.frameCount)")
    }

    @Test(arguments: ["opus.webm", "flac.mkv", "wma.wma"])
    func `a truncated file is converted up to its end, and reported`(name: String) throws {
        let folder = try Folder()
        let content = try bytes(try make(folder, name))
        let part = try folder.file("part", Array(content.prefix(content.count / 2)))
        let result = try SoundFileConversion(from: part, to: folder.path("part.wav")).run()
        #expect(result.inputDamage != nil && (10_000..<90_000).contains(result.frameCount), "\(result.frameCount)")
    }

    @Test(arguments: ["vorbis.webm", "mp3.mkv"]) func `lost packets are reported`(name: String) throws {
        let folder = try Folder()
        let whole = try ffmpegFile(
            folder, name, sound(frames: 20 * 48_000), frames: 20 * 48_000, rate: 48_000,
            Self.kinds.first { $0.name == name }?.options ?? [])
        var content = try bytes(whole)
        let middle = content.count / 2
        for i in 0..<content.count / 8 { content[middle + i] = UInt8(truncatingIfNeeded: i &* 37) }
        let result = try SoundFileConversion(
            from: try folder.file("damaged", content), to: folder.path("damaged.wav")
        ).run()
        #expect(result.inputDamage != nil && result.frameCount < 20 * 48_000, "\(result.frameCount)")
        #expect(try SoundFileConversion(from: whole, to: folder.path("whole.wav")).run().inputDamage == nil)
    }

    @Test(arguments: ["opus.webm", "wma.wma", "dolby.ac3", "flac.oga"])
    func `a file that ends in its header is rejected`(name: String) throws {
        let folder = try Folder()
        let content = try bytes(try make(folder, name))
        for count in [8, 40, 64] {
            let path = try folder.file("short", Array(content.prefix(count)))
            #expect(throws: AudioFileError.self, "\(count) bytes") { try SoundFiles.open(path) }
        }
    }
}
