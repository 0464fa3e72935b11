// SPDX-License-Identifier: Apache-2.0

import CEarshotLAME
import EarshotAudioBase

/// The reason that MP3 could not be encoded.
public enum MP3Error: Error, Hashable, Sendable, CustomStringConvertible {
    /// MP3 does not have this sample rate, channel count or bit rate; `detail` says what it has.
    case unsupportedFormat(detail: String)
    /// Frames were passed after ``MP3Encoder/flush()``.
    case finished
    /// LAME failed for an unknown reason; `code` is LAME's.
    case libraryFailure(call: String, code: Int)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .unsupportedFormat(let detail): "MP3 cannot do this format: \(detail)"
        case .finished: "the MP3 encoder was flushed and takes nothing more"
        case .libraryFailure(let call, let code): "LAME: \(call) failed with code \(code)"
        }
    }
}

/// Encodes planar audio as an MP3 stream by LAME, in mono or joint stereo.
///
/// With `hasHeader` the stream begins with a placeholder frame. After encoding, ``header()`` returns its content (the Xing table
/// for seeking, and the frames to skip at both ends), so that decoders return exactly the frames encoded. A stream without this
/// content plays too, with a twentieth of a second of silence at its ends.
///
/// For one thread at a time; never a render thread.
public final class MP3Encoder {
    /// The bit rate of an MP3 stream.
    public enum BitRate: Hashable, Sendable {
        /// A constant rate in kb/s: 32 to 320 at 32 to 48 kHz, 8 to 160 at 16 to 24 kHz, 8 to 64 below 16 kHz, in the steps of
        /// MPEG audio.
        case constant(Int)
        /// A variable rate of this quality: 0 (the best, V0, about 245 kb/s) to 9 (about 65 kb/s).
        case variable(Int)
    }
    /// The sample rates of MP3 in hertz.
    public static let sampleRates = [8_000.0, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000]
    /// The maximum number of frames in one call of ``encode(_:frameCount:offset:)``.
    package static let maximumFrameCount = 4_096

    /// The sample rate in hertz, one of ``sampleRates``.
    public let sampleRate: Double
    /// The channel count, 1 or 2.
    public let channelCount: Int

    private let lame: lame_t
    private let input: AudioBuffer
    private let output: UnsafeMutableRawBufferPointer
    private var isFinished = false

    /// - Parameters:
    ///   - sampleRate: one of ``sampleRates``.
    ///   - channelCount: 1 or 2.
    ///   - hasHeader: true to begin with a frame for ``header()``; false for an output that is not seekable.
    /// - Throws: ``MP3Error/unsupportedFormat(detail:)``.
    public init(
        sampleRate: Double, channelCount: Int, bitRate: BitRate = .variable(2), hasHeader: Bool = true
    ) throws(MP3Error) {
        guard Self.sampleRates.contains(sampleRate) else {
            throw .unsupportedFormat(
                detail: "\(sampleRate) Hz; supported: 8, 11.025, 12 kHz, and twice or four times as much")
        }
        guard (1...2).contains(channelCount) else {
            throw .unsupportedFormat(detail: "\(channelCount) channels; supported: 1 or 2")
        }
        guard let lame = lame_init() else { throw .libraryFailure(call: "lame_init", code: 0) }
        do {
            lame_set_bWriteVbrTag(lame, hasHeader ? 1 : 0)
            try Self.configure(lame, sampleRate, channelCount, bitRate)
        } catch {
            lame_close(lame)
            throw error
        }
        self.lame = lame
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        input = AudioBuffer(channelCount: 2, frameCapacity: Self.maximumFrameCount)
        // LAME documents the maximum output of a call: 1.25 bytes a frame and 7,200.
        output = .allocate(byteCount: Self.maximumFrameCount * 5 / 4 + 7_200, alignment: 16)
    }

    deinit {
        lame_close(lame)
        output.deallocate()
    }

    private static func configure(
        _ lame: lame_t, _ sampleRate: Double, _ channelCount: Int, _ bitRate: BitRate
    ) throws(MP3Error) {
        lame_set_errorf(lame, nil)  // by default LAME writes to standard error
        lame_set_msgf(lame, nil)
        lame_set_debugf(lame, nil)
        lame_set_in_samplerate(lame, CInt(sampleRate))
        lame_set_out_samplerate(lame, CInt(sampleRate))
        lame_set_num_channels(lame, CInt(channelCount))
        lame_set_mode(lame, channelCount == 1 ? MONO : JOINT_STEREO)
        lame_set_write_id3tag_automatic(lame, 0)
        switch bitRate {
        case .constant(let kilobits):
            let steps = steps(sampleRate)
            guard steps.contains(kilobits) else {
                let list = steps.map(String.init).joined(separator: ", ")
                throw .unsupportedFormat(detail: "\(kilobits) kb/s at \(sampleRate) Hz; supported: \(list)")
            }
            lame_set_VBR(lame, vbr_off)
            lame_set_brate(lame, CInt(kilobits))
        case .variable(let quality):
            guard (0...9).contains(quality) else {
                throw .unsupportedFormat(detail: "V\(quality); supported: V0 to V9")
            }
            lame_set_VBR(lame, vbr_mtrh)
            lame_set_VBR_q(lame, CInt(quality))
        }
        let code = lame_init_params(lame)
        guard code >= 0, lame_get_out_samplerate(lame) == CInt(sampleRate) else {
            throw .libraryFailure(call: "lame_init_params", code: Int(code))
        }
    }

    /// Returns the bit rates in kb/s at a sample rate (ISO/IEC 11172-3 and 13818-3; below 16 kHz LAME's own limit).
    private static func steps(_ sampleRate: Double) -> [Int] {
        if sampleRate >= 32_000 { return [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320] }
        let steps = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
        return sampleRate >= 16_000 ? steps : Array(steps.prefix { $0 <= 64 })
    }

    /// Encodes frames. NaN becomes 0, and samples are clamped to ±8.
    /// - Parameters:
    ///   - channels: at least ``channelCount`` channels.
    ///   - frameCount: at most ``maximumFrameCount``.
    /// - Returns: the next bytes of the stream, possibly none, valid until the next call.
    public func encode(
        _ channels: Channels, frameCount: Int, offset: Int = 0
    ) throws(MP3Error) -> UnsafeRawBufferPointer {
        precondition(channels.count >= channelCount && (0...Self.maximumFrameCount).contains(frameCount))
        guard !isFinished else { throw .finished }
        guard frameCount > 0 else { return UnsafeRawBufferPointer(rebasing: output[0..<0]) }
        for c in 0..<channelCount {
            let from = channels[c] + offset
            let to = input.channels[c]
            for i in 0..<frameCount {
                let x = from[i]
                to[i] = x == x ? max(-8, min(8, x)) : 0
            }
        }
        return try bytes(
            "lame_encode_buffer_ieee_float",
            lame_encode_buffer_ieee_float(
                lame, input.channels[0], input.channels[channelCount - 1], CInt(frameCount),
                output.baseAddress?.assumingMemoryBound(to: UInt8.self), CInt(output.count)))
    }

    /// Ends the stream.
    /// - Returns: the stream's last bytes, valid until the next call; none in a second call.
    public func flush() throws(MP3Error) -> UnsafeRawBufferPointer {
        guard !isFinished else { return UnsafeRawBufferPointer(rebasing: output[0..<0]) }
        isFinished = true
        return try bytes(
            "lame_encode_flush",
            lame_encode_flush(lame, output.baseAddress?.assumingMemoryBound(to: UInt8.self), CInt(output.count)))
    }

    /// Returns the content of the first frame: for the whole stream after ``flush()``, before that for the stream so far.
    /// - Returns: bytes valid until the next call; empty if nothing was encoded.
    package func header() -> UnsafeRawBufferPointer {
        let count = lame_get_lametag_frame(
            lame, output.baseAddress?.assumingMemoryBound(to: UInt8.self), output.count)
        return UnsafeRawBufferPointer(rebasing: output[0..<min(count, output.count)])
    }

    private func bytes(_ call: String, _ count: CInt) throws(MP3Error) -> UnsafeRawBufferPointer {
        guard count >= 0 else { throw .libraryFailure(call: call, code: Int(count)) }
        return UnsafeRawBufferPointer(rebasing: output[0..<Int(count)])
    }
}
