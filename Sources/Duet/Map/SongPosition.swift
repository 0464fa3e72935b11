// SPDX-License-Identifier: Apache-2.0

/// A position in a song: frames at the song's rate, counted in 2⁻⁴⁰ of a frame.
package struct SongPosition: Hashable, Comparable, Sendable {
    /// The number of units in a frame; ``SongMap/Piece/rate`` has the same units. ``Resampler`` counts in them, too.
    package static let unitsPerFrame: Int64 = 1 << 40
    /// The largest number of a frame, in either direction: 265 days at 48 kHz.
    package static let frameLimit: Int64 = 1 << 40

    /// The position in units.
    package var units: Int128

    package init(units: Int128) { self.units = units }

    /// - Parameter fraction: in units, from 0 to less than a frame.
    package init(frame: Int64, fraction: Int64 = 0) {
        units = Int128(frame) << 40 + Int128(fraction)
    }

    /// The last whole frame that is not after the position.
    package var frame: Int64 { Int64(clamping: units >> 40) }
    /// The units after ``frame``.
    package var fraction: Int64 { Int64(truncatingIfNeeded: units) & (Self.unitsPerFrame - 1) }
    /// The first whole frame that is not before the position.
    package var frameAbove: Int64 { Int64(clamping: (units + Int128(Self.unitsPerFrame) - 1) >> 40) }
    /// The position in frames, rounded.
    package var frames: Double { Double(frame) + Double(fraction) / Double(Self.unitsPerFrame) }

    package static func < (a: SongPosition, b: SongPosition) -> Bool { a.units < b.units }
}
