// SPDX-License-Identifier: Apache-2.0

import CEarshotSndfile

/// The order in which libsndfile returns the channels of Ogg files (Vorbis I specification, 4.3.9; RFC 7845, 5.1.1.2).
enum VorbisChannels {
    /// Returns the index in the file of each channel in the order of WAV and FLAC (left, right, centre, low frequencies, back,
    /// side); nil if the order is the same or unknown.
    static func order(_ info: SF_INFO, _ file: ReadableFile) -> [Int]? {
        guard info.format & CInt(SF_FORMAT_TYPEMASK) == CInt(SF_FORMAT_OGG) else { return nil }
        switch info.format & CInt(SF_FORMAT_SUBMASK) {
        case CInt(SF_FORMAT_VORBIS): break
        // The channel mapping family of the first packet: 1 means the order of Vorbis.
        case CInt(SF_FORMAT_OPUS) where file.bytes(at: 28 + 18, count: 1) == [1]: break
        default: return nil
        }
        // In Vorbis the centre is second, and the low-frequency channel last.
        return switch info.channels {
        case 3: [0, 2, 1]
        case 5: [0, 2, 1, 3, 4]
        case 6: [0, 2, 1, 5, 3, 4]
        case 7: [0, 2, 1, 6, 5, 3, 4]
        case 8: [0, 2, 1, 7, 5, 6, 3, 4]
        default: nil
        }
    }
}
