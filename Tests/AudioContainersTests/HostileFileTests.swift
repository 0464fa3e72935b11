// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation
import TestSupport
import TestTraits
import Testing

/// Any bytes give an error or samples, but never a crash, and never more work than the file's size justifies.
@Suite struct HostileFileTests {
    private static let frames = 6_000

    /// One file of each kind, created once.
    private static let victims: [[UInt8]] = {
        do {
            let folder = try Folder()
            let said = sound(frames: frames)
            let options = [
                ["-c:a", "aac"], ["-c:a", "alac", "-movflags", "+faststart"],
                ["-c:a", "aac", "-movflags", "+frag_keyframe+empty_moov"], ["-c:a", "aac", "-f", "adts"],
            ]
            return try options.enumerated().map {
                try bytes(ffmpegFile(folder, "\($0.offset).mp4", said, frames: frames, rate: 48_000, $0.element))
            }
        } catch { return [] }
    }()

    /// - Returns: false if the file was refused.
    @discardableResult
    private func use(_ path: String) throws -> Bool {
        guard let reader = try? ContainerFileReader(path: path) else { return false }
        let buffer = AudioBuffer(channelCount: reader.processingFormat.channelCount, frameCapacity: 4_096)
        for target in [0, reader.frameCount / 2, max(0, reader.frameCount - 100)] {
            try? reader.seek(to: target)
            for _ in 0..<6 {
                let got = (try? reader.read(into: buffer.channels, frameCount: 4_096)) ?? 0
                #expect((0...4_096).contains(got))
                for c in 0..<buffer.channels.count { for i in 0..<got { #expect(buffer.channels[c][i].isFinite) } }
            }
            #expect((0...max(0, reader.frameCount)).contains(reader.framePosition))
        }
        return true
    }

    @Test("Damaged files give an error or finite samples", arguments: 0..<4)
    func damage(victim: Int) throws {
        let whole = try #require(Self.victims.count == 4 ? Self.victims[victim] : nil)
        let folder = try Folder()
        var random = SeededRandom(seed: UInt64(victim) + 1)
        // Damage mostly the positions of boxes.
        let boxes = whole.indices.dropLast(8).filter { at in
            [
                "moov", "trak", "stsz", "stsc", "stts", "stco", "stsd", "esds", "elst", "mdhd", "moof", "trun", "tfhd",
                "alac",
            ]
            .contains { whole[at..<at + 4].elementsEqual($0.utf8) }
        }
        var used = 0
        for round in 0..<60 {
            var broken = whole
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let near = boxes.randomElement(using: &random).map { $0 + Int.random(in: -4..<24, using: &random) }
                let anywhere = Int.random(in: 0..<broken.count, using: &random)
                let at = round % 3 == 0 ? anywhere : min(near ?? anywhere, broken.count - 1)
                broken[at] = Bool.random(using: &random) ? UInt8.random(in: 0...255, using: &random) : 0xFF
            }
            if round % 5 == 0 { broken.removeLast(Int.random(in: 0..<broken.count, using: &random)) }
            if try use(folder.file("a.m4a", broken)) { used += 1 }
        }
        #expect(used >= 5)
    }

    @Test("Files truncated anywhere give an error or finite samples", arguments: 0..<4)
    func cut(victim: Int) throws {
        let whole = try #require(Self.victims.count == 4 ? Self.victims[victim] : nil)
        let folder = try Folder()
        let ends = stride(from: 0, to: whole.count, by: max(1, whole.count / 30))
        let used = try ends.filter { try use(folder.file("a.m4a", Array(whole[..<$0]))) }
        #expect(!used.isEmpty)
    }

    /// A box's length, name and content.
    private func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let size = content.count + 8
        return [UInt8(size >> 24), UInt8(size >> 16 & 255), UInt8(size >> 8 & 255), UInt8(size & 255)] + name.utf8
            + content
    }

    @Test(.separate) func `a header that claims billions of packets uses little memory`() throws {
        let folder = try Folder()
        try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)  // forgets the peak so far
        // A fixed size and a count need no table in the file, so stsz and trun can claim any number.
        for (name, at) in [("stsz", 4), ("stsz", 8), ("stts", 8), ("stts", 12), ("stsc", 12), ("stco", 4)] {
            var broken = try #require(Self.victims.first)
            let start = try #require(broken.indices.dropLast(8).last { broken[$0..<$0 + 4].elementsEqual(name.utf8) })
            for i in 0..<4 { broken[start + 4 + at + i] = i == 0 ? 0x7F : 0xFF }
            try use(folder.file("a.m4a", broken))
        }
        var fragmented = try #require(Self.victims.dropFirst(2).first)
        let start = try #require(
            fragmented.indices.dropLast(8).first { fragmented[$0..<$0 + 4].elementsEqual("trun".utf8) })
        // No sizes or durations of its own, and the maximum number of packets.
        fragmented.replaceSubrange(start + 4..<start + 12, with: [0, 0, 0, 1, 0x7F, 0xFF, 0xFF, 0xFF])
        try use(folder.file("b.m4a", fragmented))
        #expect(peakMegabytes() < 600, "\(peakMegabytes()) MB")
    }

    /// Returns the maximum memory of this process since its peak was reset.
    private func peakMegabytes() -> Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return Int(usage.ru_maxrss) / 1_024
    }

    @Test func `endlessly nested boxes and boxes without a length terminate`() throws {
        let folder = try Folder()
        var nested = box("free", [])
        for _ in 0..<3_000 { nested = box("moov", nested) }
        try use(folder.file("a.m4a", box("ftyp", Array("M4A ".utf8)) + nested))
        let flat = Array(repeating: box("trak", []), count: 20_000).flatMap { $0 }
        try use(folder.file("b.m4a", box("ftyp", Array("M4A ".utf8)) + box("moov", flat)))
        let zeros = [UInt8](repeating: 0, count: 100_000)
        try use(folder.file("c.m4a", box("ftyp", Array("M4A ".utf8)) + zeros))
    }

    @Test func `a gapless comment that starts the sound before its first packet is ignored`() throws {
        let folder = try Folder()
        let path = try folder.file("a.m4a", #require(Self.victims.first))
        let plain = try ContainerFileReader(path: path).frameCount
        for (comment, frames) in [(" 0 840 0 100", 256), (" 00000000 -840 0 10", plain), (" 0 0 0 -10", plain)] {
            var tags = AudioFileTags()
            tags["iTunSMPB"] = comment
            try tags.write(to: path)
            #expect(try ContainerFileReader(path: path).frameCount == frames, "\(comment)")
            try use(path)
        }
    }

    @Test func `a file name inside a file never makes the reader open that file`() throws {
        let folder = try Folder()
        // A data reference that names a file: `alis`, flags 0, instead of the one for this file.
        var victim = try #require(Self.victims.first)
        let url = try #require(victim.indices.dropLast(8).first { victim[$0..<$0 + 4].elementsEqual("url ".utf8) })
        victim.replaceSubrange(url..<url + 4, with: "alis".utf8)
        victim[url + 7] = 0
        try use(folder.file("a.m4a", victim))
    }
}
