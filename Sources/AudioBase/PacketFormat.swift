// SPDX-License-Identifier: Apache-2.0

/// The format of a stream's packets and the decoder's configuration; in Core Audio an `AudioStreamBasicDescription` and a magic
/// cookie.
public struct PacketFormat: Hashable, Sendable {
    /// A codec of a stream's packets.
    public enum Codec: Hashable, Sendable {
        /// Interleaved samples, little-endian.
        case pcm(SampleType)
        /// MPEG audio, layer I.
        case mp1
        /// MPEG audio, layer II.
        case mp2
        /// MPEG audio, layer III.
        case mp3
        /// AAC, one access unit in a packet, without an ADTS header.
        case aac
        /// Opus (RFC 6716), one or two channels.
        case opus
        /// Vorbis I.
        case vorbis
    }

    /// The codec of packets.
    public let codec: Codec
    /// The decoded format that the stream declares. AAC may actually have twice the rate, or two channels instead of one
    /// (spectral band replication, parametric stereo), which only its packets reveal.
    public let format: AudioFormat
    /// The frames in each packet, at the rate of ``format``; nil if they vary.
    public let framesPerPacket: Int?
    /// The decoder's configuration. AAC: the AudioSpecificConfig. Vorbis: the three headers, each after its length in two bytes,
    /// big-endian. Opus: the identification header (RFC 7845, 5.1), or empty. Otherwise empty.
    public let configuration: [UInt8]

    /// Creates a format.
    package init(codec: Codec, format: AudioFormat, framesPerPacket: Int?, configuration: [UInt8] = []) {
        self.codec = codec
        self.format = format
        self.framesPerPacket = framesPerPacket
        self.configuration = configuration
    }
}
