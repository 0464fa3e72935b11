// SPDX-License-Identifier: Apache-2.0

import CEarshotOpus
import EarshotAudioBase

extension OpusDecoder: PacketDecoder {
    /// Creates a decoder for the packets of a file or a stream. The decoder applies the gain in their header (RFC 7845, 5.1).
    /// - Throws: ``CodecError/unsupportedFormat(codec:detail:)`` unless the packets have one or two channels.
    public convenience init(_ packets: PacketFormat) throws(CodecError) {
        try self.init(channelCount: packets.format.channelCount)
        let header = packets.configuration
        guard header.count >= 18 else { return }
        let gain = Int16(bitPattern: UInt16(header[16]) | UInt16(header[17]) << 8)  // 256ths of a decibel
        let code = earshot_opus_set_gain(renderer.decoder, Int32(gain))
        guard code == OPUS_OK else {
            throw .libraryFailure(codec: "Opus", call: "opus_decoder_ctl", code: Int(code))
        }
    }

    /// The decoded format: 48 kHz, with ``channelCount`` channels.
    public var format: AudioFormat { AudioFormat(sampleRate: 48_000, channelCount: channelCount) }
    /// The maximum frames that a packet decodes to: 5,760, or 120 ms.
    public var maximumFramesPerPacket: Int { Self.maximumFrameCount }

    /// Decodes one packet; any bytes are allowed. See ``PacketDecoder/decode(_:into:offset:)``. On the render thread use
    /// ``renderer``.
    public func decode(
        _ packet: UnsafeRawBufferPointer, into channels: Channels, offset: Int
    ) throws(CodecError) -> Int {
        guard let bytes = packet.baseAddress else { throw .badPacket(codec: "Opus", detail: "empty") }
        let frames = renderer.decode(
            bytes.assumingMemoryBound(to: UInt8.self), byteCount: packet.count, into: channels, offset: offset,
            frameCount: Self.maximumFrameCount)
        guard frames > 0 else { throw .badPacket(codec: "Opus", detail: "code \(frames)") }
        return frames
    }

    /// Resets the decoder, as after a seek.
    public func reset() { renderer.reset() }
}
