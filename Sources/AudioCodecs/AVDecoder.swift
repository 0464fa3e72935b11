// SPDX-License-Identifier: Apache-2.0

import CEarshotLibAV
import EarshotAudioBase

/// A decoder of libavcodec, chosen by name. It decodes each packet to one block of planar floats.
final class AVDecoder {
    /// The format and the length of a decoded packet.
    struct Decoded {
        let sampleRate: Int
        let channelCount: Int
        let frameCount: Int
    }

    let maximumPacketByteCount: Int
    private let codec: String
    private let coder: AVCoder

    /// - Parameters:
    ///   - codec: the codec's name in errors.
    ///   - configuration: the codec's configuration, which libavcodec calls extradata; may be empty.
    ///   - sampleRate: 0 if the packets declare the rate.
    ///   - channelCount: 0 if the packets declare the number of channels.
    init(
        named name: String, codec: String, configuration: [UInt8], sampleRate: Double = 0, channelCount: Int = 0,
        maximumPacketByteCount: Int
    ) throws(CodecError) {
        let coder = try AVCoder(AVCoder.decoder(named: name), codec: codec)
        let context = coder.context
        context.pointee.sample_rate = Int32(sampleRate)
        if channelCount > 0 { earshot_av_set_channels(context, Int32(channelCount)) }
        if !configuration.isEmpty {
            guard let extradata = av_mallocz(configuration.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else {
                coder.free()
                throw .libraryFailure(codec: codec, call: "av_mallocz", code: 0)
            }
            configuration.withUnsafeBytes { bytes in
                if let from = bytes.baseAddress { extradata.copyMemory(from: from, byteCount: bytes.count) }
            }
            context.pointee.extradata = extradata.assumingMemoryBound(to: UInt8.self)  // freed with the context
            context.pointee.extradata_size = Int32(configuration.count)
        }
        var code = avcodec_open2(context, nil, nil)
        if code >= 0 { code = av_new_packet(coder.packet, Int32(maximumPacketByteCount)) }
        guard code >= 0 else {
            coder.free()
            throw .badConfiguration(codec: codec, detail: "libavcodec refuses it, code \(code)")
        }
        self.maximumPacketByteCount = maximumPacketByteCount
        self.codec = codec
        self.coder = coder
    }

    deinit { coder.free() }

    /// Decodes a packet of any format and passes the result to `body`.
    /// - Parameter body: is called with the samples, one plane per channel, which are valid during the call.
    /// - Returns: nil if the packet carried no audio.
    func decode<Result>(
        _ bytes: UnsafeRawBufferPointer,
        _ body: (Decoded, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>) throws(CodecError) -> Result
    ) throws(CodecError) -> Result? {
        guard let from = bytes.baseAddress, bytes.count > 0 else { throw bad("empty") }
        guard bytes.count <= maximumPacketByteCount else { throw bad("\(bytes.count) bytes long") }
        try fillPacket(from, bytes.count)
        var code = avcodec_send_packet(coder.context, coder.packet)
        coder.packet.pointee.size = Int32(maximumPacketByteCount)
        if code >= 0 { code = avcodec_receive_frame(coder.context, coder.frame) }
        if code == earshot_av_again() { return nil }
        guard code >= 0 else { throw bad("code \(code)") }
        defer { drain() }
        let frame = coder.frame
        guard frame.pointee.format == AV_SAMPLE_FMT_FLTP.rawValue, let planes = frame.pointee.extended_data else {
            throw bad("another sample type than floats")
        }
        let decoded = Decoded(
            sampleRate: Int(frame.pointee.sample_rate), channelCount: Int(earshot_av_frame_channels(frame)),
            frameCount: Int(frame.pointee.nb_samples))
        return try body(decoded, planes)
    }

    /// Decodes a packet that must have this decoder's format.
    /// - Parameter frames: the allowed frame counts.
    /// - Returns: the frames written; 0 if the packet carried no audio.
    func decode(
        _ bytes: UnsafeRawBufferPointer, as format: AudioFormat, frames: ClosedRange<Int>, into channels: Channels,
        offset: Int
    ) throws(CodecError) -> Int {
        try decode(bytes) { (decoded, planes) throws(CodecError) in
            guard decoded.sampleRate == Int(format.sampleRate), decoded.channelCount == format.channelCount,
                frames.contains(decoded.frameCount)
            else { throw bad("another format than the stream's") }
            for c in 0..<min(format.channelCount, channels.count) {
                guard let plane = planes[c] else { continue }
                UnsafeMutableRawPointer(channels[c] + offset).copyMemory(
                    from: plane, byteCount: decoded.frameCount * MemoryLayout<Float>.size)
            }
            return decoded.frameCount
        } ?? 0
    }

    func reset() { avcodec_flush_buffers(coder.context) }

    private func bad(_ detail: String) -> CodecError { .badPacket(codec: codec, detail: detail) }

    /// Copies the bytes to the packet's buffer, with padding behind them, because the library may read beyond their end.
    private func fillPacket(_ from: UnsafeRawPointer, _ count: Int) throws(CodecError) {
        coder.packet.pointee.size = Int32(maximumPacketByteCount)
        let code = av_packet_make_writable(coder.packet)
        guard code >= 0, let data = coder.packet.pointee.data else {
            throw .libraryFailure(codec: codec, call: "av_packet_make_writable", code: Int(code))
        }
        UnsafeMutableRawPointer(data).copyMemory(from: from, byteCount: count)
        UnsafeMutableRawPointer(data + count).initializeMemory(
            as: UInt8.self, repeating: 0, count: Int(AV_INPUT_BUFFER_PADDING_SIZE))
        coder.packet.pointee.size = Int32(count)
    }

    /// Discards the packet's remaining frames. Otherwise the library would refuse the next packet.
    private func drain() { while avcodec_receive_frame(coder.context, coder.frame) >= 0 {} }
}
