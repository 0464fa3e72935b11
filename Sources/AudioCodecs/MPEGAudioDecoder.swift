// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Decodes MPEG audio of layer I, II or III to planar audio with libavcodec's decoders in floating point, a frame a packet.
///
/// Its output is 529 frames late, by the nature of the synthesis filter. A packet whose bit reservoir is missing, the first after a
/// seek or if a stream was joined, gives silence in part. For one thread at a time.
public final class MPEGAudioDecoder: PacketDecoder {
    /// No frame is longer: layer II, 384 kb/s at 32 kHz, or layer III at 8 kHz and 160 kb/s.
    package static let maximumPacketByteCount = 4_096

    /// The decoded format.
    public let format: AudioFormat
    /// 384, 576 or 1,152.
    public let maximumFramesPerPacket: Int

    private let decoder: AVDecoder

    /// - Parameter packets: of layer I, II or III.
    /// - Throws: ``CodecError/unsupportedFormat(codec:detail:)`` for more than two channels,
    ///   ``CodecError/codecMissing(codec:)`` where libavcodec was built without the decoder.
    public init(_ packets: PacketFormat) throws(CodecError) {
        guard (1...2).contains(packets.format.channelCount) else {
            throw .unsupportedFormat(
                codec: "MPEG audio", detail: "\(packets.format.channelCount) channels; it has 1 or 2")
        }
        let (name, codec) =
            switch packets.codec {
            case .mp1: ("mp1float", "MP1")
            case .mp2: ("mp2float", "MP2")
            default: ("mp3float", "MP3")
            }
        format = packets.format
        maximumFramesPerPacket = packets.framesPerPacket ?? 1_152
        decoder = try AVDecoder(
            named: name, codec: codec, configuration: [], maximumPacketByteCount: Self.maximumPacketByteCount)
    }

    /// Decodes one frame with its header, any bytes at all; see ``PacketDecoder/decode(_:into:offset:)``.
    public func decode(
        _ packet: UnsafeRawBufferPointer, into channels: Channels, offset: Int
    ) throws(CodecError) -> Int {
        let frames = maximumFramesPerPacket...maximumFramesPerPacket
        return try decoder.decode(packet, as: format, frames: frames, into: channels, offset: offset)
    }

    /// Resets the decoder's state, as after a seek.
    public func reset() { decoder.reset() }
}
