// SPDX-License-Identifier: Apache-2.0

import CEarshotSndfile

/// The loudspeakers of a file's channels, as WAV, AIFF and CAF store them.
package struct ChannelMap: Hashable, Sendable {
    private var speakers: [CInt]  // libsndfile's numbers

    private static let types = [SF_FORMAT_WAV, SF_FORMAT_WAVEX, SF_FORMAT_RF64, SF_FORMAT_AIFF, SF_FORMAT_CAF]

    /// Reads the map of an open file; nil if it has none, or is of another type.
    init?(_ file: OpaquePointer, type: CInt, channelCount: Int) {
        guard Self.types.contains(where: { CInt($0) == type & CInt(SF_FORMAT_TYPEMASK) }) else { return nil }
        var speakers = [CInt](repeating: 0, count: channelCount)
        let size = CInt(channelCount * MemoryLayout<CInt>.size)
        guard sf_command(file, CInt(SFC_GET_CHANNEL_MAP_INFO), &speakers, size) != 0,
            !speakers.contains(CInt(SF_CHANNEL_MAP_INVALID))
        else { return nil }
        self.speakers = speakers
    }

    /// The map that FLAC and most players mean by seven or eight channels (RFC 9639, section 9.1.3); libsndfile has another default.
    /// Nil for other counts.
    init?(usualFor channelCount: Int) {
        let front = [
            SF_CHANNEL_MAP_LEFT, SF_CHANNEL_MAP_RIGHT, SF_CHANNEL_MAP_CENTER, SF_CHANNEL_MAP_LFE,
        ]
        let sides = [SF_CHANNEL_MAP_SIDE_LEFT, SF_CHANNEL_MAP_SIDE_RIGHT]
        switch channelCount {
        case 7: speakers = (front + [SF_CHANNEL_MAP_REAR_CENTER] + sides).map { CInt($0) }
        case 8:
            speakers = (front + [SF_CHANNEL_MAP_REAR_LEFT, SF_CHANNEL_MAP_REAR_RIGHT] + sides).map { CInt($0) }
        default: return nil
        }
    }

    /// Writes the map to a new file, before its first frame. A type that cannot store it has none.
    func write(to file: OpaquePointer) {
        var speakers = speakers
        sf_command(file, CInt(SFC_SET_CHANNEL_MAP_INFO), &speakers, CInt(speakers.count * MemoryLayout<CInt>.size))
    }
}
