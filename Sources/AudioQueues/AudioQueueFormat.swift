// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioFiles

/// The format of a queue's buffers: samples, or packets of a codec (`AudioStreamBasicDescription` and magic cookie).
public struct AudioQueueFormat: Sendable {
    /// The format of PCM buffers, or of the sound that packets decode to.
    public let processingFormat: AudioFormat
    /// The maximum number of frames of a packet; 1 for PCM.
    public let framesPerPacket: Int
    /// The maximum number of bytes of a packet; 0 for PCM.
    package let maximumPacketByteCount: Int
    let makeDecoder: (@Sendable () throws(CodecError) -> any PacketDecoder)?

    /// True if buffers hold packets.
    package var isPacketised: Bool { makeDecoder != nil }

    /// Returns the format of planar floats, without packets.
    public static func linearPCM(_ format: AudioFormat) -> AudioQueueFormat {
        AudioQueueFormat(
            processingFormat: format, framesPerPacket: 1, maximumPacketByteCount: 0, makeDecoder: nil)
    }

    /// Returns the format of AAC-LC access units of 1,024 frames.
    /// - Parameter configuration: the AudioSpecificConfig that comes with the stream (the magic cookie).
    /// - Throws: ``CodecError/badConfiguration(codec:detail:)``.
    public static func aac(configuration: [UInt8]) throws(CodecError) -> AudioQueueFormat {
        let parsed = try AudioSpecificConfig(bytes: configuration)
        return packets(
            of: AudioFormat(sampleRate: parsed.sampleRate, channelCount: parsed.channelCount),
            framesPerPacket: AACEncoder.blockFrameCount, maximumPacketByteCount: 1_024 * parsed.channelCount
        ) { () throws(CodecError) in try AACDecoder(audioSpecificConfig: configuration) }
    }

    /// Returns the format of Opus packets.
    /// - Parameters:
    ///   - channelCount: 1 or 2.
    ///   - framesPerPacket: the maximum number of frames of a packet, 120 to 5,760; longer packets cannot be decoded.
    public static func opus(channelCount: Int, framesPerPacket: Int = 960) -> AudioQueueFormat {
        precondition((1...2).contains(channelCount) && (120...OpusDecoder.maximumFrameCount).contains(framesPerPacket))
        return packets(
            of: AudioFormat(sampleRate: 48_000, channelCount: channelCount), framesPerPacket: framesPerPacket,
            maximumPacketByteCount: OpusEncoder.maximumPacketByteCount
        ) { () throws(CodecError) in try OpusDecoder(channelCount: channelCount) }
    }

    /// Returns the format of MPEG audio frames, layer III, each with its header.
    /// - Parameters:
    ///   - sampleRate: hertz, one of ``MP3Encoder/sampleRates``.
    ///   - channelCount: 1 or 2.
    public static func mp3(sampleRate: Double, channelCount: Int) -> AudioQueueFormat {
        precondition(MP3Encoder.sampleRates.contains(sampleRate) && (1...2).contains(channelCount))
        let format = AudioFormat(sampleRate: sampleRate, channelCount: channelCount)
        let frames = sampleRate >= 32_000 ? 1_152 : 576
        // The largest packets have 1,440 bytes, as 320 kb/s at 32 kHz or 160 kb/s at 8 kHz, and a byte of padding.
        return packets(of: format, framesPerPacket: frames, maximumPacketByteCount: 1_441) {
            () throws(CodecError) in
            try PacketDecoders.make(PacketFormat(codec: .mp3, format: format, framesPerPacket: frames))
        }
    }

    /// Returns the format of packets of any codec that has a decoder.
    /// - Parameters:
    ///   - format: the format of the decoder's output.
    ///   - framesPerPacket: the maximum number of frames of a packet.
    ///   - maximumPacketByteCount: the maximum number of bytes of a packet, for the size of the buffers.
    ///   - decoder: creates the decoder; called once for each queue, before the queue starts.
    package static func packets(
        of format: AudioFormat, framesPerPacket: Int, maximumPacketByteCount: Int,
        decoder: @escaping @Sendable () throws(CodecError) -> any PacketDecoder
    ) -> AudioQueueFormat {
        precondition(framesPerPacket >= 1 && maximumPacketByteCount >= 1)
        return AudioQueueFormat(
            processingFormat: format, framesPerPacket: framesPerPacket,
            maximumPacketByteCount: maximumPacketByteCount, makeDecoder: decoder)
    }
}

/// The place of a packet in a buffer's bytes (`AudioStreamPacketDescription`).
public struct AudioStreamPacketDescription: Hashable, Sendable {
    /// The offset of the packet's first byte in the buffer's bytes.
    public var startOffset: Int
    /// The packet's length in bytes.
    public var byteCount: Int

    /// Creates a description.
    public init(startOffset: Int, byteCount: Int) {
        self.startOffset = startOffset
        self.byteCount = byteCount
    }
}
