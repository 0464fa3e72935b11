// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A finding of ``AudioStreamParser`` in a stream.
public enum AudioStreamEvent: Hashable, Sendable {
    /// The format of the packets that follow; sent again if a stream changes it.
    case format(AudioStreamFormat)
    /// A packet.
    case packet(AudioStreamPacket)
    /// Bytes that belong to no packet and no tag, sent when their end is known.
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
    /// The container.
    public let container: Container
    /// The format of the packets.
    public let packets: PacketFormat
    /// The number of frames of the whole stream without the trimmed ends; nil if no header has the number.
    public let frameCount: Int?
    /// `ARTIST - TITLE` from an Ogg stream's comments, or the only one of both; nil if there is none.
    public let title: String?
    /// The byte offset of the first packet.
    public let dataOffset: Int
}

/// A packet, and the part of its decoded frames that is audible.
public struct AudioStreamPacket: Hashable, Sendable {
    /// The position in the stream of the first audible frame; if no frame is audible, of the next audible one.
    public let framePosition: Int
    /// The number of frames to which the packet decodes.
    public let frameCount: Int
    /// The range of the audible frames: encoders add silence before and after the sound, which headers declare.
    public let audibleFrames: Range<Int>
    /// The byte offset of the packet's beginning in the stream; in Ogg, of the page in which the packet ends.
    public let byteOffset: Int
    /// The packet's bytes for the decoder.
    public let bytes: [UInt8]
}

/// The byte offset for a seek to a frame.
package struct SeekHint: Hashable, Sendable {
    /// The byte offset from which to read.
    package let byteOffset: Int
    /// The first frame at the offset, exact or approximate.
    package let framePosition: Int
    /// True if ``framePosition`` is exact.
    package let isExact: Bool
}
