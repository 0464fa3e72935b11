// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation
import TestSupport
import Testing

@Suite struct TagConversionTests {
    private static let kinds: [AudioFileType] = [.wav, .rf64, .aiff, .flac, .vorbis, .opus, .mp3, .m4a]

    private static func example() -> AudioFileTags {
        var tags = AudioFileTags()
        tags.title = "Zweite Aufnahme – Ünïcödé 音楽 🎙️"
        tags.artist = "Ἀρχιμήδης"
        tags.fields["COMPOSER"] = ["Eine", "Zwei & Drei; Vier / Fünf"]
        tags.album = "= \"Signs\" \\ 100 %"
        tags.date = "2026-11-22"
        tags.comment = "Two\nlines\twith a tab"
        tags.track = .init(3, of: 12)
        tags.disc = .init(1, of: 2)
        tags["MOOD OF THE DAY"] = "calm"
        tags["X-ODD.KEY_1"] = String(repeating: "long ", count: 2_000) + "end"
        var random = SeededRandom(seed: 9)
        func picture(_ size: Int, _ head: [UInt8]) -> [UInt8] {
            head + (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
        }
        tags.pictures = [
            .init(mimeType: "image/png", description: "", bytes: picture(90_000, [0x89, 0x50, 0x4E, 0x47])),
            .init(mimeType: "image/jpeg", bytes: picture(40_001, [0xFF, 0xD8, 0xFF, 0xE0])),
        ]
        return tags
    }

    @Test("Conversion preserves text tags and pictures", arguments: kinds)
    func table(from: AudioFileType) throws {
        let folder = try Folder()
        let source = folder.path("source")
        let said = sound(frames: 3_000)
        let format = AudioFormat(sampleRate: 48_000, channelCount: 2)
        try write(said, frames: 3_000, to: SoundFiles.create(source, type: from, format: format))
        let tags = Self.example()
        try tags.write(to: source)
        for to in Self.kinds {
            var conversion = SoundFileConversion(from: source, to: folder.path("target"))
            conversion.type = to
            let result = try conversion.run()
            #expect(result.tagsError == nil && result.frameCount == 3_000)
            let found = try AudioFileTags(path: conversion.output)
            #expect(found.fields == tags.fields, "\(from) to \(to)")
            #expect(found.pictures == tags.pictures, "\(from) to \(to)")
            #expect(try SoundFiles.open(conversion.output).frameCount == 3_000)
        }
        // A kind without tags gives a warning, and the sound is complete.
        for to in [AudioFileType.caf, .adts] {
            var conversion = SoundFileConversion(from: source, to: folder.path("target"))
            conversion.type = to
            let error = try conversion.run().tagsError
            guard case .tagsRefused(folder.path("target"), _)? = error else {
                Issue.record("\(from) to \(to): \(String(describing: error))")
                continue
            }
        }
    }

    /// An ID3v2.4 tag (main structure and native frames, 4).
    private func id3(_ frames: [(name: String, content: [UInt8])]) -> [UInt8] {
        func size(_ count: Int) -> [UInt8] { (0..<4).map { UInt8(count >> (21 - 7 * $0) & 0x7F) } }
        let body = frames.flatMap { frame -> [UInt8] in
            Array(frame.name.utf8) + size(frame.content.count) + [0, 0] + frame.content
        }
        return Array("ID3".utf8) + [4, 0, 0] + size(body.count) + body
    }

    @Test(
        "A tag name that cannot be written does not affect other tags",
        arguments: [AudioFileType.flac, .mp3, .m4a, .caf])
    func oddNames(to: AudioFileType) throws {
        let folder = try Folder()
        let plain = folder.path("plain.mp3")
        let said = sound(frames: 3_000)
        let format = AudioFormat(sampleRate: 48_000, channelCount: 2)
        try write(said, frames: 3_000, to: SoundFiles.create(plain, format: format))
        func text(_ words: String) -> [UInt8] { [3] + Array(words.utf8) }  // 3 says UTF-8
        let image: [UInt8] = [0x89, 0x50, 0x4E, 0x47] + [UInt8](repeating: 7, count: 500)
        let tag = id3([
            ("TIT2", text("Lied")), ("TPE1", text("Jemand")), ("TXXX", text("Mood\u{0}calm")),
            ("TXXX", text("Länge\u{0}kurz")), ("TXXX", text("QuodLibet::~#rating\u{0}0.5")),
            ("TXXX", text("a=\u{1B}[2J\u{0}b")), ("COMM", text("deuÜber\u{0}Worte")),
            ("APIC", text("image/png\u{0}") + [3, 0] + image),
        ])
        let source = try folder.file("odd.mp3", tag + bytes(plain))
        #expect(try AudioFileTags(path: source).fields.count == 7)
        var conversion = SoundFileConversion(from: source, to: folder.path("target"))
        conversion.type = to
        let result = try conversion.run()
        guard case .tagsRefused(folder.path("target"), let detail)? = result.tagsError else {
            Issue.record("\(String(describing: result.tagsError))")
            return
        }
        let found = try AudioFileTags(path: conversion.output)
        guard to != .caf else { return #expect(found.isEmpty && detail.contains("keeps none")) }
        #expect(found.fields == ["TITLE": ["Lied"], "ARTIST": ["Jemand"], "MOOD": ["calm"]])
        #expect(found.pictures.map(\.bytes) == [image])
        #expect(detail.contains("LÄNGE") && detail.contains("and 1 more") && !detail.contains("\u{1B}"), "\(detail)")
        // If only such names exist, there is also a warning and no error.
        let other = try folder.file("other.mp3", id3([("TXXX", text("Länge\u{0}kurz"))]) + bytes(plain))
        conversion.input = other
        #expect(try conversion.run().tagsError != nil)
        #expect(try AudioFileTags(path: conversion.output).isEmpty)
    }
}
