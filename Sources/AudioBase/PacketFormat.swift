// SPDX-License-Identifier: Apache-2.0

/// The format of a stream's packets with a decoder's configuration: `AudioStreamBasicDescription` and magic cookie in one.
public struct PacketFormat: Hashable, Sendable {
    /// The coding of packets.
    public enum Codec: Hashable, Sendable {
        /// Interleaved samples, little-endian.
        case pcm(SampleType)
        /// MPEG audio, layer I.
        case mp1
        /// MPEG audio, layer II.
        case mp2
        /// MPEG audio, layer III.
        case mp3
        /// AAC, one access unit a packet, without ADTS header.
        case aac
        /// Opus (RFC 6716), one or two channels.
        case opus
        /// Vorbis I.
        case vorbis
    }

    /// The coding of packets.
    public let codec: Codec
    /// The decoded format that the stream declares. AAC may turn out to have twice the rate, or two channels for one (spectral band
    /// replication, parametric stereo), which only its packets tell.
    public let format: AudioFormat
    /// Frames in each packet, at the rate of ``format``; nil if each has its own.
    public let framesPerPacket: Int?
    /// The decoder's configuration. AAC: the AudioSpecificConfig. Vorbis: its three headers, each behind two bytes of length,
    /// big-endian. Opus: the header of its file (RFC 7845, 5.1), or nothing. Else empty.
    public let configuration: [UInt8]

    /// A format of these properties.
    package init(codec: Codec, format: AudioFormat, framesPerPacket: Int?, configuration: [UInt8] = []) {
        self.codec = codec
        self.format = format
        self.framesPerPacket = framesPerPacket
        self.configuration = configuration
    }
}
