// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import Testing

@testable import EarshotDuet

@Suite struct TakeTests {
    private let description = TakeDescription(
        file: "voice.wav", singer: "Anna", number: 2, sampleRate: 48_000, songSampleRate: 44_100, uncertainty: 0.001)
    private let entries: [TakeMapper.Entry] = [
        .gap(SongMap.Gap(frame: 0, frameCount: 500, reason: .stopped)),
        .piece(
            SongMap.Piece(
                frame: 500, frameCount: 24_000, position: SongPosition(frame: 3, fraction: 1 << 39),
                rate: SongPosition.unitsPerFrame - 5, hostTime: HostTime(nanoseconds: 123))),
        .piece(
            SongMap.Piece(
                frame: 24_500, frameCount: 24_000, position: SongPosition(frame: 24_003),
                rate: SongPosition.unitsPerFrame, hostTime: HostTime(nanoseconds: 456))),
    ]

    private func written(to folder: TemporaryFolder) throws -> (path: String, bytes: [UInt8]) {
        let path = "\(folder.path)/voice.take"
        let writer = try TakeWriter(path: path, description)
        try writer.write(entries)
        try writer.close()
        return (path, [UInt8](try Data(contentsOf: URL(filePath: path))))
    }

    @Test func `a take is read as it was written`() throws {
        let folder = try TemporaryFolder()
        let take = try Take(path: written(to: folder).path)
        #expect(take.description == description)
        #expect(take.map.gaps.map(TakeMapper.Entry.gap) + take.map.pieces.map(TakeMapper.Entry.piece) == entries)
        #expect(!take.isTorn)
    }

    @Test func `each torn tail leaves the complete lines`() throws {
        let bytes = try written(to: TemporaryFolder()).bytes
        let ends = bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }
        for count in 0..<bytes.count {
            let lines = ends.count { $0 < count }
            guard lines > 0 else {
                #expect(throws: TakeError.self) { try Take(Array(bytes.prefix(count)), path: "") }
                continue
            }
            let take = try Take(Array(bytes.prefix(count)), path: "")
            #expect(take.map.pieces.count + take.map.gaps.count == lines - 1)
            #expect(take.isTorn == (bytes[count - 1] != UInt8(ascii: "\n")))
        }
    }

    @Test func `a damaged line and a later version have their errors`() throws {
        let first = #"{"version":2,"file":"a.wav","singer":"A","number":1,"sampleRate":48000,"songSampleRate":48000}"#
        func read(_ lines: String...) throws -> Take {
            try Take(Array(lines.map { $0 + "\n" }.joined().utf8), path: "x")
        }
        #expect(try read(first).map.pieces.isEmpty)
        for line in [
            "", "{}", #"{"frame":0,"frameCount":1,"songFrame":0,"songFraction":-1,"rate":1099511627776}"#,
            #"{"frame":0,"frameCount":1e300,"songFrame":0,"songFraction":0,"rate":1099511627776}"#,
            #"{"frame":0,"frameCount":1,"songFrame":0,"songFraction":0,"rate":0}"#,
        ] {
            #expect(throws: TakeError.damaged(path: "x", line: 2)) { try read(first, line, #"{"frame":0}"#) }
        }
        #expect(throws: TakeError.unknownVersion(path: "x", version: 3)) {
            try read(first.replacingOccurrences(of: #""version":2"#, with: #""version":3"#))
        }
    }

    @Test func `random changes of a file never trap`() throws {
        let bytes = try written(to: TemporaryFolder()).bytes
        var random = SeededRandom(seed: 2)
        var readCounts: [Int] = []
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        for run in 0..<500 {
            var changed = bytes
            for _ in 0..<3 {
                let index = Int(random.next() % UInt64(bytes.count))
                if run % 2 == 0 {
                    changed[index] = UInt8(truncatingIfNeeded: random.next())
                } else if digits.contains(bytes[index]) {
                    changed[index] = digits.lowerBound + UInt8(random.next() % 10)
                }
            }
            if let take = try? Take(changed, path: "") {
                let sound = SyntheticSound(sampleRate: 48_000, frameCount: 10_000) { _ in 0.5 }
                let stem = StemRenderer(take.map, sound, frameCount: 2_000, songRate: 44_100)
                let buffer = AudioBuffer(channelCount: 1, frameCapacity: 2_000)
                readCounts.append(try stem.read(into: buffer.channels, frameCount: 2_000))
            }
        }
        #expect(Set(readCounts) == [2_000])
    }

    @Test func `a take without its sound has an error`() throws {
        let folder = try TemporaryFolder()
        let path = try written(to: folder).path
        #expect(throws: AudioFileError.missing(path: "\(folder.path)/voice.wav")) {
            try StemRenderer(path: path, frameCount: 1_000)
        }
        var outside = description
        outside.file = "../voice.wav"
        try TakeWriter(path: path, outside).close()
        #expect(throws: TakeError.notATake(path: path)) { try StemRenderer(path: path, frameCount: 1_000) }
    }

    @Test func `random records never trap the mapper`() {
        var random = SeededRandom(seed: 3)
        func number() -> Int64 {
            let bits = random.next() % 64
            return Int64(truncatingIfNeeded: random.next()) >> Int64(bits)
        }
        func block() -> DeviceBlock {
            DeviceBlock(
                sampleTime: number(), frameCount: Int(number() % 5_000), hostTime: HostTime(nanoseconds: number()),
                latency: random.unit() * 11 - 1)
        }
        for clock in [DeviceClock.shared, .separate] {
            for _ in 0..<50 {
                var mapper = TakeMapper(clock, sampleRate: 48_000)
                for _ in 0..<100 {
                    mapper.add(
                        ring: SongMap.Piece(
                            frame: number(), frameCount: number(), position: SongPosition(frame: number() >> 24),
                            rate: number(), hostTime: HostTime(nanoseconds: 0)))
                    mapper.add(
                        PlayedBlock(
                            block(), offset: Int(number() % 100), frameCount: Int(number() % 5_000),
                            ringFrame: Int(number()), silence: random.next() % 2 == 0 ? .stopped : nil))
                    mapper.add(CapturedBlock(block(), takeFrame: number()))
                }
                mapper.finish()
                var map = SongMap()
                for case .piece(let piece) in mapper.takeEntries() { map.append(piece) }
            }
        }
    }
}
