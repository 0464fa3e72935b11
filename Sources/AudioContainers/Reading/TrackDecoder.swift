// SPDX-License-Identifier: Apache-2.0

import CEarshotLibAVFormat
import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioFiles

/// Decodes a track's packets one after another to planar floats, with libavcodec.
///
/// For one thread at a time; allocates in each call.
final class TrackDecoder {
    /// The result of decoding a packet.
    enum Result: Equatable {
        /// The packet's sound can be copied by ``copy(to:frameCount:)``.
        case sound
        /// The packet carried no sound.
        case nothing
        /// The packet is damaged; the code is libavcodec's.
        case failed(Int)
    }

    private let parameters: CodecParameters
    private let codecName: String
    private var coder: AVCoder
    private var bytes: UnsafeMutableRawBufferPointer

    /// - Throws: ``CodecError`` if the library lacks the codec or refuses the stream.
    init(_ parameters: CodecParameters) throws(CodecError) {
        self.parameters = parameters
        codecName = String(cString: avcodec_get_name(parameters.pointer.pointee.codec_id))
        coder = try Self.open(parameters, codecName)
        bytes = .allocate(byteCount: 8_192 + Int(AV_INPUT_BUFFER_PADDING_SIZE), alignment: 64)
    }

    deinit {
        coder.free()
        bytes.deallocate()
    }

    private static func open(_ parameters: CodecParameters, _ name: String) throws(CodecError) -> AVCoder {
        let coder = try AVCoder(AVCoder.decoder(named: name), codec: name)
        // Only the reader trims the sound; libavcodec must not.
        coder.context.pointee.flags2 |= CInt(AV_CODEC_FLAG2_SKIP_MANUAL)
        coder.context.pointee.max_samples = 1 << 16
        var code = avcodec_parameters_to_context(coder.context, parameters.pointer)
        if code >= 0 { code = avcodec_open2(coder.context, nil, nil) }
        guard code >= 0 else {
            coder.free()
            throw .badConfiguration(codec: name, detail: "libavcodec refuses it, code \(code)")
        }
        return coder
    }

    /// Replaces the decoder by a new one, to reset also state that no flush resets, such as an AAC decoder's noise generator.
    func renew() throws(CodecError) {
        let fresh = try Self.open(parameters, codecName)
        coder.free()
        coder = fresh
    }

    /// Resets the decoder.
    func flush() { avcodec_flush_buffers(coder.context) }

    /// Returns a buffer for a packet of `byteCount` bytes, to be filled before ``decode(byteCount:)``.
    func room(for byteCount: Int) -> UnsafeMutableRawBufferPointer {
        let padding = Int(AV_INPUT_BUFFER_PADDING_SIZE)
        if bytes.count < byteCount + padding {
            bytes.deallocate()
            bytes = .allocate(byteCount: byteCount * 2 + padding, alignment: 64)
        }
        return UnsafeMutableRawBufferPointer(rebasing: bytes[0..<byteCount])
    }

    /// Decodes the packet in the buffer of ``room(for:)``.
    func decode(byteCount: Int) -> Result {
        UnsafeMutableRawBufferPointer(rebasing: bytes[byteCount..<byteCount + Int(AV_INPUT_BUFFER_PADDING_SIZE)])
            .initializeMemory(as: UInt8.self, repeating: 0)
        guard byteCount > 0 else { return .nothing }  // an empty packet would mean the end
        coder.packet.pointee.data = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        coder.packet.pointee.size = CInt(byteCount)
        var code = avcodec_send_packet(coder.context, coder.packet)
        coder.packet.pointee.data = nil
        coder.packet.pointee.size = 0
        if code >= 0 { code = avcodec_receive_frame(coder.context, coder.frame) }
        if code == earshot_av_again() { return .nothing }
        return code >= 0 ? .sound : .failed(Int(code))
    }

    /// The maximum number of frames in a packet; Windows Media has several of the decoder's frames in one.
    static let maximumPacketFrames = 1 << 17

    /// Decodes a whole packet, or the frames left in the decoder at the end if `bytes` is nil.
    /// - Parameter body: is called for each part of the packet's sound, with the part's first frame, while the part can be copied.
    /// - Returns: the number of frames; nil if the packet is damaged or too long.
    func decodeAll(_ bytes: UnsafeRawBufferPointer?, _ body: (Int) -> Void = { _ in }) -> Int? {
        let result: Result
        if let bytes {
            guard bytes.count <= PacketTable.maximumPacketByteCount else { return nil }
            room(for: bytes.count).copyMemory(from: bytes)
            result = decode(byteCount: bytes.count)
        } else {
            result = end()
        }
        switch result {
        case .failed: return nil
        case .nothing: return 0
        case .sound: break
        }
        var count = 0
        repeat {
            guard count + frameCount <= Self.maximumPacketFrames else {
                drain()
                return nil
            }
            body(count)
            count += frameCount
        } while nextFrame()
        return count
    }

    /// Discards the packet's remaining frames. Otherwise the library would refuse the next packet. Afterwards the packet's sound
    /// cannot be copied.
    func drain() { while avcodec_receive_frame(coder.context, coder.frame) >= 0 {} }

    /// The frames that the codec added before the last packet's sound; 0 for most codecs.
    var leadingFrames: Int {
        guard let trim = av_frame_get_side_data(coder.frame, AV_FRAME_DATA_SKIP_SAMPLES), trim.pointee.size >= 4 else {
            return 0
        }
        return Int(UnsafeRawPointer(trim.pointee.data).loadUnaligned(as: UInt32.self).littleEndian)
    }

    /// Ends the stream. Returns ``Result/sound`` if the decoder still held frames. Then only ``flush()`` or ``renew()`` may follow.
    private func end() -> Result {
        var code = avcodec_send_packet(coder.context, nil)
        if code >= 0 { code = avcodec_receive_frame(coder.context, coder.frame) }
        return code >= 0 ? .sound : .nothing
    }

    /// Continues with the packet's next frames. Returns false if it has no more.
    private func nextFrame() -> Bool { avcodec_receive_frame(coder.context, coder.frame) >= 0 }

    /// True if the last packet was AAC-LC of 1,024 frames; such packets depend only on their neighbours.
    var isPlainAAC: Bool {
        coder.context.pointee.codec_id == AV_CODEC_ID_AAC && coder.context.pointee.profile == FF_PROFILE_AAC_LOW
            && frameCount == AACEncoder.blockFrameCount
    }

    /// The codec's usual name, and its bits per sample if it has a bit depth.
    var codecDescription: (codec: String, bitDepth: Int?) {
        let others = [
            AV_CODEC_ID_ALAC.rawValue: "Apple Lossless", AV_CODEC_ID_FLAC.rawValue: "FLAC",
            AV_CODEC_ID_MP3.rawValue: "MP3", AV_CODEC_ID_OPUS.rawValue: "Opus", AV_CODEC_ID_AC3.rawValue: "AC-3",
            AV_CODEC_ID_MP2.rawValue: "MP2", AV_CODEC_ID_EAC3.rawValue: "E-AC-3", AV_CODEC_ID_VORBIS.rawValue: "Vorbis",
            AV_CODEC_ID_WMAV1.rawValue: "WMA", AV_CODEC_ID_WMAV2.rawValue: "WMA",
            AV_CODEC_ID_WMAPRO.rawValue: "WMA Pro", AV_CODEC_ID_WMALOSSLESS.rawValue: "WMA Lossless",
            AV_CODEC_ID_PCM_S16LE.rawValue: "16-bit", AV_CODEC_ID_PCM_S24LE.rawValue: "24-bit",
            AV_CODEC_ID_PCM_F32LE.rawValue: "32-bit float",
        ]
        if let name = others[coder.context.pointee.codec_id.rawValue] {
            let bits = Int(coder.context.pointee.bits_per_raw_sample)
            let isLossless = [AV_CODEC_ID_ALAC, AV_CODEC_ID_FLAC].contains(coder.context.pointee.codec_id)
            return isLossless && bits > 0 ? ("\(name), \(bits)-bit", bits) : (name, nil)
        }
        return switch coder.context.pointee.profile {
        case FF_PROFILE_AAC_LOW where frameCount > AACEncoder.blockFrameCount: ("HE-AAC", nil)
        case FF_PROFILE_AAC_LOW: ("AAC-LC", nil)
        case FF_PROFILE_AAC_HE: ("HE-AAC", nil)
        case FF_PROFILE_AAC_HE_V2: ("HE-AAC v2", nil)
        default: ("AAC", nil)
        }
    }

    /// The sample rate of the last packet's sound, in hertz.
    var sampleRate: Int { Int(coder.frame.pointee.sample_rate) }
    /// The channel count of the last packet's sound.
    var channelCount: Int { Int(earshot_av_frame_channels(coder.frame)) }
    /// The number of frames of the last packet's sound.
    var frameCount: Int { Int(coder.frame.pointee.nb_samples) }

    /// Copies the last packet's sound, cut or extended with silence to `frameCount` frames.
    /// - Parameter offset: the first frame to fill.
    /// - Returns: false if libavcodec's sample type is not supported.
    func copy(to channels: Channels, offset: Int = 0, frameCount: Int) -> Bool {
        let count = min(frameCount, self.frameCount)
        let kind = AVSampleFormat(rawValue: coder.frame.pointee.format)
        let planar = av_sample_fmt_is_planar(kind) != 0
        guard let planes = coder.frame.pointee.extended_data else { return false }
        // The library's channel order is that of WAV and FLAC, except that Apple Lossless has the back centre last in this
        // layout.
        let isCenterLast = earshot_av_frame_is_6_1_back(coder.frame) != 0
        for c in 0..<channels.count {
            let source = !isCenterLast || c < 4 ? c : c == 4 ? 6 : c - 1
            guard let plane = planes[planar ? source : 0] else { return false }
            let to = channels[c] + offset
            let (first, step) = planar ? (0, 1) : (source, channels.count)
            let from = UnsafeRawPointer(plane)
            switch av_get_packed_sample_fmt(kind) {
            case AV_SAMPLE_FMT_FLT:
                let from = from.assumingMemoryBound(to: Float.self)
                for i in 0..<count { to[i] = from[first + i * step] }
            case AV_SAMPLE_FMT_DBL:
                let from = from.assumingMemoryBound(to: Double.self)
                for i in 0..<count { to[i] = Float(from[first + i * step]) }
            case AV_SAMPLE_FMT_S16:
                let from = from.assumingMemoryBound(to: Int16.self)
                for i in 0..<count { to[i] = Float(from[first + i * step]) * 0x1p-15 }
            case AV_SAMPLE_FMT_S32:
                let from = from.assumingMemoryBound(to: Int32.self)
                for i in 0..<count { to[i] = Float(from[first + i * step]) * 0x1p-31 }
            default: return false
            }
            if count < frameCount { clearSamples(to + count, frameCount - count) }
        }
        return true
    }
}
