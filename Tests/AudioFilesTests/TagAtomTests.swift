// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import Foundation
import TestSupport
import Testing

/// Tags in MP4 files whose atoms do not allow the change.
@Suite struct TagAtomTests {
    private let folder: Folder
    private let path: String

    init() throws {
        folder = try Folder()
        path = folder.path("a.m4a")
    }

    private static let tags: AudioFileTags = {
        var tags = AudioFileTags()
        tags.title = "A longer title than before"
        tags.fields["COMMENT"] = [String(repeating: "c", count: 3_000)]  // more than TagLib's padding
        return tags
    }()

    private func write(_ bytes: [UInt8]) throws -> AudioFileError? {
        try Data(bytes).write(to: URL(filePath: path))
        do throws(AudioFileError) {
            try Self.tags.write(to: path)
            return nil
        } catch { return error }
    }

    private func content() throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }

    private func expectRefusal(_ bytes: [UInt8], _ error: AudioFileError, _ comment: Comment? = nil) throws {
        #expect(try write(bytes) == error, comment)
        #expect(try content() == bytes, comment)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["a.m4a"], comment)
    }

    private func expectWritten(_ bytes: [UInt8], _ comment: Comment? = nil) throws {
        #expect(try write(bytes) == nil, comment)
        #expect(try AudioFileTags(path: path) == Self.tags, comment)
        let chunks = try #require(Atom.chunks(bytes), comment)
        #expect(Atom.chunks(try content()) == chunks, comment)
    }

    private var inconsistent: AudioFileError {
        .damaged(path: path, reason: "its atoms contradict each other")
    }
    private var fixed: AudioFileError {
        .tagsRefused(path: path, detail: "its layout is fixed")
    }

    @Test func `a list shorter than its item is rejected`() throws {
        // Found by scripts/fuzz: `ilst` has 30 bytes, its only item 29.
        let text =
            "AAAAEGZ0eXBNNEEgAIAAAAAAAJFtb292AAAAUHRyYWsAAABIbWRpYQAAACBtZGhkAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIGhk"
            + "bHIAAAAAAAAAAHNvdW4AAAAAAAAAAAAAAAAAAAA4dWR0YQAAADFtZXRhAAAAAAAAAB5pbHN0AAAAHaluYW0AAAAVZGF0YQAAAAEAAAAA"
            + "VGl0bGU="
        let bytes = [UInt8](try #require(Data(base64Encoded: text)))
        try expectRefusal(bytes, inconsistent)
    }

    @Test(arguments: [false, true])
    func `chunk offsets are right after the tags have grown`(is64Bit: Bool) throws {
        for tags in [Atom.tags, []] {
            try expectWritten(Atom.file(is64Bit: is64Bit) { Atom.make("moov", $0 + tags) })
            try expectWritten(Atom.file(is64Bit: is64Bit) { Atom.make("moov", tags + $0) })
        }
        try expectWritten(Atom.file(is64Bit: is64Bit) { Atom.makeLong("moov", $0 + Atom.tags) }, "a 64-bit size")
        try expectWritten(
            Atom.file(is64Bit: is64Bit) { Atom.make("moov", $0 + Atom.makeLong("udta", Atom.meta)) }, "of udta")
        // QuickTime ends user data with four zeros.
        try expectWritten(
            Atom.file(is64Bit: is64Bit) { Atom.make("moov", $0 + Atom.make("udta", Atom.big(0))) }, "zeros")
        // Bytes after the last atom that are not an atom.
        try expectWritten(
            Atom.file(is64Bit: is64Bit) { Atom.make("moov", $0 + Atom.tags) } + [0, 0, 1], "bytes behind")
    }

    @Test func `an mdat atom that extends to the file's end is accepted, such a moov atom is not`() throws {
        let size = Atom.make("moov", Atom.track([0]) + Atom.tags).count
        let start = Atom.fileType.count + size + 8
        try expectWritten(
            Atom.fileType + Atom.make("moov", Atom.track([start]) + Atom.tags) + Atom.makeOpen("mdat", Atom.sound))
        let head = Atom.fileType + Atom.make("mdat", Atom.sound)
        try expectWritten(head + Atom.make("moov", Atom.track([Atom.fileType.count + 8]) + Atom.tags))
        try expectRefusal(head + Atom.makeOpen("moov", Atom.track([Atom.fileType.count + 8]) + Atom.tags), fixed)
    }

    @Test func `a 64-bit moov or udta atom without tags is rejected`() throws {
        try expectRefusal(Atom.file { Atom.makeLong("moov", $0) }, fixed)
        try expectRefusal(Atom.file { Atom.make("moov", $0 + Atom.makeLong("udta", [])) }, fixed)
    }

    @Test(arguments: [false, true])
    func `a chunk table with a false length is rejected`(is64Bit: Bool) throws {
        for count in [3, 1_000, 70_000] {
            try expectRefusal(
                Atom.file(is64Bit: is64Bit, count: count) { Atom.make("moov", $0 + Atom.tags) }, inconsistent,
                "\(count)")
        }
    }

    @Test func `offsets of chunks beyond the end move by the growth of the tags`() throws {
        let (near, far) = (Atom.fileType.count + 400, 5_000_000)
        let bytes = Atom.fileType + Atom.make("moov", Atom.track([near, far]) + Atom.tags)
        #expect(try write(bytes) == nil)
        let after = try content()
        let growth = after.count - bytes.count
        #expect(growth > 3_000)
        let track = Atom.track([near + growth, far + growth])
        #expect(Data(after).range(of: Data(track)) != nil)
    }

    @Test func `chunk offsets that would exceed 4 GiB are rejected`() throws {
        let last = Int(UInt32.max) - 2_000
        let movie = { Atom.fileType + Atom.make("moov", Atom.track([900, $0]) + Atom.tags) }
        try expectRefusal(movie(last), fixed)
        #expect(try write(movie(last - 10_000)) == nil)
    }

    @Test func `tags are rejected if fragments after the first would have to move`() throws {
        let movie = Atom.make("moov", Atom.track([]) + Atom.tags)
        let start = Atom.fileType.count + movie.count
        let first = Atom.fragment(base: start)
        let second = Atom.fragment(base: start + first.count)
        #expect(try write(Atom.fileType + movie + first) == nil)
        try expectRefusal(Atom.fileType + movie + first + second, fixed)
        let hidden = Atom.make("moov", Atom.track([]) + Atom.make("udta", Atom.big(0)))
        try expectRefusal(Atom.fileType + hidden + first, fixed)
    }

    @Test func `covers that exceed the size limit together are rejected`() throws {
        let bytes = Atom.file { Atom.make("moov", $0 + Atom.tags) }
        try Data(bytes).write(to: URL(filePath: path))
        var tags = Self.tags
        let cover = AudioFileTags.Picture(mimeType: "image/png", bytes: [UInt8](repeating: 1, count: 24 << 20))
        tags.pictures = [cover, cover, cover]
        #expect(throws: AudioFileError.tagsTooLarge(path: path)) { try tags.write(to: path) }
        #expect(try content() == bytes)
    }

    @Test func `a second moov atom is rejected`() throws {
        let movie = Atom.make("moov", Atom.track([]) + Atom.tags)
        try expectRefusal(Atom.fileType + movie + movie, inconsistent)
    }

    @Test(arguments: 0..<4)
    func `with any atom size altered the sound is still found, or the file is left unchanged`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let meta = Atom.make("free", [0, 0, 0]) + Atom.tags
        let whole = Atom.file(is64Bit: seed % 2 == 1) {
            Atom.make("moov", seed < 2 ? $0 + meta : Atom.tags + $0 + Atom.make("trak", []))
        }
        let names = [
            "moov", "trak", "mdia", "minf", "stbl", "stco", "co64", "udta", "meta", "ilst", "free", "hdlr", "mdat",
        ]
        let places = names.compactMap { Data(whole).range(of: Data($0.utf8))?.lowerBound }.map { $0 - 4 }
        var (written, refused) = (0, 0)
        for n in 0..<250 {
            var bytes = whole
            let at = try #require(places.randomElement(using: &random))
            let size = bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
            let sizes = [
                size + Int.random(in: -24...24, using: &random), size - 8, 0, 1, 8, bytes.count - at, 0x7FFF_FFFF,
            ]
            bytes.replaceSubrange(at..<at + 4, with: Atom.big(max(0, sizes.randomElement(using: &random) ?? 0)))
            if try write(bytes) == nil {
                written += 1
                #expect((try? AudioFileTags(path: path)) == Self.tags, "\(n)")
                #expect(Atom.chunks(try content()) == Atom.chunks(whole), "\(n): size at \(at)")
            } else {
                refused += 1
                #expect(try content() == bytes, "\(n)")
            }
        }
        #expect(written > 0 && refused > 100, "\(written) written, \(refused) refused")
    }
}
