// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// What ``AudioStreamParser`` finds in a stream.
public enum AudioStreamEvent: Hashable, Sendable {
    /// What the packets are that follow; again where a stream goes on with others.
    case format(AudioStreamFormat)
    /// One packet.
    case packet(AudioStreamPacket)
    /// Bytes that belong to no packet and no tag, told when it is known where they end.
    case skipped(byteCount: Int, offset: Int)
}

/// What the packets of a stream are.
public struct AudioStreamFormat: Hashable, Sendable {
    /// What packets lie in.
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
    /// What packets lie in.
    public let container: Container
    /// What they are.
    public let packets: PacketFormat
    /// Frames of sound in the whole stream, without what is trimmed at its ends, where a header says so.
    public let frameCount: Int?
    /// `ARTIST - TITLE` of an Ogg stream's comments, or what there is of the two.
    public let title: String?
    /// Byte offset of the first packet.
    public let dataOffset: Int
}

/// One packet, and which part of what it decodes to is to be heard.
public struct AudioStreamPacket: Hashable, Sendable {
    /// Where the first audible frame stands in the stream's sound, at the stream's rate; where nothing is audible, where the next
    /// one stands.
    public let framePosition: Int
    /// Frames that it decodes to.
    public let frameCount: Int
    /// Which of them are sound: encoders put silence before and behind, which their headers tell.
    public let audibleFrames: Range<Int>
    /// Where it begins in the stream, in Ogg the page where it ends.
    public let byteOffset: Int
    /// What a decoder is given.
    public let bytes: [UInt8]
}

/// Where in the bytes a frame of sound is to be found.
package struct SeekHint: Hashable, Sendable {
    /// Where to read from.
    package let byteOffset: Int
    /// What will be the first frame there: exactly, or about.
    package let framePosition: Int
    /// Whether it is exactly that frame.
    package let isExact: Bool
}
