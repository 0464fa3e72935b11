// SPDX-License-Identifier: Apache-2.0

/// The piece of a take's map that each frame of the song is taken from. Of a passage sung again the last attempt counts.
struct StemPlan: Sendable {
    /// Consecutive song frames from one piece.
    struct Section: Hashable, Sendable {
        var songFrames: Range<Int64>
        /// The index in ``SongMap/pieces``.
        var piece: Int
    }

    /// In the order of the song; none overlaps another.
    let sections: [Section]
    /// The song frames without a take, in order.
    let gaps: [Range<Int64>]
    /// The longest ranges of song frames without a jump, in order. Together they cover all sections.
    let runs: [Range<Int64>]

    /// - Parameter frameCount: the frames of the song.
    init(_ map: SongMap, frameCount: Int64) {
        var sections: [Section] = []
        // Disjoint and in order. Attempts are long runs of pieces, so there are few.
        var covered: [Range<Int64>] = []
        for (index, piece) in map.pieces.enumerated().reversed() {
            // A song frame between the take's frame before the piece and its first one belongs to the piece.
            let start = max(0, piece.position(at: piece.frame - 1).frame + 1)
            let end = min(frameCount, piece.endPosition.frameAbove)
            guard start < end else { continue }
            Self.cover(start..<end, in: &covered) { sections.append(Section(songFrames: $0, piece: index)) }
        }
        self.sections = sections.sorted { $0.songFrames.lowerBound < $1.songFrames.lowerBound }
        runs = Self.runs(self.sections, map.pieces)
        var gaps: [Range<Int64>] = []
        var position: Int64 = 0
        for range in covered {
            if position < range.lowerBound { gaps.append(position..<range.lowerBound) }
            position = range.upperBound
        }
        if position < frameCount { gaps.append(position..<frameCount) }
        self.gaps = gaps
    }

    /// Returns the gaps with the reasons that the map gives: that of the take after the piece before the gap, or else before the
    /// piece after it.
    func reasonedGaps(_ map: SongMap) -> [StemGap] {
        let pieces = map.pieces
        var next = 0
        return gaps.map { gap in
            while next < sections.count, sections[next].songFrames.upperBound <= gap.lowerBound { next += 1 }
            var reason: SongGapReason?
            if next > 0 {
                let before = sections[next - 1].piece
                let end = before + 1 < pieces.count ? pieces[before + 1].frame : map.end
                reason = map.gapReason(from: pieces[before].end, through: end)
            }
            if reason == nil, next < sections.count {
                let after = sections[next].piece
                let start = after > 0 ? pieces[after - 1].end : .min
                reason = map.gapReason(from: start, through: pieces[after].frame)
            }
            return StemGap(frame: gap.lowerBound, frameCount: Int64(gap.count), reason: reason)
        }
    }

    private static func runs(_ sections: [Section], _ pieces: [SongMap.Piece]) -> [Range<Int64>] {
        var runs: [Range<Int64>] = []
        for (index, section) in sections.enumerated() {
            let frames = section.songFrames
            if index > 0, let last = runs.last, last.upperBound == frames.lowerBound,
                continues(pieces[sections[index - 1].piece], pieces[section.piece])
            {
                runs[runs.count - 1] = last.lowerBound..<frames.upperBound
            } else {
                runs.append(frames)
            }
        }
        return runs
    }

    /// Returns true if a piece continues another in the take and, within a quarter of a frame, in the song.
    private static func continues(_ piece: SongMap.Piece, _ next: SongMap.Piece) -> Bool {
        piece == next
            || piece.end == next.frame
                && abs(next.position.units - piece.endPosition.units) < Int128(SongPosition.unitsPerFrame / 4)
    }

    /// Adds a range to the covered ones. Calls `found` with each part that was not covered.
    private static func cover(
        _ range: Range<Int64>, in covered: inout [Range<Int64>], _ found: (Range<Int64>) -> Void
    ) {
        let first = firstIndex(in: covered) { $0.upperBound >= range.lowerBound }
        var (index, position, start, end) = (first, range.lowerBound, range.lowerBound, range.upperBound)
        while index < covered.count, covered[index].lowerBound <= range.upperBound {
            let old = covered[index]
            if position < old.lowerBound { found(position..<old.lowerBound) }
            position = max(position, old.upperBound)
            (start, end) = (min(start, old.lowerBound), max(end, old.upperBound))
            index += 1
        }
        if position < range.upperBound { found(position..<range.upperBound) }
        covered.replaceSubrange(first..<index, with: CollectionOfOne(start..<end))
    }

    private static func firstIndex(in ranges: [Range<Int64>], where isFound: (Range<Int64>) -> Bool) -> Int {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if isFound(ranges[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
