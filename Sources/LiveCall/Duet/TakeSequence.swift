// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotDuet

/// The sounds of several takes, one after the other, as one sound with one map: of a passage sung in two takes the later one counts.
/// Sound that is missing or damaged is silent and keeps its place. One file is open for each track. For one thread at a time.
final class TakeSequence: SoundFileReader {
    private struct Part {
        let track: TrackReader
        /// The frames of the track.
        let frames: Range<Int>
        /// The frame of the sequence at the first one.
        let start: Int
    }

    /// The frames of the track on both sides of a take, for the filter of the interpolation.
    private static let margin = 4_096
    private static let blockLength = 4_096

    let path: String
    let processingFormat: AudioFormat
    private(set) var frameCount = 0
    private(set) var framePosition = 0
    private(set) var map = SongMap()

    private var parts: [Part] = []
    private let block: AudioBuffer

    /// - Parameter path: names the sequence in errors.
    init(path: String, format: AudioFormat) {
        (self.path, processingFormat) = (path, format)
        block = AudioBuffer(channelCount: format.channelCount, frameCapacity: Self.blockLength)
    }

    /// Appends the parts of a take for which there is sound.
    /// - Returns: false if the map is full.
    func append(_ take: SongMap, _ track: TrackReader) -> Bool {
        let pieces = Self.pieces(take, track.readableFrames)
        guard let first = pieces.first, let last = pieces.last else { return true }
        let frames = max(0, Int(first.frame) - Self.margin)..<min(track.frameCount, Int(last.end) + Self.margin)
        let shift = Int64(frameCount - frames.lowerBound)
        var isComplete = true
        for var piece in pieces where isComplete {
            piece.frame += shift
            isComplete = map.append(piece)
        }
        let span = Int64(frames.lowerBound)...Int64(frames.upperBound)
        for var gap in take.gaps where span.contains(gap.frame) {
            gap.frameCount = min(gap.frameCount, span.upperBound - gap.frame)
            gap.frame += shift
            map.append(gap)
        }
        parts.append(Part(track: track, frames: frames, start: frameCount))
        frameCount += frames.count
        return isComplete
    }

    /// Notes that the singer was away until the next take.
    func endRecording() { map.append(.init(frame: Int64(frameCount), frameCount: 0, reason: .unknown)) }

    /// Returns the parts of a map's pieces within ranges, which are in order as the pieces are.
    private static func pieces(_ map: SongMap, _ ranges: [Range<Int>]) -> [SongMap.Piece] {
        var pieces: [SongMap.Piece] = []
        var first = 0
        for piece in map.pieces {
            while first < ranges.count, ranges[first].upperBound <= piece.frame { first += 1 }
            for range in ranges[first...].prefix(while: { $0.lowerBound < piece.end }) {
                let frames = Int64(range.lowerBound)..<Int64(range.upperBound)
                if let part = piece.clamped(to: frames) { pieces.append(part) }
            }
        }
        return pieces
    }

    func seek(to frame: Int) { framePosition = min(max(0, frame), frameCount) }

    func read(into channels: Channels, frameCount: Int, offset: Int) -> Int {
        var done = 0
        while done < frameCount,
            let part = parts.first(where: { framePosition < $0.start + $0.frames.count })
        {
            let count = min(frameCount - done, part.start + part.frames.count - framePosition, Self.blockLength)
            part.track.read(
                into: block.channels, at: part.frames.lowerBound + framePosition - part.start, frameCount: count)
            for c in 0..<processingFormat.channelCount {
                copySamples(channels[c] + offset + done, block.channels[min(c, part.track.channelCount - 1)], count)
            }
            framePosition += count
            done += count
        }
        return done
    }
}

extension SongMap.Piece {
    /// Returns the part of the piece within a range of its frames; nil if there is none.
    fileprivate func clamped(to frames: Range<Int64>) -> SongMap.Piece? {
        let (start, end) = (max(frame, frames.lowerBound), min(end, frames.upperBound))
        guard start < end else { return nil }
        var piece = self
        (piece.frame, piece.frameCount, piece.position) = (start, end - start, position(at: start))
        return piece
    }
}
