// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A finding of ``AudioStreamParser`` in a stream.
public enum AudioStreamEvent: Hashable, Sendable {
    /// The format of the packets that follow; again if a stream continues with others.
    case format(AudioStreamFormat)
    /// One packet.
    case packet(AudioStreamPacket)
    /// Bytes that belong to no packet and no tag, told when it is known where they end.
    case skipped(byteCount: Int, offset: Int)
}

/// The format of a stream's packets.
public struct AudioStreamFormat: Hashable, Sendable {
    /// The container of packets.
    public enum Container: String, Hashable, Sendable {
        /// Frames of MPEG audio, one after the other (`.mp3`, `.mp2`).
        case mpegAudio
        /// AAC in ADTS (`.aac`).
        case adts
        /// Ogg pages.
        case ogg
        /// RIFF or RF64 WAVE.
        case wav
    }
    /// The container of the packets.
    public let container: Container
    /// The format of the packets.
    public let packets: PacketFormat
    /// Frames of sound in the whole stream, without what is trimmed at its ends, if a header says so.
    public let frameCount: Int?
    /// `ARTIST - TITLE` of an Ogg stream's comments, or what there is of the two.
    public let title: String?
    /// Byte offset of the first packet.
    public let dataOffset: Int
}

/// One packet, and which part of what it decodes to is to be heard.
public struct AudioStreamPacket: Hashable, Sendable {
    /// The position of the first audible frame in the stream's sound, at the stream's rate; of the next one if none is audible.
    public let framePosition: Int
    /// Frames that it decodes to.
    public let frameCount: Int
    /// The frames that are sound: encoders add silence before and after, which their headers declare.
    public let audibleFrames: Range<Int>
    /// The offset at which it begins in the stream, in Ogg the page where it ends.
    public let byteOffset: Int
    /// The bytes for a decoder.
    public let bytes: [UInt8]
}

/// The place of a frame of sound in the bytes.
package struct SeekHint: Hashable, Sendable {
    /// The offset to read from.
    package let byteOffset: Int
    /// The first frame there: exactly, or about.
    package let framePosition: Int
    /// True if it is exactly that frame.
    package let isExact: Bool
}
