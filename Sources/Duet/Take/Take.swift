// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation

/// A take as its map file tells it: the sound file, and the song's position at each of its frames.
package struct Take: Sendable {
    /// The maximum bytes of a map file.
    package static let largestFile = 1 << 25

    package var description: TakeDescription
    package var map = SongMap()
    /// True if the last line is incomplete: the program was killed while it wrote.
    package var isTorn = false
    /// The number of complete lines that were skipped: those without an entry, and those outside the longest chain of entries that
    /// agree on their order.
    package var skippedLineCount = 0

    /// Reads a map file.
    /// - Throws: ``TakeError``, or ``AudioFileError`` if the file cannot be read.
    package init(path: String) throws {
        let file = try ReadableFile(path)
        guard file.byteCount <= Self.largestFile else { throw TakeError.tooLarge(path: path) }
        try self.init(file.bytes(at: 0, count: file.byteCount), path: path)
    }

    /// - Parameter path: names the file in errors.
    init(_ bytes: [UInt8], path: String) throws {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        isTorn = lines.popLast()?.isEmpty == false
        let decoder = JSONDecoder()
        let first = Data(lines.first ?? [])
        if let version = (try? decoder.decode(Version.self, from: first))?.version, version > 2 {
            throw TakeError.unknownVersion(path: path, version: version)
        }
        guard let description = try? decoder.decode(TakeDescription.self, from: first), description.version == 2,
            AudioFormat.sampleRates.contains(description.sampleRate),
            AudioFormat.sampleRates.contains(description.songSampleRate)
        else { throw TakeError.notATake(path: path) }
        self.description = description
        var entries: [TakeMapper.Entry] = []
        for line in lines.dropFirst() {
            if let entry = (try? decoder.decode(TakeLine.self, from: Data(line)))?.entry { entries.append(entry) }
        }
        let keptCount = append(entries)
        skippedLineCount = max(0, lines.count - 1) - keptCount
    }

    private struct Version: Decodable { var version: Int }

    /// Appends the largest number of entries that agree on their order. Returns their number.
    private mutating func append(_ entries: [TakeMapper.Entry]) -> Int {
        var (pieces, gaps): ([SongMap.Piece], [SongMap.Gap]) = ([], [])
        for entry in entries {
            switch entry {
            case .piece(let piece) where piece.isValid: pieces.append(piece)
            case .gap(let gap) where gap.isValid: gaps.append(gap)
            default: break
            }
        }
        let chosenPieces = LongestChain.indices(pieces.map { ($0.frame, $0.end) })
        let chosenGaps = LongestChain.indices(gaps.map { ($0.frame, $0.end) })
        var count = 0
        for index in chosenPieces where map.append(pieces[index]) { count += 1 }
        for index in chosenGaps where map.append(gaps[index]) { count += 1 }
        return count
    }
}

/// Writes a take's map as it becomes known, one line of JSON for each piece and gap. A line is appended as a whole, so a killed
/// program leaves all lines but the last. For one thread.
package final class TakeWriter {
    private let file: AppendingFile
    private let description: TakeDescription
    private let encoder = JSONEncoder()

    /// Creates or truncates a map file.
    package init(path: String, _ description: TakeDescription) throws(AudioFileError) {
        file = try AppendingFile(path: path)
        self.description = description
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try append(description)
    }

    /// Appends entries. After an error the file has the complete lines before it.
    package func write(_ entries: [TakeMapper.Entry]) throws(AudioFileError) {
        for entry in entries { try append(TakeLine(entry)) }
    }

    /// Replaces the whole file atomically. Later entries are lost.
    package func replace(by entries: [TakeMapper.Entry]) throws(AudioFileError) {
        let path = file.path + ".new"
        let writer = try TakeWriter(path: path, description)
        do throws(AudioFileError) {
            try writer.write(entries)
            try writer.file.synchronize()
            try writer.close()
        } catch {
            unlink(path)
            throw error
        }
        guard rename(path, file.path) == 0 else { throw .from(errno: errno, path: file.path) }
    }

    package func close() throws(AudioFileError) { try file.close() }

    private func append(_ value: some Encodable) throws(AudioFileError) {
        guard let data = try? encoder.encode(value) else { return }  // every value can be encoded
        try file.append([UInt8](data) + [UInt8(ascii: "\n")])
    }
}

extension TakeLine {
    /// The entry of the line; nil if its numbers are missing.
    var entry: TakeMapper.Entry? {
        if let gap {
            let reason = SongGapReason(rawValue: gap) ?? .unknown
            return .gap(SongMap.Gap(frame: frame, frameCount: frameCount, reason: reason))
        }
        guard let songFrame, let songFraction, let rate, (0..<SongPosition.unitsPerFrame).contains(songFraction)
        else { return nil }
        return .piece(
            SongMap.Piece(
                frame: frame, frameCount: frameCount,
                position: SongPosition(frame: songFrame, fraction: songFraction),
                rate: rate, hostTime: HostTime(nanoseconds: hostTime ?? 0)))
    }

    init(_ entry: TakeMapper.Entry) {
        switch entry {
        case .piece(let piece):
            (frame, frameCount) = (piece.frame, piece.frameCount)
            (songFrame, songFraction) = (piece.position.frame, piece.position.fraction)
            (rate, hostTime) = (piece.rate, piece.hostTime.nanoseconds)
        case .gap(let gap):
            (frame, frameCount) = (gap.frame, gap.frameCount)
            self.gap = gap.reason.rawValue
        }
    }
}
