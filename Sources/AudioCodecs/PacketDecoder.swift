// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Decodes packets, one a call, to planar audio: AAC, MPEG audio, Opus, Vorbis or PCM.
///
/// One thread at a time; not for render threads, as libraries may allocate.
public protocol PacketDecoder: AnyObject {
    /// The decoded format; it does not change.
    var format: AudioFormat { get }
    /// Frames that one packet gives at most: the room to be had behind the offset.
    var maximumFramesPerPacket: Int { get }
    /// Decodes one packet, any bytes at all.
    /// - Parameters:
    ///   - channels: those above the format's count are left alone.
    ///   - offset: where in the channels the first frame goes, with room for ``maximumFramesPerPacket`` behind it.
    /// - Returns: the frames written; 0 for a packet without frames (the first of Vorbis).
    /// - Throws: ``CodecError/badPacket(codec:detail:)``, with nothing written; the next packet can be decoded.
    func decode(_ packet: UnsafeRawBufferPointer, into channels: Channels, offset: Int) throws(CodecError) -> Int
    /// Resets the decoder's state, as after a seek.
    func reset()
}

extension PacketDecoder {
    /// Decodes one packet to the beginning of the channels.
    public func decode(_ packet: UnsafeRawBufferPointer, into channels: Channels) throws(CodecError) -> Int {
        try decode(packet, into: channels, offset: 0)
    }
}

/// Makes decoders.
public enum PacketDecoders {
    /// A decoder for packets of this format.
    /// - Parameter firstPacket: of an AAC stream, to see what it decodes to: spectral band replication and parametric stereo are
    ///   told by packets alone. Without it what the configuration says is believed. It is not part of what is decoded.
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
