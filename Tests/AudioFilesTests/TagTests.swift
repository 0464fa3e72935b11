// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import TestSupport
import TestTraits
import Testing

@Suite struct TagTests {
    static let kinds = ["wav", "aiff", "flac", "ogg", "opus", "mp3", "m4a"]

    /// A quarter of a second of sound.
    static func file(_ kind: String, in folder: Folder) throws -> String {
        let path = folder.path("a." + kind)
        let sound = tone(frames: 12_000, channels: 2)
        let wav = folder.path("source.wav")
        let writer = try makeWriter(kind == "m4a" ? wav : path, AudioFormat(sampleRate: 48_000, channelCount: 2))
        try withExtendedLifetime(sound) { try writer.write(sound.channels, frameCount: 12_000, offset: 0) }
        try writer.close()
        if kind == "m4a" {
            #expect(try run("ffmpeg", "-v", "error", "-i", wav, "-c:a", "aac", path).status == 0)
        }
        return path
    }

    /// A picture of 8 by 8 pixels.
    static func png() throws -> [UInt8] { try madePNG.get() }

    private static let madePNG = Result {
        let folder = try Folder()
        let path = folder.path("a.png")
        let run = try run(
            "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=8x8:rate=1:duration=1", "-frames:v", "1", path)
        #expect(run.status == 0, "\(run.output)")
        return [UInt8](try Data(contentsOf: URL(filePath: path)))
    }

    static func example() throws -> AudioFileTags {
        var tags = AudioFileTags()
        tags.title = "Zweite Aufnahme – Ünïcödé 音楽 🎙️"
        tags.artist = "Somebody"
        tags.album = "An album; with = signs"
        tags.albumArtist = "All of them"
        tags.composer = "Björk's neighbour"
        tags.genre = "Post-Folk"
        tags.date = "2026-11-21"
        tags.comment = "Two\nlines"
        tags.beatsPerMinute = 120
        tags.track = .init(3, of: 12)
        tags.disc = .init(1, of: 2)
        tags["MOOD OF THE DAY"] = "calm"
        tags.fields["PERFORMED IN"] = ["Köln"]
        tags.pictures = [.init(mimeType: "image/png", kind: .frontCover, description: "", bytes: try png())]
        return tags
    }

    private func soundSum(_ path: String) throws -> String {
        let run = try run("ffmpeg", "-v", "error", "-i", path, "-map", "0:a", "-f", "md5", "-")
        #expect(run.status == 0, "\(run.output)")
        return run.output
    }

    @Test(arguments: kinds)
    func `tags are read back as written, and the sound is unchanged`(_ kind: String) throws {
        let folder = try Folder()
        let path = try Self.file(kind, in: folder)
        #expect(try AudioFileTags(path: path).pictures.isEmpty)
        let before = try soundSum(path)
        let frames = kind == "m4a" ? [] : try contents(path)
        var tags = try Self.example()
        try tags.write(to: path)
        #expect(try AudioFileTags(path: path).fields == tags.fields)
        #expect(try AudioFileTags(path: path) == tags)
        if kind == "m4a" {
            #expect(try soundSum(path) == before)
        } else {
            #expect(try AudioFileReader(path: path).frameCount == 12_000)
            #expect(try contents(path) == frames)
        }
        // Again with a shorter text, and with none.
        tags.title = "Short"
        tags.pictures = []
        try tags.write(to: path)
        #expect(try AudioFileTags(path: path) == tags)
        try AudioFileTags().write(to: path)
        #expect(try AudioFileTags(path: path).title == nil)
        #expect(try soundSum(path) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).allSatisfy { !$0.hasPrefix(".") })
    }

    @Test(arguments: kinds)
    func `ffprobe finds the text and the picture`(_ kind: String) throws {
        let folder = try Folder()
        let path = try Self.file(kind, in: folder)
        try Self.example().write(to: path)
        let run = try run("ffprobe", "-v", "error", "-show_format", "-show_streams", "-of", "json", path)
        #expect(run.status == 0)
        let text = run.output.lowercased()
        let title = "zweite aufnahme – ünïcödé 音楽 🎙️"
        #expect(text.contains("\"title\": \"\(title)\""), "\(run.output)")
        if kind == "wav" { return #expect(text.contains("\"artist\": \"somebody\"")) }  // ffmpeg reads no ID3 in WAV
        for (name, value) in [("artist", "somebody"), ("album_artist", "all of them"), ("genre", "post-folk")] {
            // Vorbis comments have the album artist under another name.
            #expect(text.contains("\"\(name)\": \"\(value)\"") || text.contains("\"albumartist\": \"\(value)\""))
        }
        #expect(text.contains("\"composer\": \"björk's neighbour\"") && text.contains("calm") && text.contains("köln"))
        #expect(text.contains("\"track\": \"3/12\"") || text.contains("\"tracktotal\": \"12\""))
        #expect(text.contains("2026"))
        if !["wav", "aiff"].contains(kind) || text.contains("attached_pic\": 1") {
            #expect(text.contains("\"codec_name\": \"png\""), "\(kind) has no picture")
        }
    }

    @Test(arguments: kinds + ["id3v2.3"])
    func `tags written by ffmpeg are read`(_ kind: String) throws {
        let folder = try Folder()
        let isMP3 = kind.hasPrefix("id3")
        let path = try Self.file(isMP3 ? "mp3" : kind, in: folder)
        let tagged = folder.path("tagged." + (isMP3 ? "mp3" : kind))
        let options: [String: [String]] = [
            "id3v2.3": ["-id3v2_version", "3"],
            "aiff": ["-write_id3v2", "1"],
        ]
        let process = try ChildProcess(
            ["ffmpeg", "-v", "error", "-i", path, "-c", "copy", "-metadata", "title=Ein Stück", "-metadata"]
                + ["artist=Jemand", "-metadata", "date=2025", "-metadata", "track=4/9"] + (options[kind] ?? []) + [
                    tagged
                ])
        #expect(process.wait() == .exit(0), "\(process.errors)")
        let tags = try AudioFileTags(path: tagged)
        #expect(tags.title == "Ein Stück", "\(tags.fields)")
        #expect(tags.artist == "Jemand")
        if kind != "aiff" { #expect(tags.year == 2025 && tags.track?.number == 4, "\(tags.fields)") }
    }

    @Test func `an ID3v1 tag at the end is read and replaced by a new one`() throws {
        let folder = try Folder()
        let path = try Self.file("mp3", in: folder)
        func field(_ text: String, _ size: Int) -> [UInt8] {
            Array(text.utf8) + [UInt8](repeating: 0, count: size - text.utf8.count)
        }
        let sound = try Data(contentsOf: URL(filePath: path))
        let tag = field("TAGOld title", 33) + field("Old artist", 30) + field("", 30) + field("1997", 4) + field("", 28)
        try (sound + Data(tag + [0, 7, 13])).write(to: URL(filePath: path))
        var tags = try AudioFileTags(path: path)
        #expect(tags.title == "Old title" && tags.year == 1997 && tags.track == .init(7), "\(tags.fields)")
        tags.title = "New title"
        try tags.write(to: path)
        #expect(try AudioFileTags(path: path).title == "New title")
        let bytes = try Data(contentsOf: URL(filePath: path))
        #expect(bytes.starts(with: Data("ID3".utf8)) && bytes.suffix(sound.count) == sound)
    }

    @Test func `tags can be copied between all formats`() throws {
        let folder = try Folder()
        let tags = try Self.example()
        for from in Self.kinds {
            let source = try Self.file(from, in: folder)
            try tags.write(to: source)
            let read = try AudioFileTags(path: source)
            for to in Self.kinds where to != from {
                let other = try Folder()
                let target = try Self.file(to, in: other)
                try read.write(to: target)
                #expect(try AudioFileTags(path: target) == tags, "\(from) to \(to)")
            }
        }
    }

    @Test(arguments: ["flac", "ogg", "opus", "mp3", "wav", "aiff"])
    func `several pictures and several values are preserved`(_ kind: String) throws {
        let folder = try Folder()
        let path = try Self.file(kind, in: folder)
        var tags = AudioFileTags()
        tags.fields["ARTIST"] = ["One", "Two", "Three"]
        let png = try Self.png()
        var random = SeededRandom(seed: 4)
        tags.pictures = [
            .init(mimeType: "image/png", kind: .frontCover, description: "the front", bytes: png),
            .init(
                mimeType: "image/jpeg", kind: .backCover, description: "ein Rücken",
                bytes: (0..<300_000).map { _ in UInt8.random(in: 0...255, using: &random) }),
        ]
        try tags.write(to: path)
        #expect(try AudioFileTags(path: path) == tags)
        #expect(try contents(path)[0].count == 12_000)
    }

    @Test func `the file keeps its mode, and a link is preserved`() throws {
        let folder = try Folder()
        let path = try Self.file("flac", in: folder)
        chmod(path, 0o640)
        let link = folder.path("link.flac")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        var tags = AudioFileTags()
        tags.title = "By a link"
        try tags.write(to: link)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o640)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == path)
        #expect(try AudioFileTags(path: path).title == "By a link")
    }

    @Test func `unsupported tags are rejected, and the file is unchanged`() throws {
        let folder = try Folder()
        let caf = folder.path("a.caf")
        try AudioFileWriter(path: caf, format: AudioFormat(sampleRate: 48_000, channelCount: 1)).close()
        var tags = AudioFileTags()
        tags.title = "A title"
        #expect(throws: AudioFileError.tagsRefused(path: caf, detail: "a file of this kind keeps none")) {
            try tags.write(to: caf)
        }
        #expect(try AudioFileTags(path: caf).isEmpty)
        let flac = try Self.file("flac", in: folder)
        let before = try Data(contentsOf: URL(filePath: flac))
        tags.fields["A=B"] = ["x"]
        #expect(throws: AudioFileError.self) { try tags.write(to: flac) }
        tags.fields["A=B"] = nil
        tags.pictures = [
            .init(
                mimeType: "image/png", bytes: [UInt8](repeating: 1, count: AudioFileTags.Picture.maximumByteCount + 1))
        ]
        #expect(throws: AudioFileError.self) { try tags.write(to: flac) }
        tags.pictures = []
        try withoutPrivilege(folder) {
            #expect(throws: AudioFileError.notPermitted(path: flac)) { try tags.write(to: flac) }
        }
        #expect(try Data(contentsOf: URL(filePath: flac)) == before)
        let missing = folder.path("none.mp3")
        #expect(throws: AudioFileError.missing(path: missing)) { try AudioFileTags(path: missing) }
    }

    @Test func `a full disk leaves the file unchanged`() throws {
        let disk = try SmallDisk(kilobytes: 256)
        let folder = try Folder()
        let made = try Self.file("opus", in: folder)
        let path = disk.path + "/a.opus"
        try FileManager.default.copyItem(atPath: made, toPath: path)
        let before = try Data(contentsOf: URL(filePath: path))
        var tags = AudioFileTags()
        tags.pictures = [.init(mimeType: "image/png", bytes: [UInt8](repeating: 7, count: 400_000))]
        #expect(throws: AudioFileError.diskFull(path: path)) { try tags.write(to: path) }
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == ["a.opus"])
    }

    @Test("A damaged file gives an error or tags, never a trap", .separate, arguments: kinds)
    func damage(kind: String) throws {
        let folder = try Folder()
        let path = try Self.file(kind, in: folder)
        var tags = try Self.example()
        tags.pictures.append(.init(mimeType: "image/jpeg", bytes: [UInt8](repeating: 0x41, count: 3_000)))
        try tags.write(to: path)
        let whole = [UInt8](try Data(contentsOf: URL(filePath: path)))
        // The range of the tags: at the end or at the beginning.
        let inTags = ["wav", "aiff", "m4a"].contains(kind) ? max(0, whole.count - 6_000)..<whole.count : 0..<6_000
        let before = ProcessFootprint.now().anonymousBytes
        var random = SeededRandom(seed: 77)
        let damaged = folder.path("damaged." + kind)
        for n in 0..<60 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                let value = [0, 0xFF, 0x7F, 0x80, UInt8.random(in: 0...255, using: &random)].randomElement(
                    using: &random)
                bytes[Int.random(in: inTags, using: &random)] = value ?? 0
            }
            if n % 4 == 0 { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random)) }
            try Data(bytes).write(to: URL(filePath: damaged))
            if let read = try? AudioFileTags(path: damaged) {
                for (name, values) in read.fields { #expect(!name.isEmpty && values.count < 10_000) }
                if n % 40 == 1 { try? read.write(to: damaged) }
            }
        }
        #expect(ProcessFootprint.now().anonymousBytes - before < 300_000_000)
    }

    @Test func `a compressed frame that would exhaust memory is rejected`() throws {
        let folder = try Folder()
        let path = try Self.file("mp3", in: folder)
        let sound = [UInt8](try Data(contentsOf: URL(filePath: path)))
        // 200 MB of zeros, as zlib compresses them: repeated blocks of one pattern.
        let packed = try run("python3", "-c", "import zlib,sys;print(zlib.compress(bytes(200_000_000),9).hex())")
        let hex = packed.output.trimmingCharacters(in: .whitespacesAndNewlines)
        var zipped: [UInt8] = []
        var at = hex.startIndex
        while at < hex.endIndex {
            let next = hex.index(at, offsetBy: 2)
            zipped.append(UInt8(hex[at..<next], radix: 16) ?? 0)
            at = next
        }
        func big(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (24 - 8 * $0) & 0xFF) } }
        let body = Array("TIT2".utf8) + big(zipped.count + 4) + [0, 0x80] + big(200_000_000) + zipped
        let size = (0..<4).map { UInt8(body.count >> (21 - 7 * $0) & 0x7F) }
        let bomb = folder.path("bomb.mp3")
        try Data(Array("ID3".utf8) + [3, 0, 0] + size + body + sound).write(to: URL(filePath: bomb))
        #expect(throws: AudioFileError.tagsTooLarge(path: bomb)) { try AudioFileTags(path: bomb) }
        #expect(try AudioFileReader(path: bomb).frameCount == 12_000)
    }

    @Test func `endlessly nested atoms are rejected`() throws {
        let folder = try Folder()
        let path = folder.path("deep.m4a")
        var bytes: [UInt8] = [0, 0, 0, 16] + Array("ftypM4A ".utf8) + [0, 0, 0, 0]
        for _ in 0..<400_000 { bytes += [0x7F, 0, 0, 0] + Array("moov".utf8) }
        try Data(bytes).write(to: URL(filePath: path))
        #expect(throws: AudioFileError.self) { try AudioFileTags(path: path) }
    }
}
