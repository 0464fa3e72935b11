// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioFiles

/// Encodes recorded frames as packets. For one thread at a time, never a render thread.
final class PacketEncoder {
    private enum Codec {
        case aac(AACEncoder)
        case opus(OpusEncoder)
        case mp3(MP3Packets)
    }
    /// The format by which the packets are decoded.
    let format: AudioQueueFormat
    /// The number of frames that the packets decode to before the first recorded frame.
    let primingFrames: Int
    /// The maximum number of packets that ``finish(_:)`` passes on.
    static let tailPacketCount = 32
    /// True after the end or a failure: nothing more can be encoded.
    var isFinished = false
    private let codec: Codec
    private let collected: AudioBuffer
    private let opusPacket: UnsafeMutableRawBufferPointer
    /// The number of frames kept until they fill a packet.
    private(set) var held = 0

    /// - Returns: nil for linear PCM.
    static func make(_ encoding: AudioQueueEncoding) throws(CodecError) -> PacketEncoder? {
        switch encoding {
        case .linearPCM: return nil
        case .aac(let rate, let channels, let bitRate):
            let encoder = try AACEncoder(sampleRate: rate, channelCount: channels, bitRate: bitRate)
            return PacketEncoder(
                .aac(encoder), try .aac(configuration: encoder.audioSpecificConfig), encoder.primingFrames)
        case .opus(let channels, let duration, let bitRate):
            let encoder = try OpusEncoder(channelCount: channels, frameDuration: duration, bitRate: bitRate)
            let format = AudioQueueFormat.opus(channelCount: channels, framesPerPacket: duration.frameCount)
            return PacketEncoder(.opus(encoder), format, encoder.lookahead)
        case .mp3(let rate, let channels, let bitRate):
            let packets = try MP3Packets(sampleRate: rate, channelCount: channels, bitRate: bitRate)
            return PacketEncoder(
                .mp3(packets), .mp3(sampleRate: rate, channelCount: channels), MP3Packets.primingFrames)
        }
    }

    private init(_ codec: Codec, _ format: AudioQueueFormat, _ primingFrames: Int) {
        self.codec = codec
        self.format = format
        self.primingFrames = primingFrames
        collected = AudioBuffer(
            channelCount: format.processingFormat.channelCount, frameCapacity: format.framesPerPacket)
        opusPacket = .allocate(byteCount: OpusEncoder.maximumPacketByteCount, alignment: 16)
    }

    deinit { opusPacket.deallocate() }

    /// Encodes frames and keeps those that do not fill a packet.
    func encode(
        _ samples: Channels, frameCount: Int, _ give: (UnsafeRawBufferPointer) -> Void
    ) throws(CodecError) {
        var copiedCount = 0
        while copiedCount < frameCount {
            let count = min(frameCount - copiedCount, collected.frameCapacity - held)
            for c in 0..<collected.channels.count {
                copySamples(collected.channels[c] + held, samples[c] + copiedCount, count)
            }
            held += count
            copiedCount += count
            if held == collected.frameCapacity { try encodeCollected(give) }
        }
    }

    /// Encodes the kept frames, with silence to fill the last packet. Nothing can be encoded after it.
    func finish(_ give: (UnsafeRawBufferPointer) -> Void) throws(CodecError) {
        isFinished = true
        if case .mp3(let packets) = codec {
            try packets.encode(collected.channels, frameCount: held, give)
            return try packets.finish(give)
        }
        // Opus outputs the frames of its look-ahead only for more input, which is silence here. AAC's encoder can be flushed.
        var remainingCount = held
        if case .opus(let encoder) = codec { remainingCount += encoder.lookahead }
        while remainingCount > 0 {
            for c in 0..<collected.channels.count {
                clearSamples(collected.channels[c] + held, collected.frameCapacity - held)
            }
            try encodeCollected(give)
            remainingCount -= collected.frameCapacity
        }
        guard case .aac(let encoder) = codec else { return }
        while let packet = try encoder.flush() { give(packet) }
    }

    private func encodeCollected(_ give: (UnsafeRawBufferPointer) -> Void) throws(CodecError) {
        held = 0
        switch codec {
        case .aac(let encoder):
            if let packet = try encoder.encode(collected.channels) { give(packet) }
        case .opus(let encoder):
            let count = try encoder.encode(collected.channels, into: opusPacket)
            give(UnsafeRawBufferPointer(rebasing: opusPacket[0..<count]))
        case .mp3(let packets):
            try packets.encode(collected.channels, frameCount: collected.frameCapacity, give)
        }
    }
}
