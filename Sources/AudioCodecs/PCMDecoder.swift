// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Decodes interleaved little-endian samples of any type, as in WAV files. For one thread at a time.
public final class PCMDecoder: PacketDecoder {
    /// The decoded format.
    public let format: AudioFormat
    /// The maximum frames of a packet; longer packets are rejected.
    public let maximumFramesPerPacket = 4_096

    private let type: SampleType

    /// - Parameter type: the type of the samples in the packets.
    public init(_ type: SampleType, format: AudioFormat) {
        self.type = type
        self.format = format
    }

    /// Decodes a packet of whole frames; see ``PacketDecoder/decode(_:into:offset:)``.
    public func decode(
        _ packet: UnsafeRawBufferPointer, into channels: Channels, offset: Int
    ) throws(CodecError) -> Int {
        let stride = type.byteCount * format.channelCount
        let frames = packet.count / stride
        guard let bytes = packet.baseAddress, packet.count % stride == 0, frames <= maximumFramesPerPacket else {
            throw .badPacket(codec: "PCM", detail: "\(packet.count) bytes are not 1 to 4,096 frames of \(stride)")
        }
        let usedChannels = Channels(channels.pointers, count: min(channels.count, format.channelCount))
        type.read(bytes, channelCount: format.channelCount, frameCount: frames, into: usedChannels, offset: offset)
        return frames
    }

    /// Does nothing, since packets do not depend on each other.
    public func reset() {}
}
