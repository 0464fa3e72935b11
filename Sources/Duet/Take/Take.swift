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
        for (index, line) in lines.enumerated().dropFirst() {
            guard let line = try? decoder.decode(TakeLine.self, from: Data(line)), append(line) else {
                throw TakeError.damaged(path: path, line: index + 1)
            }
        }
    }

    private struct Version: Decodable { var version: Int }

    private mutating func append(_ line: TakeLine) -> Bool {
        if let gap = line.gap {
            let reason = SongGapReason(rawValue: gap) ?? .unknown
            return map.append(SongMap.Gap(frame: line.frame, frameCount: line.frameCount, reason: reason))
        }
        guard let frame = line.songFrame, let fraction = line.songFraction, let rate = line.rate,
            (0..<SongPosition.unitsPerFrame).contains(fraction)
        else { return false }
        return map.append(
            SongMap.Piece(
                frame: line.frame, frameCount: line.frameCount,
                position: SongPosition(frame: frame, fraction: fraction),
                rate: rate, hostTime: HostTime(nanoseconds: line.hostTime ?? 0)))
    }
}

/// Writes a take's map as it becomes known, one line of JSON for each piece and gap. A line is appended as a whole, so a killed
/// program leaves all lines but the last. For one thread.
package final class TakeWriter {
    private let file: AppendingFile
    private let encoder = JSONEncoder()

    /// Creates or truncates a map file.
    package init(path: String, _ description: TakeDescription) throws(AudioFileError) {
        file = try AppendingFile(path: path)
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try append(description)
    }

    /// Appends entries. After an error the file has the complete lines before it.
    package func write(_ entries: [TakeMapper.Entry]) throws(AudioFileError) {
        for entry in entries { try append(TakeLine(entry)) }
    }

    package func close() throws(AudioFileError) { try file.close() }

    private func append(_ value: some Encodable) throws(AudioFileError) {
        guard let data = try? encoder.encode(value) else { return }  // every value can be encoded
        try file.append([UInt8](data) + [UInt8(ascii: "\n")])
    }
}

extension TakeLine {
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
