// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Decodes AAC packets to planar audio with libavcodec: AAC-LC in a call; in a stream also spectral band replication and
/// parametric stereo.
///
/// For one thread at a time, the media thread: libavcodec may allocate in each call.
public final class AACDecoder: PacketDecoder {
    /// The maximum bytes of a packet in a call; longer ones are rejected. AAC-LC allows 6,144 bits for each channel and block
    /// (ISO/IEC 14496-3, 4.5.1.1); the rest is for side data.
    package static let maximumPacketByteCount = 8_192

    /// The configuration with which the decoder was created.
    public let configuration: AudioSpecificConfig
    /// The decoded format, from the configuration or from the stream's first packet.
    public let format: AudioFormat
    /// The frames that each packet decodes to: 1,024, or 2,048 with spectral band replication.
    public let maximumFramesPerPacket: Int

    private let decoder: AVDecoder

    /// Creates a decoder for a call's packets.
    /// - Throws: ``CodecError/badConfiguration(codec:detail:)``, see ``AudioSpecificConfig/init(bytes:)``.
    public init(audioSpecificConfig: [UInt8]) throws(CodecError) {
        configuration = try AudioSpecificConfig(bytes: audioSpecificConfig)
        decoder = try Self.open(audioSpecificConfig, Self.maximumPacketByteCount)
        format = configuration.format
        maximumFramesPerPacket = AACEncoder.blockFrameCount
    }

    /// Creates a decoder for the packets of a stream or a file.
    /// - Parameter firstPacket: gives the output format where packets declare more than the configuration does; its sound is not
    ///   part of the output.
    /// - Throws: ``CodecError/badConfiguration(codec:detail:)``, see ``AudioSpecificConfig/init(streamBytes:)``.
    public init(streamConfiguration: [UInt8], firstPacket: [UInt8]? = nil) throws(CodecError) {
        configuration = try AudioSpecificConfig(streamBytes: streamConfiguration)
        let decoder = try Self.open(streamConfiguration, 4 * Self.maximumPacketByteCount)
        var format = configuration.format
        var frames = AACEncoder.blockFrameCount
        if let firstPacket,
            let found = try? firstPacket.withUnsafeBytes({ bytes throws(CodecError) in
                try decoder.decode(bytes) { (decoded, _) throws(CodecError) in decoded }
            }), AudioFormat.sampleRates.contains(Double(found.sampleRate)),
            AudioFormat.channelCounts.contains(found.channelCount), (1...4_096).contains(found.frameCount)
        {
            format = AudioFormat(sampleRate: Double(found.sampleRate), channelCount: found.channelCount)
            frames = found.frameCount
        }
        decoder.reset()
        self.decoder = decoder
        self.format = format
        maximumFramesPerPacket = frames
    }

    private static func open(_ configuration: [UInt8], _ maximum: Int) throws(CodecError) -> AVDecoder {
        try AVDecoder(named: "aac", codec: "AAC", configuration: configuration, maximumPacketByteCount: maximum)
    }

    /// Decodes one packet; any bytes are allowed.
    /// - Parameters:
    ///   - channels: channels beyond the format's are left unchanged.
    ///   - offset: the position of the first frame in the channels.
    /// - Returns: ``maximumFramesPerPacket``, or 0 if the packet carried no audio.
    /// - Throws: ``CodecError/badPacket(codec:detail:)``, with nothing written; the next packet can be decoded.
    public func decode(
        _ bytes: UnsafeRawBufferPointer, into channels: Channels, offset: Int
    ) throws(CodecError) -> Int {
        let frames = maximumFramesPerPacket...maximumFramesPerPacket
        return try decoder.decode(bytes, as: format, frames: frames, into: channels, offset: offset)
    }

    /// Resets the decoder, as after a gap that is not concealed.
    public func reset() { decoder.reset() }
}
