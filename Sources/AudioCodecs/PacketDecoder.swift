import AudioBase

/// Decodes packets, one a call, to planar audio, whatever the codec.
///
/// One thread at a time; not for render threads, as libraries may allocate.
public protocol PacketDecoder: AnyObject {
    /// What decoding gives; it does not change.
    var format: AudioFormat { get }
    /// Frames that one packet gives at most: the room to be had behind the offset.
    var maximumFramesPerPacket: Int { get }
    /// Decodes one packet, any bytes at all.
    /// - Parameters:
    ///   - channels: those above the format's count are left alone.
    ///   - offset: where in the channels the first frame goes, with room for ``maximumFramesPerPacket`` behind it.
    /// - Returns: the frames written; 0 where the packet carried none of its own (Vorbis' first).
    /// - Throws: ``CodecError/badPacket(codec:detail:)``, with nothing written; the next packet can be decoded.
    func decode(_ packet: UnsafeRawBufferPointer, into channels: Channels, offset: Int) throws(CodecError) -> Int
    /// Forgets the signal so far, as after a seek.
    func reset()
}

extension PacketDecoder {
    /// Decodes one packet to the beginning of the channels.
    public func decode(_ packet: UnsafeRawBufferPointer, into channels: Channels) throws(CodecError) -> Int {
        try decode(packet, into: channels, offset: 0)
    }
}

extension AACDecoder: PacketDecoder {
    /// What decoding gives.
    public var format: AudioFormat {
        AudioFormat(sampleRate: configuration.sampleRate, channelCount: configuration.channelCount)
    }
    /// 1,024.
    public var maximumFramesPerPacket: Int { AACEncoder.blockFrameCount }
}

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
