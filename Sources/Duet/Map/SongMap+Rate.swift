// SPDX-License-Identifier: Apache-2.0

extension SongMap {
    /// Returns the map of the same sound after a conversion to another sample rate. Both rates are in hertz. A frame moves by less
    /// than one, and its position with it; the advance per frame is rounded to 2⁻⁴⁰ of a song frame.
    package func converted(from rate: Int, to newRate: Int) -> SongMap {
        guard rate > 0, newRate > 0, rate != newRate else { return self }
        let (old, new) = (Int128(rate), Int128(newRate))
        /// Returns the first new frame at or after the time of an old one.
        func frameAbove(_ frame: Int64) -> Int64 {
            let scaled = Int128(frame) * new
            let quotient = scaled / old
            return Int64(clamping: scaled % old > 0 ? quotient + 1 : quotient)
        }
        var map = SongMap()
        for var piece in pieces {
            let (start, end) = (frameAbove(piece.frame), frameAbove(piece.end))
            // In old frames times the new rate.
            let passed = Int128(start) * old - Int128(piece.frame) * new
            piece.position = SongPosition(units: piece.position.units + passed * Int128(piece.rate) / new)
            piece.rate = Int64(clamping: Int128(piece.rate) * old / new)
            (piece.frame, piece.frameCount) = (start, end - start)
            map.append(piece)
        }
        for var gap in gaps {
            let (start, end) = (frameAbove(gap.frame), frameAbove(gap.end))
            (gap.frame, gap.frameCount) = (start, end - start)
            map.append(gap)
        }
        return map
    }
}
