import AudioBase

extension OpusDecoder: PacketDecoder {
    /// 48 kHz.
    public var format: AudioFormat { AudioFormat(sampleRate: 48_000, channelCount: channelCount) }
    /// 120 ms.
    public var maximumFramesPerPacket: Int { Self.maximumFrameCount }

    /// Decodes one packet, any bytes at all; see ``PacketDecoder/decode(_:into:offset:)``. A callback uses ``renderer``.
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

    /// Forgets the signal so far, as after a seek.
    public func reset() { renderer.reset() }
}
