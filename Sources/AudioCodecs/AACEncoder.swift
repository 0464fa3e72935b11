// SPDX-License-Identifier: Apache-2.0

import CEarshotLibAV
import EarshotAudioBase

/// Encodes planar audio as AAC-LC with libavcodec's own encoder, in blocks of 1,024 frames.
///
/// A packet comes one block late, since the encoder looks ahead. A decoder's output is ``primingFrames`` late, since blocks
/// overlap. With the time to collect a block, the delay from end to end is ``totalDelayFrames``.
///
/// For one thread at a time, the media thread: libavcodec may allocate in each call.
public final class AACEncoder {
    /// The frames in a block; a packet decodes to as many.
    public static let blockFrameCount = 1_024
    /// The delay from the first sample given to the encoder until a decoder puts it out: collecting a block, the encoder's
    /// look-ahead and the overlap take a block each. A test measures it.
    package static let totalDelayFrames = 3 * blockFrameCount
    /// Sample rates of calls, in hertz.
    public static let sampleRates = [32_000.0, 44_100, 48_000]

    /// Sample rates of files, in hertz.
    package static let allSampleRates = [
        8_000.0, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 64_000, 88_200, 96_000,
    ]

    /// The highest frequency to be coded.
    public enum Bandwidth: Sendable {
        /// 7/32 Hz for each bit per second and channel, at most 20 kHz and 45 % of the sample rate. Best for speech.
        case speech
        /// The library's choice, best for music: at 128 kb/s in stereo, ViSQOL rates songs 0.25 to 0.5 higher than with
        /// ``speech``.
        case music
    }

    /// The search for each band's precision (libavcodec's `aac_coder`).
    package enum Search: String, Sendable {
        /// Twice in turn, for the rate and the distortion: best for songs.
        case twoLoop = "twoloop"
        /// Once: a third of the processor time. ViSQOL rates a voice at 64 kb/s 0.1 higher than with ``twoLoop``, a song at 128
        /// kb/s 0.03 lower.
        case fast
    }

    /// The sample rate in hertz, one of ``allSampleRates``.
    public let sampleRate: Double
    /// The number of channels, 1 or 2.
    public let channelCount: Int
    /// The decoder's configuration: two bytes for AAC-LC, followed by the library's extension.
    public let audioSpecificConfig: [UInt8]
    /// The frames of the decoded signal before the first encoded frame.
    public let primingFrames: Int

    private let coder: AVCoder
    private var position: Int64 = 0
    private var isFinished = false

    /// - Parameters:
    ///   - sampleRate: one of ``allSampleRates``.
    ///   - channelCount: 1 or 2.
    ///   - bitRate: bits per second for all channels: at least 16,000 per channel, at most 6 bits per frame and channel (ISO/IEC
    ///     14496-3).
    ///   - bandwidth: the highest frequency to be coded.
    /// - Throws: ``CodecError/unsupportedFormat(codec:detail:)`` for values outside these ranges,
    ///   ``CodecError/codecMissing(codec:)`` if libavcodec was built without AAC.
    public convenience init(
        sampleRate: Double, channelCount: Int, bitRate: Int, bandwidth: Bandwidth = .speech
    ) throws(CodecError) {
        try self.init(
            sampleRate: sampleRate, channelCount: channelCount, bitRate: bitRate, bandwidth: bandwidth, search: .twoLoop
        )
    }

    /// Creates an encoder as ``init(sampleRate:channelCount:bitRate:bandwidth:)`` does, with another search.
    package init(
        sampleRate: Double, channelCount: Int, bitRate: Int, bandwidth: Bandwidth, search: Search
    ) throws(CodecError) {
        guard Self.allSampleRates.contains(sampleRate) else {
            throw .aac("\(sampleRate) Hz; supported: 8, 11.025, 12 kHz, and 2, 4 or 8 times as much")
        }
        guard (1...2).contains(channelCount) else { throw .aac("\(channelCount) channels; supported: 1 or 2") }
        let bitRates = 16_000 * channelCount...Int(6 * sampleRate) * channelCount
        guard bitRates.contains(bitRate) else {
            throw .aac("\(bitRate) b/s; supported: \(bitRates.lowerBound) to \(bitRates.upperBound)")
        }
        let coder = try AVCoder(AVCoder.encoder(named: "aac"), codec: "AAC")
        let (context, frame) = (coder.context, coder.frame)
        context.pointee.sample_rate = Int32(sampleRate)
        context.pointee.sample_fmt = AV_SAMPLE_FMT_FLTP
        context.pointee.bit_rate = Int64(bitRate)
        if bandwidth == .speech {
            context.pointee.cutoff = Int32(Self.bandwidth(sampleRate: sampleRate, bitRate: bitRate / channelCount))
        }
        context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
        earshot_av_set_channels(context, Int32(channelCount))
        // The first is libavcodec's default.
        if search != .twoLoop { av_opt_set(context.pointee.priv_data, "aac_coder", search.rawValue, 0) }
        var code = avcodec_open2(context, nil, nil)
        if code >= 0 {
            frame.pointee.nb_samples = Int32(Self.blockFrameCount)
            frame.pointee.format = AV_SAMPLE_FMT_FLTP.rawValue
            frame.pointee.sample_rate = Int32(sampleRate)
            earshot_av_frame_set_channels(frame, Int32(channelCount))
            code = av_frame_get_buffer(frame, 0)
        }
        guard code >= 0, Int(context.pointee.frame_size) == Self.blockFrameCount,
            let extradata = context.pointee.extradata
        else {
            coder.free()
            throw .libraryFailure(codec: "AAC", call: "avcodec_open2", code: Int(code))
        }
        self.coder = coder
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        audioSpecificConfig = Array(
            UnsafeBufferPointer(start: extradata, count: Int(context.pointee.extradata_size)))
        primingFrames = Int(context.pointee.initial_padding)
    }

    deinit { coder.free() }

    /// Returns the highest frequency to be coded, in hertz. The library's choice spreads 64 kb/s mono up to 20 kHz and reaches
    /// PESQ-WB 4.34 (worst clip 3.83); 14 kHz reaches 4.42 (4.19). With a higher limit speech gets worse, with a lower one songs
    /// get dull.
    static func bandwidth(sampleRate: Double, bitRate: Int) -> Int {
        min(bitRate * 7 / 32, 20_000, Int(sampleRate * 0.45))
    }

    /// Encodes the 1,024 frames that begin at `offset`. NaN becomes 0; values are clamped to ±8.
    /// - Parameter channels: at least ``channelCount``.
    /// - Returns: a packet, valid until the next call; nil for the first block.
    /// - Throws: ``CodecError/encoderFinished(codec:)`` after ``flush()``; ``CodecError/libraryFailure(codec:call:code:)``.
    public func encode(_ channels: Channels, offset: Int = 0) throws(CodecError) -> UnsafeRawBufferPointer? {
        precondition(channels.count >= channelCount, "fewer channels than the encoder has")
        guard !isFinished else { throw .encoderFinished(codec: "AAC") }
        let frame = coder.frame
        var code = av_frame_make_writable(frame)
        guard code >= 0, let planes = frame.pointee.extended_data else {
            throw .libraryFailure(codec: "AAC", call: "av_frame_make_writable", code: Int(code))
        }
        for c in 0..<channelCount {
            guard let plane = planes[c] else { continue }
            let from = channels[c] + offset
            let to = UnsafeMutableRawPointer(plane).assumingMemoryBound(to: Float.self)
            for i in 0..<Self.blockFrameCount {  // after a NaN the library would refuse later blocks too
                let x = from[i]
                to[i] = x == x ? max(-8, min(8, x)) : 0
            }
        }
        frame.pointee.pts = position
        position += Int64(Self.blockFrameCount)
        code = avcodec_send_frame(coder.context, frame)
        guard code >= 0 else { throw .libraryFailure(codec: "AAC", call: "avcodec_send_frame", code: Int(code)) }
        return try receive()
    }

    /// Returns the packets that the encoder still holds, one per call. After the first call nothing more can be encoded.
    /// - Returns: a packet, valid until the next call; nil after the last one.
    public func flush() throws(CodecError) -> UnsafeRawBufferPointer? {
        if !isFinished {
            isFinished = true
            let code = avcodec_send_frame(coder.context, nil)
            guard code >= 0 else { throw .libraryFailure(codec: "AAC", call: "avcodec_send_frame", code: Int(code)) }
        }
        return try receive()
    }

    private func receive() throws(CodecError) -> UnsafeRawBufferPointer? {
        let code = avcodec_receive_packet(coder.context, coder.packet)  // also releases the previous packet
        if code == earshot_av_again() || code == earshot_av_eof() { return nil }
        guard code >= 0, let data = coder.packet.pointee.data else {
            throw .libraryFailure(codec: "AAC", call: "avcodec_receive_packet", code: Int(code))
        }
        return UnsafeRawBufferPointer(start: data, count: Int(coder.packet.pointee.size))
    }
}

extension CodecError {
    /// Returns the error for an AAC parameter that is out of range.
    static func aac(_ detail: String) -> CodecError { .unsupportedFormat(codec: "AAC", detail: detail) }
}
