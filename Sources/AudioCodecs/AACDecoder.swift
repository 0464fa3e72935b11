// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Decodes AAC packets to planar audio with libavcodec's own decoder: AAC-LC in a call, in a stream also with spectral band
/// replication and parametric stereo.
///
/// For one thread at a time, the media thread; libavcodec may allocate in each call.
public final class AACDecoder: PacketDecoder {
    /// A packet longer than this is no AAC-LC of two channels (6,144 bits a channel and block, ISO/IEC 14496-3, 4.5.1.1,
    /// and room for side data).
    package static let maximumPacketByteCount = 8_192

    /// The configuration that packets must match.
    public let configuration: AudioSpecificConfig
    /// The decoded format: the configuration's, or that of a stream's first packet.
    public let format: AudioFormat
    /// Frames that every packet gives: 1,024, or 2,048 with spectral band replication.
    public let maximumFramesPerPacket: Int

    private let decoder: AVDecoder

    /// A decoder of a call's packets.
    /// - Throws: ``CodecError/badConfiguration(codec:detail:)``, see ``AudioSpecificConfig/init(bytes:)``.
    public init(audioSpecificConfig: [UInt8]) throws(CodecError) {
        configuration = try AudioSpecificConfig(bytes: audioSpecificConfig)
        decoder = try Self.open(audioSpecificConfig, Self.maximumPacketByteCount)
        format = configuration.format
        maximumFramesPerPacket = AACEncoder.blockFrameCount
    }

    /// A decoder of a stream's or a file's packets.
    /// - Parameter firstPacket: shows the output format if packets say more than the configuration; its sound is not part of the
    ///   output.
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

    /// Decodes one packet, any bytes at all.
    /// - Parameters:
    ///   - channels: those above the format's count are left alone.
    ///   - offset: where in the channels the first frame goes.
    /// - Returns: ``maximumFramesPerPacket``, or 0 if the packet carried no audio.
    /// - Throws: ``CodecError/badPacket(codec:detail:)``, with nothing written; the next packet can be decoded.
    public func decode(
        _ bytes: UnsafeRawBufferPointer, into channels: Channels, offset: Int
    ) throws(CodecError) -> Int {
        let frames = maximumFramesPerPacket...maximumFramesPerPacket
        return try decoder.decode(bytes, as: format, frames: frames, into: channels, offset: offset)
    }

    /// Resets the decoder's state, as after a gap that is not concealed.
    public func reset() { decoder.reset() }
}
