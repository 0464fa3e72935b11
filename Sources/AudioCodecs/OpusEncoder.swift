// SPDX-License-Identifier: Apache-2.0

import CEarshotOpus
import EarshotAudioBase

/// Encodes planar audio at 48 kHz as Opus (RFC 6716), one packet per call.
///
/// Frames of 2.5 and 5 ms use the restricted low-delay mode (look-ahead 2.5 ms), which has only the transform coder. Frames of 10
/// and 20 ms use the general audio mode (look-ahead 6.5 ms): at 48 kb/s in mono it reaches PESQ-WB 4.55 on joined speech, where
/// low delay reaches 4.2 and the VoIP mode 4.53, and it encodes songs with the transform coder.
///
/// For one thread at a time, the media thread. It does not allocate after `init`.
public final class OpusEncoder {
    /// The sample rate in hertz, the codec's own.
    public static let sampleRate = 48_000.0
    /// The maximum bytes of a packet with one coded frame (RFC 6716, section 3.4).
    public static let maximumPacketByteCount = 1_276
    /// The frames of the longest packet that is created: 60 ms.
    package static let longestFrameCount = 2_880

    /// The number of channels, 1 or 2.
    public let channelCount: Int
    /// The duration of the audio in each packet, unless ``encode(_:offset:frameCount:into:)`` gets another length.
    public let frameDuration: OpusFrameDuration
    /// The delay of the decoded signal in frames, without the time to collect a packet.
    public let lookahead: Int

    private var expectedLoss = 0
    let encoder: OpaquePointer
    private let scratch: UnsafeMutablePointer<Float>

    /// - Parameters:
    ///   - channelCount: 1 or 2.
    ///   - bitRate: bits per second for all channels, 6,000 to 510,000.
    ///   - complexity: 0 (least processor time) to 10 (best).
    /// - Throws: ``CodecError/unsupportedFormat(codec:detail:)`` for other values.
    public init(
        channelCount: Int, frameDuration: OpusFrameDuration, bitRate: Int, complexity: Int = 10
    ) throws(CodecError) {
        guard (1...2).contains(channelCount) else { throw .opus("\(channelCount) channels; supported: 1 or 2") }
        guard (6_000...510_000).contains(bitRate) else { throw .opus("\(bitRate) b/s; supported: 6000 to 510000") }
        guard (0...10).contains(complexity) else { throw .opus("complexity \(complexity); supported: 0 to 10") }
        let application = Self.isShort(frameDuration) ? OPUS_APPLICATION_RESTRICTED_LOWDELAY : OPUS_APPLICATION_AUDIO
        var code: Int32 = 0
        var lookahead: Int32 = 0
        guard let encoder = opus_encoder_create(48_000, Int32(channelCount), application, &code) else {
            throw .libraryFailure(codec: "Opus", call: "opus_encoder_create", code: Int(code))
        }
        code = earshot_opus_set_bitrate(encoder, Int32(bitRate))
        if code == OPUS_OK { code = earshot_opus_set_complexity(encoder, Int32(complexity)) }
        if code == OPUS_OK { code = earshot_opus_get_lookahead(encoder, &lookahead) }
        guard code == OPUS_OK else {
            opus_encoder_destroy(encoder)
            throw .libraryFailure(codec: "Opus", call: "opus_encoder_ctl", code: Int(code))
        }
        self.encoder = encoder
        self.channelCount = channelCount
        self.frameDuration = frameDuration
        self.lookahead = Int(lookahead)
        scratch = .allocate(capacity: Self.longestFrameCount * channelCount)
        scratch.initialize(repeating: 0, count: Self.longestFrameCount * channelCount)
    }

    deinit {
        opus_encoder_destroy(encoder)
        scratch.deallocate()
    }

    /// Encodes the `frameDuration.frameCount` frames that begin at `offset`.
    /// - Parameters:
    ///   - channels: at least ``channelCount``.
    ///   - packet: the destination. If it is shorter than ``maximumPacketByteCount``, the packet is made to fit.
    /// - Returns: the packet's length in bytes.
    /// - Throws: ``CodecError/libraryFailure(codec:call:code:)`` if `packet` is empty or much too short.
    public func encode(
        _ channels: Channels, offset: Int = 0, into packet: UnsafeMutableRawBufferPointer
    ) throws(CodecError) -> Int {
        try encode(channels, offset: offset, frameCount: frameDuration.frameCount, into: packet)
    }

    /// Encodes a packet of any supported length, instead of ``frameDuration``. The length may change with each packet.
    /// - Parameter frames: 120, 240, 480, 960, 1920 or 2880: 2.5 to 60 ms.
    /// - Throws: the errors of ``encode(_:offset:into:)``, also for an unsupported length.
    public func encode(
        _ channels: Channels, offset: Int, frameCount frames: Int, into packet: UnsafeMutableRawBufferPointer
    ) throws(CodecError) -> Int {
        precondition(channels.count >= channelCount, "fewer channels than the encoder has")
        guard frames > 0, frames <= Self.longestFrameCount else {
            throw .opus("packets of \(frames) frames; supported: 120 to 2880")
        }
        for c in 0..<channelCount {
            let from = channels[c] + offset
            for i in 0..<frames { scratch[i &* channelCount &+ c] = from[i] }
        }
        guard let bytes = packet.baseAddress else {
            throw .libraryFailure(codec: "Opus", call: "opus_encode_float", code: Int(OPUS_BUFFER_TOO_SMALL))
        }
        let count = opus_encode_float(
            encoder, scratch, Int32(frames), bytes.assumingMemoryBound(to: UInt8.self),
            Int32(min(packet.count, Self.maximumPacketByteCount)))
        guard count > 0 else { throw .libraryFailure(codec: "Opus", call: "opus_encode_float", code: Int(count)) }
        return Int(count)
    }

    /// Sets the expected packet loss. Above 0 each packet also carries a coarse copy of the previous one (in-band FEC, RFC 6716,
    /// 2.1.7), which takes bits from its own audio. The encoder does this for frames of 10 and 20 ms that it classifies as
    /// speech.
    /// - Parameter percent: 0 to 100; 0 for no redundancy.
    package func setExpectedLoss(percent: Int) {
        guard percent != expectedLoss else { return }
        expectedLoss = percent
        let loss = Int32(max(0, min(100, percent)))
        _ = earshot_opus_set_loss(encoder, loss)
        _ = earshot_opus_set_fec(encoder, loss > 0 ? 1 : 0)
    }

    /// Sets the bit rate from the next packet on.
    /// - Parameter bitRate: bits per second for all channels, clamped to 6,000…510,000.
    public func setBitRate(_ bitRate: Int) {
        _ = earshot_opus_set_bitrate(encoder, Int32(max(6_000, min(510_000, bitRate))))
    }

    /// Turns prediction across packets off or on from the next packet on. Without it a decoder can start at any packet.
    ///
    /// Independent packets of 2.5 and 5 ms have a constant bit rate: libopus's variable one takes what a long first packet needs
    /// from the short packets after it, which then have 3 bytes each.
    package func setIndependent(_ isIndependent: Bool) {
        _ = earshot_opus_set_prediction_off(encoder, isIndependent ? 1 : 0)
        if isShort { _ = earshot_opus_set_vbr(encoder, isIndependent ? 0 : 1) }
    }

    private var isShort: Bool { Self.isShort(frameDuration) }

    /// Returns true for packets that need libopus's low-delay mode.
    private static func isShort(_ duration: OpusFrameDuration) -> Bool {
        duration.frameCount < OpusFrameDuration.milliseconds10.frameCount
    }

    /// Resets the encoder to its initial state.
    public func reset() { _ = earshot_opus_reset_encoder(encoder) }
}

extension CodecError {
    /// Returns the error for an Opus parameter that is out of range.
    static func opus(_ detail: String) -> CodecError { .unsupportedFormat(codec: "Opus", detail: detail) }
}
