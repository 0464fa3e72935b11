// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation

@testable import EarshotDuet

/// The take of a singer, and its stem.
extension SingerRig {
    /// The frames of the song of a fade: 5 ms.
    private static let stemFadeLength: Int64 = 222

    /// Writes the take, and returns the path of its map.
    func writeTake(to folder: String) throws -> String {
        try writeSound("\(folder)/voice.wav", sampleRate: Card.nominalRate, frameCount: sound.count) { sound[$0] }
        let path = "\(folder)/voice.take"
        let writer = try TakeWriter(
            path: path,
            TakeDescription(
                file: "voice.wav", singer: "Anna", number: 1, sampleRate: Card.nominalRate, songSampleRate: songRate))
        try writer.write(entries)
        try writer.close()
        return path
    }

    /// Renders a take's stem and subtracts it from the voice. Returns the level of the rest in dB, without the fades at jumps and
    /// gaps, and the number of gaps.
    func residue(ofTake path: String) throws -> (decibels: Double, gapCount: Int) {
        let stem = try StemRenderer(path: path, frameCount: songLength)
        var excluded = stem.gaps.map { $0.lowerBound - Self.stemFadeLength..<$0.upperBound + Self.stemFadeLength }
        excluded += Self.jumps(try Take(path: path).map).map {
            $0.frame - Self.stemFadeLength..<$0.frame + Self.stemFadeLength + 1
        }
        excluded.sort { $0.lowerBound < $1.lowerBound }
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: 65_536)
        var (signal, error, frame, next) = (0.0, 0.0, Int64(0), 0)
        while case let count = try stem.read(into: buffer.channels, frameCount: buffer.frameCapacity), count > 0 {
            for i in 0..<count {
                defer { frame += 1 }
                while next < excluded.count, excluded[next].upperBound <= frame { next += 1 }
                if excluded[next...].prefix(4).contains(where: { $0.contains(frame) }) { continue }
                let sung = voice(at: Double(frame) / songRate)
                let rest = Double(buffer.channels[0][i]) - sung
                signal += sung * sung
                error += rest * rest
            }
        }
        guard frame == songLength else { throw TakeError.notATake(path: path) }
        return (10 * log10(error / signal), stem.gaps.count)
    }

    /// Returns the positions at which the stem of a map is faded.
    private static func jumps(_ map: SongMap) -> [SongPosition] {
        var jumps = (map.pieces.first.map { [$0.position] } ?? []) + (map.pieces.last.map { [$0.endPosition] } ?? [])
        for (piece, next) in zip(map.pieces, map.pieces.dropFirst()) {
            let isStraight = abs(next.position.frames - piece.endPosition.frames) < 0.25 && next.frame == piece.end
            if !isStraight { jumps += [piece.endPosition, next.position] }
        }
        return jumps
    }
}
