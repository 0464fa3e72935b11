// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import Glibc
import Testing

@Suite struct PathTextTests {
    private func bytes(_ text: String) -> [UInt8] { PathText.bytes(text).dropLast().map { UInt8(bitPattern: $0) } }

    @Test(arguments: ["song.flac", "/a/Zoë/日本.wav", "", "🎤"]) func `a UTF-8 path is unchanged`(path: String) {
        #expect(PathText.text(Array(path.utf8)) == path && bytes(path) == Array(path.utf8))
    }

    @Test(
        arguments: [
            [0x63, 0x61, 0x66, 0xE9], [0xE9], [0xFF, 0xFE, 0x2F, 0x80], [0xC3, 0xA9, 0xC3], [0xF0, 0x9F, 0x8E],
            [0xED, 0xA0, 0x80],
            // A name that contains the character U+10FFE9 itself.
            [0x61, 0xF4, 0x8F, 0xBF, 0xA9],
        ] as [[UInt8]]) func `any bytes are the same after a conversion to text and back`(path: [UInt8])
    {
        #expect(bytes(PathText.text(path)) == path)
    }

    @Test func `different bytes have different texts`() {
        #expect(PathText.text([0xE9]) != PathText.text([0xF4, 0x8F, 0xBF, 0xA9]))
    }

    @Test func `random bytes are the same after a conversion to text and back`() {
        var state: UInt64 = 1
        for _ in 0..<2_000 {
            let path = (0..<12).map { _ -> UInt8 in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return max(1, UInt8(truncatingIfNeeded: state >> 56))
            }
            #expect(bytes(PathText.text(path)) == path)
        }
    }

    /// A slash and a mark are one character of Swift, but two in a path.
    @Test func `folders whose names begin with a combining mark are created`() throws {
        let folder = try Folder()
        let path = folder.path("new") + "/\u{301}a/b"
        #expect(PathText.makeFolder(path) == nil && PathText.makeFolder(path) == nil)
        #expect(PathText.names(inFolder: folder.path("new")) == ["\u{301}a"])
        let file = try AtomicFileReplacement(of: path + "/\u{301}c.wav")
        #expect(PathText.names(inFolder: path)?.count == 1)
        try file.commit()
        #expect(PathText.names(inFolder: path) == ["\u{301}c.wav"])
        _ = try AudioFileWriter(path: path + "/d.wav", format: AudioFormat(sampleRate: 48_000, channelCount: 1))
        #expect(PathText.makeFolder(path + "/d.wav/e") == ENOTDIR)
    }

    @Test func `a file whose name is not UTF-8 is written, listed, read and tagged`() throws {
        let folder = try Folder()
        let name = PathText.text([0x63, 0x61, 0x66, 0xE9, 0x2E, 0x77, 0x61, 0x76])
        let path = folder.path("x").dropLast() + name
        let writer = try AudioFileWriter(
            path: String(path), format: AudioFormat(sampleRate: 48_000, channelCount: 1), type: .wav)
        try writer.writeSilence(frameCount: 100)
        try writer.close()
        #expect(PathText.names(inFolder: folder.url.path) == [name])
        var tags = AudioFileTags()
        tags.title = "Café"
        try tags.write(to: String(path))
        #expect(try AudioFileTags(path: String(path)).title == "Café")
        #expect(try AudioFileReader(path: String(path)).frameCount == 100)
        #expect(PathText.names(inFolder: folder.url.path) == [name])
    }
}
