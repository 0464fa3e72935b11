// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Decodes Vorbis I packets to planar audio with libavcodec's own decoder.
///
/// The first packet, and the first after ``reset()``, gives no frames, since blocks overlap by half. For one thread at a time.
public final class VorbisDecoder: PacketDecoder {
    /// The maximum bytes of a packet; longer packets are rejected. Vorbis sets no limit, but no encoder makes packets of nearly
    /// this size.
    package static let maximumPacketByteCount = 65_536

    /// The decoded format.
    public let format: AudioFormat
    /// The maximum frames that a packet decodes to: half of the longest block, 4,096.
    public let maximumFramesPerPacket = 4_096

    private let decoder: AVDecoder

    /// - Parameter packets: packets with the three headers as configuration.
    /// - Throws: ``CodecError/badConfiguration(codec:detail:)`` for headers that libavcodec refuses,
    ///   ``CodecError/codecMissing(codec:)`` if it was built without Vorbis.
    public init(_ packets: PacketFormat) throws(CodecError) {
        format = packets.format
        decoder = try AVDecoder(
            named: "vorbis", codec: "Vorbis", configuration: packets.configuration,
            sampleRate: packets.format.sampleRate, channelCount: packets.format.channelCount,
            maximumPacketByteCount: Self.maximumPacketByteCount)
    }

    /// Decodes one packet; any bytes are allowed. See ``PacketDecoder/decode(_:into:offset:)``.
    public func decode(
        _ packet: UnsafeRawBufferPointer, into channels: Channels, offset: Int
    ) throws(CodecError) -> Int {
        try decoder.decode(packet, as: format, frames: 0...maximumFramesPerPacket, into: channels, offset: offset)
    }

    /// Resets the decoder, as after a seek.
    public func reset() { decoder.reset() }
}
