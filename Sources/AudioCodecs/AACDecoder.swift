import AudioBase
import CLibAV

/// Decodes AAC-LC packets to planar audio with libavcodec's own decoder, 1,024 frames a packet.
///
/// For one thread at a time, the media thread; libavcodec may allocate in each call.
public final class AACDecoder {
    /// A packet longer than this is no AAC-LC of two channels (6,144 bits a channel and block, ISO/IEC 14496-3, 4.5.1.1,
    /// and room for side data).
    public static let maximumPacketByteCount = 8_192

    /// What the packets must agree with.
    public let configuration: AudioSpecificConfig

    private let coder: AVCoder

    /// - Throws: ``CodecError/badConfiguration(codec:detail:)``, see ``AudioSpecificConfig/init(bytes:)``.
    public init(audioSpecificConfig: [UInt8]) throws(CodecError) {
        let configuration = try AudioSpecificConfig(bytes: audioSpecificConfig)
        let coder = try AVCoder(AVCoder.decoder(named: "aac"), codec: "AAC")
        let context = coder.context
        let padding = Int(AV_INPUT_BUFFER_PADDING_SIZE)
        guard let extradata = av_mallocz(audioSpecificConfig.count + padding) else {
            coder.free()
            throw .libraryFailure(codec: "AAC", call: "av_mallocz", code: 0)
        }
        audioSpecificConfig.withUnsafeBytes { bytes in
            if let from = bytes.baseAddress { extradata.copyMemory(from: from, byteCount: bytes.count) }
        }
        context.pointee.extradata = extradata.assumingMemoryBound(to: UInt8.self)  // freed with the context
        context.pointee.extradata_size = Int32(audioSpecificConfig.count)
        var code = avcodec_open2(context, nil, nil)
        if code >= 0 { code = av_new_packet(coder.packet, Int32(Self.maximumPacketByteCount)) }
        guard code >= 0 else {
            coder.free()
            throw .badConfiguration(codec: "AAC", detail: "libavcodec refuses it, code \(code)")
        }
        self.configuration = configuration
        self.coder = coder
    }

    deinit { coder.free() }

    /// Decodes one packet, any bytes at all.
    /// - Parameters:
    ///   - channels: those above the configuration's count are left alone.
    ///   - offset: where in the channels the first of 1,024 frames goes.
    /// - Returns: 1,024, or 0 where the packet carried no audio.
    /// - Throws: ``CodecError/badPacket(codec:detail:)``, with nothing written; the next packet can be decoded.
    public func decode(
        _ bytes: UnsafeRawBufferPointer, into channels: Channels, offset: Int = 0
    ) throws(CodecError) -> Int {
        guard let from = bytes.baseAddress, bytes.count > 0 else { throw .badPacket(codec: "AAC", detail: "empty") }
        guard bytes.count <= Self.maximumPacketByteCount else {
            throw .badPacket(codec: "AAC", detail: "\(bytes.count) bytes long")
        }
        try fillPacket(from, bytes.count)
        var code = avcodec_send_packet(coder.context, coder.packet)
        coder.packet.pointee.size = Int32(Self.maximumPacketByteCount)
        if code >= 0 { code = avcodec_receive_frame(coder.context, coder.frame) }
        if code == earshot_av_again() { return 0 }
        guard code >= 0 else { throw .badPacket(codec: "AAC", detail: "code \(code)") }
        defer { drain() }
        guard isExpectedFormat, let planes = coder.frame.pointee.extended_data else {
            throw .badPacket(codec: "AAC", detail: "another format than the session's")
        }
        for c in 0..<min(configuration.channelCount, channels.count) {
            guard let plane = planes[c] else { continue }
            UnsafeMutableRawPointer(channels[c] + offset).copyMemory(
                from: plane, byteCount: AACEncoder.blockFrameCount * MemoryLayout<Float>.size)
        }
        return AACEncoder.blockFrameCount
    }

    /// Forgets the signal so far, as after a gap of which nothing is to be heard.
    public func reset() { avcodec_flush_buffers(coder.context) }

    /// Copies the bytes to where the library may read beyond their end.
    private func fillPacket(_ from: UnsafeRawPointer, _ count: Int) throws(CodecError) {
        coder.packet.pointee.size = Int32(Self.maximumPacketByteCount)
        let code = av_packet_make_writable(coder.packet)
        guard code >= 0, let data = coder.packet.pointee.data else {
            throw .libraryFailure(codec: "AAC", call: "av_packet_make_writable", code: Int(code))
        }
        UnsafeMutableRawPointer(data).copyMemory(from: from, byteCount: count)
        UnsafeMutableRawPointer(data + count).initializeMemory(
            as: UInt8.self, repeating: 0, count: Int(AV_INPUT_BUFFER_PADDING_SIZE))
        coder.packet.pointee.size = Int32(count)
    }

    /// A packet can carry its own channel layout or a higher rate; this session does not follow it there.
    private var isExpectedFormat: Bool {
        coder.frame.pointee.format == AV_SAMPLE_FMT_FLTP.rawValue
            && Int(coder.frame.pointee.nb_samples) == AACEncoder.blockFrameCount
            && Int(coder.frame.pointee.sample_rate) == Int(configuration.sampleRate)
            && Int(earshot_av_frame_channels(coder.frame)) == configuration.channelCount
    }

    /// Takes what else a packet gave, so that the library accepts the next.
    private func drain() { while avcodec_receive_frame(coder.context, coder.frame) >= 0 {} }
}
