// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Joins short segments of a map to few straight pieces that differ from each end of a segment by at most a tolerance.
///
/// Each end limits the rates that the line from the piece's first frame may have (the swing filter of Elmeleegy et al. 2009). The
/// tolerance begins at 2⁻¹² of a frame, is doubled up to 1/32 after each short piece, since the times are too noisy for it, and
/// halved after each longer one. A song that follows a clock changes its rate five times a second.
struct SongLineFitter: Sendable {
    /// A segment in which the song advances evenly.
    struct Segment {
        var frame: Int64
        var frameCount: Int64
        var start: SongPosition
        var end: SongPosition
        var hostTime: HostTime
    }

    private static let tolerances: ClosedRange<Int128> = 1 << 28...1 << 35

    /// The frames after which a piece is closed.
    let maximumLength: Int64
    private var tolerance = tolerances.lowerBound
    private var first: Segment?
    private var last: (frame: Int64, position: SongPosition) = (0, SongPosition(units: 0))
    private var rates: ClosedRange<Int128> = 0...0

    init(maximumLength: Int64) { self.maximumLength = maximumLength }

    /// Adds a segment. Returns the piece that it ended, if any.
    mutating func add(_ segment: Segment) -> SongMap.Piece? {
        let limits = Int128(SongMap.rates.lowerBound)...Int128(SongMap.rates.upperBound)
        var closed: SongMap.Piece?
        if let first {
            let isConnected =
                segment.frame == last.frame
                && abs(segment.start.units - last.position.units) <= 2 * tolerance
                && last.frame - first.frame < maximumLength
            if isConnected, let narrowed = narrowed(rates, by: segment, from: first) {
                rates = narrowed
                last = (segment.frame + segment.frameCount, segment.end)
                return nil
            }
            if last.frame - first.frame >= maximumLength / 4 {
                tolerance = max(tolerance / 2, Self.tolerances.lowerBound)
            } else if isConnected, last.frame - first.frame < maximumLength / 8 {
                tolerance = min(2 * tolerance, Self.tolerances.upperBound)
            }
            closed = close()
        }
        guard segment.frameCount > 0, let range = narrowed(limits, by: segment, from: segment) else { return closed }
        (first, rates) = (segment, range)
        last = (segment.frame + segment.frameCount, segment.end)
        return closed
    }

    /// Ends the present piece and returns it; nil if there is none.
    mutating func close() -> SongMap.Piece? {
        guard let first else { return nil }
        self.first = nil
        return SongMap.Piece(
            frame: first.frame, frameCount: last.frame - first.frame, position: first.start,
            rate: Int64((rates.lowerBound + rates.upperBound) / 2), hostTime: first.hostTime)
    }

    /// Returns the rates within a range whose line passes both ends of a segment; nil if there are none.
    private func narrowed(_ range: ClosedRange<Int128>, by segment: Segment, from first: Segment)
        -> ClosedRange<Int128>?
    {
        var (low, high) = (range.lowerBound, range.upperBound)
        for (frame, position) in [(segment.frame, segment.start), (segment.frame + segment.frameCount, segment.end)] {
            let distance = Int128(frame - first.frame)
            guard distance > 0 else { continue }
            let advance = position.units - first.start.units
            // Positions advance, so both divisions round positive numbers, or the range is empty.
            low = max(low, (advance - tolerance + distance - 1) / distance)
            high = min(high, (advance + tolerance) / distance)
        }
        return low <= high ? low...high : nil
    }
}
