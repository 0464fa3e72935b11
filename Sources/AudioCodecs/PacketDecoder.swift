// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Decodes packets to planar audio, one per call: AAC, MPEG audio, Opus, Vorbis or PCM.
///
/// For one thread at a time, but not for the render thread, since libraries may allocate.
public protocol PacketDecoder: AnyObject {
    /// The decoded format. It does not change.
    var format: AudioFormat { get }
    /// The maximum number of frames that a packet decodes to, for which ``decode(_:into:offset:)`` needs room.
    var maximumFramesPerPacket: Int { get }
    /// Decodes one packet; any bytes are allowed.
    /// - Parameters:
    ///   - channels: channels beyond the format's are left unchanged.
    ///   - offset: the position of the first frame in the channels, with room for ``maximumFramesPerPacket`` after it.
    /// - Returns: the frames written; 0 for a packet without frames, such as the first of Vorbis.
    /// - Throws: ``CodecError/badPacket(codec:detail:)``, with nothing written; the next packet can be decoded.
    func decode(_ packet: UnsafeRawBufferPointer, into channels: Channels, offset: Int) throws(CodecError) -> Int
    /// Resets the decoder, as after a seek.
    func reset()
}

extension PacketDecoder {
    /// Decodes one packet to the beginning of the channels.
    public func decode(_ packet: UnsafeRawBufferPointer, into channels: Channels) throws(CodecError) -> Int {
        try decode(packet, into: channels, offset: 0)
    }
}

/// Creates the decoder for each packet format.
public enum PacketDecoders {
    /// Creates a decoder for packets of this format.
    /// - Parameter firstPacket: an AAC stream's first packet, since only packets declare spectral band replication and parametric
    ///   stereo. Without it the configuration is taken as complete. The packet's sound is not part of the output.
    /// - Throws: ``CodecError/unsupportedFormat(codec:detail:)``, ``CodecError/badConfiguration(codec:detail:)``,
    ///   ``CodecError/codecMissing(codec:)``.
    public static func make(
        _ packets: PacketFormat, firstPacket: [UInt8]? = nil
    ) throws(CodecError) -> any PacketDecoder {
        switch packets.codec {
        case .pcm(let type): PCMDecoder(type, format: packets.format)
        case .mp1, .mp2, .mp3: try MPEGAudioDecoder(packets)
        case .aac: try AACDecoder(streamConfiguration: packets.configuration, firstPacket: firstPacket)
        case .opus: try OpusDecoder(packets)
        case .vorbis: try VorbisDecoder(packets)
        }
    }
}
