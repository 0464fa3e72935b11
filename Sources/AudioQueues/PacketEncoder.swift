// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioFiles

/// Makes packets of what was recorded, piece by piece. One thread at a time, never a render thread.
final class PacketEncoder {
    private enum Codec {
        case aac(AACEncoder)
        case opus(OpusEncoder)
        case mp3(MP3Packets)
    }
    /// The format for the player of the packets.
    let format: AudioQueueFormat
    /// Frames that the decoded sound begins with before the first one that was recorded.
    let primingFrames: Int
    /// Packets that ``finish(_:)`` gives at most.
    static let tailPacketCount = 32
    /// True if nothing can be encoded any more: it has finished, or failed.
    var isFinished = false
    private let codec: Codec
    private let collected: AudioBuffer
    private let opusPacket: UnsafeMutableRawBufferPointer
    /// Frames that wait for more, to make a packet.
    private(set) var held = 0

    /// - Returns: nil if nothing is to be encoded.
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

    /// Encodes frames; what is less than a packet waits for more.
    func encode(
        _ samples: Channels, frameCount: Int, _ give: (UnsafeRawBufferPointer) -> Void
    ) throws(CodecError) {
        var done = 0
        while done < frameCount {
            let count = min(frameCount - done, collected.frameCapacity - held)
            for c in 0..<collected.channels.count {
                copySamples(collected.channels[c] + held, samples[c] + done, count)
            }
            held += count
            done += count
            if held == collected.frameCapacity { try encodeCollected(give) }
        }
    }

    /// Gives out what is left, the last packet filled with silence; nothing can be encoded after it.
    func finish(_ give: (UnsafeRawBufferPointer) -> Void) throws(CodecError) {
        isFinished = true
        if case .mp3(let packets) = codec {
            try packets.encode(collected.channels, frameCount: held, give)
            return try packets.finish(give)
        }
        // Silence pushes out the frames in Opus's look-ahead; AAC's encoder returns them by itself.
        var behind = held
        if case .opus(let encoder) = codec { behind += encoder.lookahead }
        while behind > 0 {
            for c in 0..<collected.channels.count {
                clearSamples(collected.channels[c] + held, collected.frameCapacity - held)
            }
            try encodeCollected(give)
            behind -= collected.frameCapacity
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
