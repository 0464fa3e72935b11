// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import TestSupport
import Testing

/// MP3 files whose first frame declares too little or nothing.
@Suite struct MP3LengthTests {
    private static let block = 1_152

    /// A file with LAME's header.
    private func file(_ folder: Folder, _ name: String, frames: Int, hertz: Double) throws -> [UInt8] {
        let path = folder.path(name)
        let writer = try MP3FileWriter(path: path, format: AudioFormat(sampleRate: 48_000, channelCount: 2))
        let sound = tone(frames: frames, channels: 2, hertz: hertz)
        try writer.write(sound.channels, frameCount: frames)
        try writer.close()
        return [UInt8](try Data(contentsOf: URL(filePath: path)))
    }

    /// Returns an MP3 as written to a pipe, with a variable bit rate: a second of noise, then silence, which takes far fewer
    /// bits.
    private func stream(seconds: Int) throws -> [UInt8] {
        let encoder = try MP3Encoder(sampleRate: 48_000, channelCount: 2, bitRate: .variable(4), hasHeader: false)
        let sound = AudioBuffer(channelCount: 2, frameCapacity: 48_000)
        var random = SeededRandom(seed: 3)
        for c in 0..<2 { for i in 0..<48_000 { sound.channels[c][i] = .random(in: -0.4...0.4, using: &random) } }
        var bytes: [UInt8] = []
        for second in 0..<seconds {
            for at in stride(from: 0, to: 48_000, by: 4_000) {
                bytes += try encoder.encode(sound.channels, frameCount: 4_000, offset: at)
            }
            if second == 0 { for c in 0..<2 { clearSamples(sound.channels[c], 48_000) } }
        }
        return try bytes + encoder.flush()
    }

    private func save(_ bytes: [UInt8], _ folder: Folder) throws -> String {
        let path = folder.path("whole.mp3")
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }

    private func id3(_ count: Int) -> [UInt8] {
        Array("ID3".utf8) + [4, 0, 0] + (0..<4).map { UInt8(count >> (21 - 7 * $0) & 0x7F) }
            + [UInt8](repeating: 0, count: count)
    }

    private func ape(_ count: Int) -> [UInt8] {
        let size = (0..<4).map { UInt8(count >> (8 * $0) & 0xFF) }
        func end(_ flags: UInt8) -> [UInt8] {
            let zeros = [UInt8](repeating: 0, count: 8)
            return Array("APETAGEX".utf8) + [0xD0, 7, 0, 0] + size + zeros.dropLast() + [flags] + zeros
        }
        return end(0xA0) + [UInt8](repeating: 0x20, count: count - 32) + end(0x80)
    }

    @Test func `a frame count larger than the file can hold is ignored`() throws {
        let folder = try Folder()
        var bytes = try file(folder, "a.mp3", frames: 60_000, hertz: 997)
        let honest = try AudioFileReader(path: folder.path("a.mp3")).frameCount
        let name = try #require(bytes.firstRange(of: Array("Xing".utf8)) ?? bytes.firstRange(of: Array("Info".utf8)))
        // After the name and the flags.
        bytes.replaceSubrange(name.upperBound + 4..<name.upperBound + 8, with: [0x7F, 0xFF, 0xFF, 0xFF])
        let reader = try AudioFileReader(path: try save(bytes, folder))
        #expect(reader.frameCount == honest, "\(reader.frameCount), not \(honest)")
    }

    @Test("Two concatenated files are both decoded", arguments: ["nothing", "tags", "a tag before"])
    func joined(between: String) throws {
        let folder = try Folder()
        let first = try file(folder, "a.mp3", frames: 60_000, hertz: 997)
        let second = try file(folder, "b.mp3", frames: 200_000, hertz: 441)
        let tag = Array("TAG".utf8) + [UInt8](repeating: 0, count: 125)
        let joint = between == "tags" ? tag + id3(70_000) : []
        let path = try save((between == "a tag before" ? id3(5_000) : []) + first + joint + second, folder)
        let reader = try AudioFileReader(path: path)
        // The second file's header, priming and padding are a few blocks of silence.
        #expect((260_000..<260_000 + 5 * Self.block).contains(reader.frameCount), "\(reader.frameCount)")
        let heard = try contents(path)
        try #require(heard[0].count == reader.frameCount && heard[0].count > 260_000)
        #expect(sineDefect(Array(heard[0][5_000..<55_000]), frequency: 997, rate: 48_000) < -30)
        #expect(sineDefect(Array(heard[0][75_000..<250_000]), frequency: 441, rate: 48_000) < -30)
        let part = AudioBuffer(channelCount: 2, frameCapacity: 1_000)
        for target in [200_000, 30_000, 64_000, reader.frameCount - 1_000] {
            try reader.seek(to: target)
            #expect(try reader.read(into: part.channels, frameCount: 1_000) == 1_000)
            #expect((0..<1_000).allSatisfy { abs(part.channels[0][$0] - heard[0][target + $0]) < 1e-4 }, "\(target)")
        }
        #expect(try AudioFileInfo(path: path).frameCount == reader.frameCount)
    }

    @Test func `data after the sound is not counted as sound`() throws {
        let folder = try Folder()
        let sound = try file(folder, "a.mp3", frames: 60_000, hertz: 997)
        var random = SeededRandom(seed: 8)
        let noise = (0..<200_000).map { _ in UInt8.random(in: 0...255, using: &random) }
        for tail in [ape(100_000), [UInt8](repeating: 0, count: 3_000_000), noise] {
            let path = try save(sound + tail, folder)
            #expect(try AudioFileReader(path: path).frameCount == 60_000)
            #expect(try contents(path)[0].count == 60_000)
        }
    }

    @Test("A stream without a header has the right length, whatever data follows it", arguments: 0..<3)
    func tail(kind: Int) throws {
        let folder = try Folder()
        let bytes = try stream(seconds: 5)
        let path = try save(bytes + [[], ape(100_000), [UInt8](repeating: 0, count: 90_000)][kind], folder)
        let reader = try AudioFileReader(path: path)
        #expect((240_000..<240_000 + 3 * Self.block).contains(reader.frameCount), "\(reader.frameCount)")
        #expect(try contents(path)[0].count == reader.frameCount)
    }

    @Test func `frames after a gap are counted, and the gap is reported on reading`() throws {
        let folder = try Folder()
        let bytes = try stream(seconds: 5)
        let whole = try AudioFileReader(path: save(bytes, folder)).frameCount
        let path = try save(bytes[..<20_000] + [UInt8](repeating: 0, count: 100_000) + bytes[20_000...], folder)
        let reader = try AudioFileReader(path: path)
        #expect(reader.frameCount == whole)  // the frame that was broken has its header
        let block = AudioBuffer(channelCount: 2, frameCapacity: whole)
        let error = #expect(throws: AudioFileError.self) {
            while try reader.read(into: block.channels, frameCount: whole) > 0 {}
        }
        guard case .damaged? = error else { Issue.record("\(String(describing: error))"); return }
    }

    @Test(
        "VBRI and Xing headers that libsndfile does not support are recognised",
        arguments: ["VBRI", "Xing", "Xing of nothing"])
    func otherHeaders(kind: String) throws {
        let folder = try Folder()
        let sound = try stream(seconds: 5)
        func big(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(number >> (24 - 8 * $0) & 0xFF) } }
        let plain = try AudioFileReader(path: save(sound, folder)).frameCount
        let blocks = (plain + Self.block - 1) / Self.block  // the decoder's delay is left out
        let length = 480  // of a frame of 160 kb/s
        var head: [UInt8] = [0xFF, 0xFB, 0xA4, sound[3]] + [UInt8](repeating: 0, count: 32)
        switch kind {
        case "VBRI":
            head += Array("VBRI".utf8) + [0, 1, 0, 0, 0, 75] + big(length + sound.count) + big(blocks)
        case "Xing": head += Array("Xing".utf8) + big(2) + big(length + sound.count)
        default: head += Array("Xing".utf8) + big(3) + big(0) + big(0)
        }
        head += [UInt8](repeating: 0, count: length - head.count)
        let path = try save(head + sound, folder)
        #expect(try AudioFileReader(path: path).frameCount == plain)
        #expect(try contents(path)[0].count == plain)
        // Twice as much as it declares.
        if kind == "VBRI" {
            let doubled = try save(head + sound + sound, folder)
            #expect(try AudioFileReader(path: doubled).frameCount == plain + blocks * Self.block)
        }
    }
}
