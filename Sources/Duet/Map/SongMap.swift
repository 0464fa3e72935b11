// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A mapping from the frames of a recording, a ring or a device to positions in a song, as straight pieces.
///
/// Each piece has its own whole frame and position, so that no error accumulates over pieces, and within a piece positions are
/// exact to 2⁻⁴⁰ of a frame per frame.
package struct SongMap: Hashable, Sendable {
    /// Consecutive frames in which the song advances evenly.
    package struct Piece: Hashable, Sendable {
        /// The first frame.
        package var frame: Int64
        package var frameCount: Int64
        /// The song's position at the first frame.
        package var position: SongPosition
        /// The advance of the song per frame, in 2⁻⁴⁰ of a song frame.
        package var rate: Int64
        /// The time of the first frame.
        package var hostTime: HostTime

        package init(frame: Int64, frameCount: Int64, position: SongPosition, rate: Int64, hostTime: HostTime) {
            (self.frame, self.frameCount, self.position) = (frame, frameCount, position)
            (self.rate, self.hostTime) = (rate, hostTime)
        }

        package var end: Int64 { frame + frameCount }
        package var endPosition: SongPosition { position(at: end) }

        /// Returns the position at a frame, also outside the piece.
        package func position(at frame: Int64) -> SongPosition {
            SongPosition(units: position.units + (Int128(frame) - Int128(self.frame)) * Int128(rate))
        }

        /// Returns the frame at a position, with the units of ``SongPosition``, rounded down; also outside the piece.
        package func frame(at position: SongPosition) -> SongPosition {
            let offset = (position.units - self.position.units) << 40
            let quotient = offset / Int128(rate) - (offset % Int128(rate) < 0 ? 1 : 0)
            return SongPosition(units: SongPosition(frame: frame).units + quotient)
        }

        /// True if the numbers are ones that no arithmetic here overflows.
        var isValid: Bool {
            let limit = SongPosition.frameLimit
            return (-limit...limit).contains(frame) && (1...limit).contains(frameCount)
                && (-limit...limit).contains(position.frame) && SongMap.rates.contains(rate)
        }
    }

    /// A place without the song.
    package struct Gap: Hashable, Sendable {
        /// The first frame.
        package var frame: Int64
        /// The frames in which the song was not heard; 0 if frames are missing before ``frame``.
        package var frameCount: Int64
        package var reason: SongGapReason

        package init(frame: Int64, frameCount: Int64, reason: SongGapReason) {
            (self.frame, self.frameCount, self.reason) = (frame, frameCount, reason)
        }

        package var end: Int64 { frame + frameCount }

        /// True if the numbers are ones that no arithmetic here overflows.
        var isValid: Bool {
            let limit = SongPosition.frameLimit
            return (-limit...limit).contains(frame) && (0...limit).contains(frameCount)
        }
    }

    /// The rates of a piece: 1/64 to 64 song frames per frame. Two sample rates of ``AudioFormat`` are at most 48 apart.
    package static let rates = SongPosition.unitsPerFrame / 64...SongPosition.unitsPerFrame * 64
    /// The maximum number of pieces, and of gaps.
    package static let maximumCount = 65_536

    /// In the order of their frames; none overlaps another.
    package private(set) var pieces: [Piece] = []
    /// In the order of their frames.
    package private(set) var gaps: [Gap] = []

    package init() {}

    /// The frame after the last piece and gap; 0 at first.
    package var end: Int64 { max(pieces.last?.end ?? 0, gaps.last?.end ?? 0) }

    /// Appends a piece.
    /// - Returns: false if it begins before the end of the last piece, has invalid numbers, or the map is full.
    @discardableResult
    package mutating func append(_ piece: Piece) -> Bool {
        guard piece.isValid, pieces.count < Self.maximumCount, pieces.last.map({ $0.end <= piece.frame }) ?? true
        else { return false }
        pieces.append(piece)
        return true
    }

    /// Appends a gap, or extends the last one if they adjoin and have the same reason.
    /// - Returns: false if it begins before the last gap's end, has invalid numbers, or the map is full.
    @discardableResult
    package mutating func append(_ gap: Gap) -> Bool {
        guard gap.isValid else { return false }
        if let last = gaps.last {
            guard last.end <= gap.frame else { return false }
            if last.reason == gap.reason, last.end == gap.frame, last.frameCount > 0, gap.frameCount > 0 {
                gaps[gaps.count - 1].frameCount += gap.frameCount
                return true
            }
        }
        guard gaps.count < Self.maximumCount else { return false }
        gaps.append(gap)
        return true
    }

    /// Removes the pieces and gaps that end at or before a frame.
    package mutating func removeAll(before frame: Int64) {
        pieces.removeFirst(pieces.prefix { $0.end <= frame }.count)
        gaps.removeFirst(gaps.prefix { $0.end <= frame }.count)
    }

    /// Returns the position in the song at a frame; nil if the song was not heard there.
    package func position(at frame: Int64) -> SongPosition? {
        let index = firstPiece(endingAfter: frame)
        guard index < pieces.count, pieces[index].frame <= frame else { return nil }
        return pieces[index].position(at: frame)
    }

    /// Returns the frames at a position in the song, in 2⁻⁴⁰ of a frame, in order; several if the passage was repeated.
    package func frames(at position: SongPosition) -> [SongPosition] {
        pieces.lazy.filter { $0.position <= position && position < $0.endPosition }.map { $0.frame(at: position) }
    }

    /// Returns the reason of the first gap that begins within a range of frames; nil if there is none.
    func gapReason(from start: Int64, through end: Int64) -> SongGapReason? {
        var (low, high) = (0, gaps.count)
        while low < high {
            let middle = (low + high) / 2
            if gaps[middle].frame >= start { high = middle } else { low = middle + 1 }
        }
        return low < gaps.count && gaps[low].frame <= end ? gaps[low].reason : nil
    }

    /// Returns the index of the first piece that ends after a frame.
    func firstPiece(endingAfter frame: Int64) -> Int {
        var (low, high) = (0, pieces.count)
        while low < high {
            let middle = (low + high) / 2
            if pieces[middle].end > frame { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

/// The reason that a song was not heard, or that frames are missing, as a take's file names it.
@frozen
package enum SongGapReason: String, Hashable, Sendable, BitwiseCopyable {
    /// The song had not begun, was paused, or had ended.
    case stopped
    /// The song's frames were not read in time.
    case underrun
    /// The device skipped frames, or was exchanged.
    case device
    /// The frames played were not recorded, because a queue was full.
    case unknown
}
