// SPDX-License-Identifier: Apache-2.0

/// What the packets of a stream are, and what a decoder must know of them: `AudioStreamBasicDescription` and magic cookie in one.
public struct PacketFormat: Hashable, Sendable {
    /// How packets are coded.
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

    /// How packets are coded.
    public let codec: Codec
    /// What they decode to, as the stream says it. AAC may turn out to have twice the rate, or two channels for one
    /// (spectral band replication, parametric stereo), which only its packets tell.
    public let format: AudioFormat
    /// Frames in each packet, at the rate of ``format``; nil where each has its own.
    public let framesPerPacket: Int?
    /// What a decoder needs to begin with. AAC: the AudioSpecificConfig. Vorbis: its three headers, each behind two bytes of
    /// length, big-endian. Opus: the header of its file (RFC 7845, 5.1), or nothing. Else empty.
    public let configuration: [UInt8]

    /// A format of these properties.
    package init(codec: Codec, format: AudioFormat, framesPerPacket: Int?, configuration: [UInt8] = []) {
        self.codec = codec
        self.format = format
        self.framesPerPacket = framesPerPacket
        self.configuration = configuration
    }
}
