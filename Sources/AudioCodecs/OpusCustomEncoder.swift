// SPDX-License-Identifier: Apache-2.0

import CEarshotOpus
import EarshotAudioBase

/// Encodes planar audio in frames of 64 with Opus Custom (RFC 6716, section 6.2): Opus's transform coder with a frame as short as
/// a sound card's block. All coded frames have the same number of bytes.
///
/// For one thread at a time, the media thread. It does not allocate after `init`.
package final class OpusCustomEncoder {
    /// The frames of sound that each call encodes.
    package static let frameCount = 64
    /// The delay of the decoded signal in frames, without the time to collect 64 frames. It is the transform's overlap, which has
    /// the same length.
    package static let lookahead = 64
    /// The supported sample rates in hertz.
    package static let sampleRates = [44_100.0, 48_000.0]
    /// The supported bits per second for all channels, met to within one byte per coded frame.
    package static let bitRates = 48_000...510_000
    /// The allowed sizes of a coded frame in bytes.
    package static let frameByteCounts = 8...1_274

    /// The sample rate in hertz, one of ``sampleRates``.
    package let sampleRate: Double
    /// The number of channels, 1 or 2.
    package let channelCount: Int
    /// The size of each coded frame in bytes.
    package let frameByteCount: Int

    /// The percentage of coded frames that the encoder expects to be lost. With a high value the encoder relies less on earlier
    /// frames; otherwise each loss of so short a frame would damage many others. PESQ-WB is 3.3 instead of 1.7 with 2 % lost, and
    /// 4.4 instead of 4.5 without losses (160 kb/s, mono).
    private static let expectedLoss: Int32 = 35

    private let mode: OpusCustomMode
    private let encoder: OpaquePointer
    private let scratch: UnsafeMutablePointer<Float>
    private let coded: UnsafeMutablePointer<UInt8>

    /// - Parameters:
    ///   - sampleRate: 44,100 or 48,000 hertz.
    ///   - channelCount: 1 or 2.
    ///   - bitRate: a value in ``bitRates``.
    ///   - complexity: 0 (least processor time) to 10 (best).
    /// - Throws: ``CodecError/unsupportedFormat(codec:detail:)`` for other values.
    package init(sampleRate: Double, channelCount: Int, bitRate: Int, complexity: Int = 10) throws(CodecError) {
        let mode = try OpusCustomMode(sampleRate: sampleRate, channelCount: channelCount)
        guard Self.bitRates.contains(bitRate) else {
            throw .opusCustom("\(bitRate) b/s; supported: \(Self.bitRates)")
        }
        guard (0...10).contains(complexity) else { throw .opusCustom("complexity \(complexity); supported: 0 to 10") }
        var code: Int32 = 0
        guard let encoder = opus_custom_encoder_create(mode.pointer, Int32(channelCount), &code) else {
            throw .libraryFailure(codec: "Opus Custom", call: "opus_custom_encoder_create", code: Int(code))
        }
        code = earshot_opus_custom_set_complexity(encoder, Int32(complexity))
        if code == OPUS_OK { code = earshot_opus_custom_set_loss(encoder, Self.expectedLoss) }
        guard code == OPUS_OK else {
            opus_custom_encoder_destroy(encoder)
            throw .libraryFailure(codec: "Opus Custom", call: "opus_custom_encoder_ctl", code: Int(code))
        }
        let bytes = Int((Double(bitRate * Self.frameCount) / sampleRate / 8).rounded())
        frameByteCount = max(Self.frameByteCounts.lowerBound, bytes)
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        self.mode = mode
        self.encoder = encoder
        scratch = .allocate(capacity: Self.frameCount * channelCount)
        scratch.initialize(repeating: 0, count: Self.frameCount * channelCount)
        coded = .allocate(capacity: frameByteCount + 1)
        coded.initialize(repeating: 0, count: frameByteCount + 1)
    }

    deinit {
        opus_custom_encoder_destroy(encoder)
        scratch.deallocate()
        coded.deallocate()
    }

    /// Encodes the 64 frames that begin at `offset`.
    /// - Parameters:
    ///   - channels: at least ``channelCount``.
    ///   - frame: the destination, with room for ``frameByteCount``.
    /// - Returns: ``frameByteCount``.
    /// - Throws: ``CodecError/libraryFailure(codec:call:code:)`` if `frame` is too short.
    package func encode(
        _ channels: Channels, offset: Int = 0, into frame: UnsafeMutableRawBufferPointer
    ) throws(CodecError) -> Int {
        precondition(channels.count >= channelCount, "fewer channels than the encoder has")
        guard let bytes = frame.baseAddress, frame.count >= frameByteCount else {
            throw .libraryFailure(
                codec: "Opus Custom", call: "opus_custom_encode_float", code: Int(OPUS_BUFFER_TOO_SMALL))
        }
        for c in 0..<channelCount {
            let from = channels[c] + offset
            for i in 0..<Self.frameCount { scratch[i &* channelCount &+ c] = from[i] }
        }
        let count = opus_custom_encode_float(
            encoder, scratch, Int32(Self.frameCount), coded, Int32(frameByteCount + 1))
        guard count == frameByteCount + 1 else {
            throw .libraryFailure(codec: "Opus Custom", call: "opus_custom_encode_float", code: Int(count))
        }
        // Omits the first byte, which the decoder knows: it marks a whole frame and gives the number of channels.
        bytes.copyMemory(from: coded + 1, byteCount: frameByteCount)
        return frameByteCount
    }

    /// Resets the encoder to its initial state.
    package func reset() { _ = earshot_opus_custom_reset_encoder(encoder) }
}
