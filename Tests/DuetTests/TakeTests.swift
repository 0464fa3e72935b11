// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import Testing

@testable import EarshotDuet

@Suite struct TakeTests {
    private let description = TakeDescription(
        file: "voice.wav", singer: "Anna", number: 2, sampleRate: 48_000, songSampleRate: 44_100,
        songHash: String(repeating: "0a", count: 32), uncertainty: 0.001)
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

    @Test func `a map is replaced as a whole`() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/voice.take"
        let writer = try TakeWriter(path: path, description)
        try writer.write(entries)
        try writer.replace(by: Array(entries.prefix(2)))
        try writer.close()
        let take = try Take(path: path)
        #expect(take.description == description && !take.isTorn && take.skippedLineCount == 0)
        #expect(take.map.gaps.map(TakeMapper.Entry.gap) == Array(entries.prefix(1)))
        #expect(take.map.pieces.map(TakeMapper.Entry.piece) == [entries[1]])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["voice.take"])
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `a map that cannot be replaced stays`() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/voice.take"
        let writer = try TakeWriter(path: path, description)
        try writer.write(entries)
        try FileManager.default.createDirectory(atPath: path + ".new", withIntermediateDirectories: false)
        #expect(throws: AudioFileError.self) { try writer.replace(by: []) }
        try writer.close()
        #expect(try Take(path: path).map.pieces.count == 2)
    }

    private static let firstLine =
        #"{"version":2,"file":"a.wav","singer":"A","number":1,"sampleRate":48000,"songSampleRate":48000}"#

    private func read(_ lines: [String]) throws -> Take {
        try Take(Array(lines.map { $0 + "\n" }.joined().utf8), path: "x")
    }

    private func piece(_ frame: Int) -> String {
        #"{"frame":\#(frame),"frameCount":10,"songFrame":\#(frame),"songFraction":0,"rate":1099511627776}"#
    }

    @Test(arguments: [
        "", "{}", "\u{0}", #"{"frame":0,"frameCount":1,"songFrame":0,"songFraction":-1,"rate":1099511627776}"#,
        #"{"frame":0,"frameCount":1e300,"songFrame":0,"songFraction":0,"rate":1099511627776}"#,
        #"{"frame":0,"frameCount":1,"songFrame":0,"songFraction":0,"rate":0}"#,
        // Two readable lines: one is after all later ones, one before the end of an earlier one.
        #"{"frame":90000,"frameCount":10,"songFrame":0,"songFraction":0,"rate":1099511627776}"#,
        #"{"frame":5,"frameCount":10,"songFrame":0,"songFraction":0,"rate":1099511627776}"#,
    ])
    func `a damaged line is skipped and counted`(line: String) throws {
        let take = try read([Self.firstLine, piece(0), piece(10), line, piece(20), piece(30)])
        #expect(take.map.pieces.map(\.frame) == [0, 10, 20, 30])
        #expect(take.skippedLineCount == 1)
        #expect(!take.isTorn)
    }

    @Test func `a later version and a damaged first line have their errors`() throws {
        #expect(try read([Self.firstLine]).map.pieces.isEmpty)
        let later = Self.firstLine.replacingOccurrences(of: #""version":2"#, with: #""version":3"#)
        #expect(throws: TakeError.unknownVersion(path: "x", version: 3)) { try read([later, piece(0)]) }
        #expect(throws: TakeError.notATake(path: "x")) { try read([piece(0), piece(10)]) }
    }

    /// A take with gaps, jumps and rates, and its lines.
    private func randomTake(_ random: inout SeededRandom) -> [UInt8] {
        func number(_ limit: Int64) -> Int64 { Int64(random.next() % UInt64(limit)) }
        var frame: Int64 = 0
        var song = SongPosition(frame: 0)
        var lines = [Self.firstLine]
        let encoder = JSONEncoder()
        for _ in 0..<20 + number(20) {
            let count = 1 + number(400)
            if number(4) == 0 {
                let gap = SongMap.Gap(frame: frame, frameCount: number(2) * count, reason: .stopped)
                lines.append(String(decoding: (try? encoder.encode(TakeLine(.gap(gap)))) ?? Data(), as: UTF8.self))
                frame += gap.frameCount
            } else {
                if number(5) == 0 { song = SongPosition(frame: number(2_000)) }
                let rate = SongPosition.unitsPerFrame / 8 * (1 + number(24))
                let piece = SongMap.Piece(
                    frame: frame, frameCount: count, position: song, rate: rate, hostTime: HostTime(nanoseconds: 0))
                lines.append(String(decoding: (try? encoder.encode(TakeLine(.piece(piece)))) ?? Data(), as: UTF8.self))
                (frame, song) = (piece.end, piece.endPosition)
            }
        }
        return Array(lines.map { $0 + "\n" }.joined().utf8)
    }

    @Test func `takes with damage are read but for the damaged lines, and their stems are complete`() throws {
        var random = SeededRandom(seed: 2)
        var damagedCount = 0
        for run in 0..<300 {
            let bytes = randomTake(&random)
            let lineCount = bytes.count { $0 == UInt8(ascii: "\n") } - 1
            let body = Self.firstLine.utf8.count + 1
            var changed = bytes
            let changeCount = run % 4
            for _ in 0..<changeCount {
                let index = body + Int(random.next() % UInt64(bytes.count - body))
                let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index])
                changed[index] =
                    isDigit && run % 8 < 4
                    ? UInt8(ascii: "0") + UInt8(random.next() % 10) : UInt8(truncatingIfNeeded: random.next())
            }
            let take = try Take(changed, path: "")
            // A byte that joins two lines, or ends one early, damages two. Gaps that adjoin are one in the map.
            let gapCount = take.map.gaps.count
            let kept = lineCount - take.skippedLineCount
            #expect(take.skippedLineCount <= 2 * changeCount && (changeCount > 0 || !take.isTorn))
            #expect(take.map.pieces.count + gapCount <= kept + changeCount && take.map.pieces.count > 5)
            if take.skippedLineCount > 0 { damagedCount += 1 }
            let sound = SyntheticSound(sampleRate: 48_000, frameCount: 10_000) { _ in 0.5 }
            let stem = StemRenderer(take.map, sound, frameCount: 3_000, songRate: 48_000)
            let buffer = AudioBuffer(channelCount: 1, frameCapacity: 3_000)
            #expect(try stem.read(into: buffer.channels, frameCount: 3_000) == 3_000)
            #expect((0..<3_000).allSatisfy { abs(buffer.channels[0][$0]) < 1 })
            #expect(zip(stem.gaps, stem.gaps.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
        }
        #expect(damagedCount > 100, "the damage was read")
    }

    @Test func `a take whose sound is damaged keeps the rest in its place`() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/voice.take"
        let count = 40_000
        let format = AudioFormat(sampleRate: 48_000, channelCount: 1)
        let file = try AudioFileWriter(path: "\(folder.path)/voice.flac", format: format, sampleFormat: .int16)
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: count)
        var random = SeededRandom(seed: 8)
        for i in 0..<count { buffer.channels[0][i] = Float(random.unit() - 0.5) }
        try file.write(buffer.channels, frameCount: count)
        try file.close()
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: "\(folder.path)/voice.flac")))
        for index in bytes.count / 2..<bytes.count / 2 + 40 { bytes[index] ^= 0x5A }
        try Data(bytes).write(to: URL(filePath: "\(folder.path)/voice.flac"))
        var damaged = description
        (damaged.file, damaged.songSampleRate) = ("voice.flac", 48_000)
        let writer = try TakeWriter(path: path, damaged)
        try writer.write([
            .piece(
                SongMap.Piece(
                    frame: 0, frameCount: Int64(count), position: SongPosition(frame: 0),
                    rate: SongPosition.unitsPerFrame, hostTime: HostTime(nanoseconds: 0)))
        ])
        try writer.close()
        let stem = try StemRenderer(path: path, frameCount: count)
        let read = AudioBuffer(channelCount: 1, frameCapacity: count)
        #expect(try stem.read(into: read.channels, frameCount: count) == count)
        #expect(stem.damage != nil)
        func isSame(_ frames: Range<Int>) -> Bool {
            frames.allSatisfy { abs(read.channels[0][$0] - buffer.channels[0][$0]) < 0.001 }
        }
        #expect(isSame(300..<12_000) && isSame(28_000..<39_700))
        #expect(!isSame(18_000..<22_000))
    }

    @Test(arguments: [false, true]) func `a divided take is read as one file`(isCutShort: Bool) throws {
        let folder = try TemporaryFolder()
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: 7_000)
        for part in 1...3 {
            try writeSound("\(folder.path)/voice-00\(part).wav", sampleRate: 48_000, frameCount: 10_000) {
                Float(part * 10_000 + $0) / 65_536
            }
        }
        if isCutShort { try FileManager.default.removeItem(atPath: "\(folder.path)/voice-003.wav") }
        let sound = try TakeSound(path: "\(folder.path)/voice-001.wav")
        #expect(sound.frameCount == (isCutShort ? 20_000 : 30_000))
        for start in [0, 9_000, 19_990, 5_000, 12_345] {
            try sound.seek(to: start)
            let count = try sound.read(into: buffer.channels, frameCount: 7_000)
            #expect(count == min(7_000, sound.frameCount - start) && sound.framePosition == start + count)
            #expect((0..<count).allSatisfy { buffer.channels[0][$0] == Float(10_000 + start + $0) / 65_536 })
        }
        #expect(sound.damage == nil)
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

    @Test func `records with damage never trap the mapper, and the others are mapped`() {
        var random = SeededRandom(seed: 3)
        var mappedCounts: [Int64] = []
        for clock in [DeviceClock.shared, .separate] {
            for _ in 0..<40 { mappedCounts.append(mapDamagedRecords(clock, &random)) }
        }
        // 80 takes of 200 blocks of 100 frames. A counter that jumps ahead ends a map early.
        let mappedCount = mappedCounts.reduce(0, +)
        #expect(mappedCount > 400_000, "of 1,600,000")
    }

    @Test func `records of two devices with damage are mapped anew, or not at all`() {
        var random = SeededRandom(seed: 4)
        var mappedCounts: [Int64] = []
        for damage in [1 << 40, 1 << 40, 3_000, 3_000, 3_000, 300, 300, 30] as [UInt64] {
            for _ in 0..<4 { mappedCounts.append(mapAnew(damage, &random)) }
        }
        // Undamaged takes of 3 s.
        #expect(mappedCounts.prefix(8).allSatisfy { $0 > 3 * 44_000 })
        #expect(mappedCounts.contains(0), "a counter ran back")
    }

    /// Maps blocks, of which one number in some is random, anew. Returns the mapped frames.
    private func mapAnew(_ damage: UInt64, _ random: inout SeededRandom) -> Int64 {
        func any() -> Int64 { Int64(truncatingIfNeeded: random.next()) >> Int64(random.next() % 64) }
        func maybe(_ value: Int64) -> Int64 { random.next() % damage == 0 ? any() : value }
        func maybe(_ value: Double) -> Double {
            guard random.next() % damage == 0 else { return value }
            return [.nan, .infinity, -1e300, 1e-300, Double(any()), 1].randomElement(using: &random) ?? 0
        }
        func block(_ index: Int) -> DeviceBlock {
            DeviceBlock(
                sampleTime: maybe(Int64(100 * index)), frameCount: Int(truncatingIfNeeded: maybe(100)),
                hostTime: HostTime(nanoseconds: maybe(1_000_000_000 + Int64(index) * 2_083_333)),
                latency: maybe(0.01), clockFrame: maybe(Double(100 * index)), lateness: maybe(1e-4 * random.unit()))
        }
        var mapper = TakeMapper(.separate, sampleRate: 48_000)
        for index in 0..<1_440 {
            Self.addRecords(index, to: &mapper, { maybe($0) }, { block(index) })
        }
        mapper.finish()
        var map = SongMap()
        for case .piece(let piece) in mapper.smoothedEntries() ?? [] { map.append(piece) }
        return map.pieces.reduce(0) { $0 + $1.frameCount }
    }

    /// Adds the records of 100 frames that are played and captured.
    /// - Parameter maybe: returns a number, or damages it.
    private static func addRecords(
        _ index: Int, to mapper: inout TakeMapper, _ maybe: (Int64) -> Int64, _ block: () -> DeviceBlock
    ) {
        let first = Int64(100 * index)
        mapper.add(
            ring: SongMap.Piece(
                frame: maybe(first), frameCount: maybe(100), position: SongPosition(frame: maybe(first)),
                rate: maybe(SongPosition.unitsPerFrame), hostTime: HostTime(nanoseconds: 0)))
        mapper.add(
            PlayedBlock(
                block(), offset: Int(truncatingIfNeeded: maybe(0)), frameCount: Int(truncatingIfNeeded: maybe(100)),
                ringFrame: Int(truncatingIfNeeded: maybe(first)), silence: nil))
        mapper.add(CapturedBlock(block(), takeFrame: maybe(first)))
    }

    /// Maps blocks of which some have a random number. Returns the mapped frames.
    private func mapDamagedRecords(_ clock: DeviceClock, _ random: inout SeededRandom) -> Int64 {
        func any() -> Int64 { Int64(truncatingIfNeeded: random.next()) >> Int64(random.next() % 64) }
        /// Returns a value, or any number in one of a hundred calls.
        func maybe(_ value: Int64) -> Int64 { random.next() % 100 == 0 ? any() : value }
        func block(_ index: Int, _ latency: Double) -> DeviceBlock {
            DeviceBlock(
                sampleTime: maybe(Int64(100 * index)), frameCount: Int(truncatingIfNeeded: maybe(100)),
                hostTime: HostTime(nanoseconds: maybe(1_000_000_000 + Int64(index) * 2_083_333)), latency: latency)
        }
        var mapper = TakeMapper(clock, sampleRate: 48_000)
        for index in 0..<200 {
            Self.addRecords(index, to: &mapper, { maybe($0) }, { block(index, 0.01) })
        }
        mapper.finish()
        var map = SongMap()
        for case .piece(let piece) in mapper.takeEntries() { map.append(piece) }
        return map.pieces.reduce(0) { $0 + $1.frameCount }
    }
}
