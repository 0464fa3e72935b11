// SPDX-License-Identifier: Apache-2.0

/// Consecutive frames of the song without the voice.
package struct StemGap: Codable, Hashable, Sendable {
    /// The first frame of the song.
    package var frame: Int64
    package var frameCount: Int64
    /// The reason that the take gives; nil if it gives none: the passage was not sung.
    package var reason: SongGapReason?

    package init(frame: Int64, frameCount: Int64, reason: SongGapReason?) {
        (self.frame, self.frameCount, self.reason) = (frame, frameCount, reason)
    }
}

extension SongGapReason: Codable {
    /// Reads a reason of a later program as ``unknown``.
    package init(from decoder: any Decoder) throws {
        self = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .unknown
    }
}
