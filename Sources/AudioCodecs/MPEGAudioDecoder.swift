// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Decodes MPEG audio of layer I, II or III to planar audio with libavcodec's floating-point decoders. Each packet is one frame.
///
/// The output is 529 frames late because of the synthesis filter. The first packet after a seek or in a joined stream may lack
/// its bit reservoir, and is then silence in part. For one thread at a time.
public final class MPEGAudioDecoder: PacketDecoder {
    /// The maximum bytes of a packet, more than the longest possible frame: layer II at 384 kb/s and 32 kHz, or layer III at 160
    /// kb/s and 8 kHz.
    package static let maximumPacketByteCount = 4_096

    /// The decoded format.
    public let format: AudioFormat
    /// The frames that each packet decodes to: 384, 576 or 1,152.
    public let maximumFramesPerPacket: Int

    private let decoder: AVDecoder

    /// - Parameter packets: packets of layer I, II or III.
    /// - Throws: ``CodecError/unsupportedFormat(codec:detail:)`` for more than two channels, ``CodecError/codecMissing(codec:)``
    ///   if libavcodec was built without the decoder.
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

    /// Decodes one frame with its header; any bytes are allowed. See ``PacketDecoder/decode(_:into:offset:)``.
    public func decode(
        _ packet: UnsafeRawBufferPointer, into channels: Channels, offset: Int
    ) throws(CodecError) -> Int {
        let frames = maximumFramesPerPacket...maximumFramesPerPacket
        return try decoder.decode(packet, as: format, frames: frames, into: channels, offset: offset)
    }

    /// Resets the decoder, as after a seek.
    public func reset() { decoder.reset() }
}
