// SPDX-License-Identifier: Apache-2.0

/// RTP payloads of Opus Custom, which has no registered one: a byte that counts the frames, and the frames, all of one size.
///
/// A frame is 64 frames of sound as libopus' `opus_custom_encode` gives them, without its first byte, which says what the
/// description says. A packet carries what a device's block completes: one frame where that has 64, two if it has 128.
@frozen
package struct OpusCustomPayload: Hashable, Sendable, BitwiseCopyable {
    /// 1 to ``maximumFrameCount``.
    package let frameCount: Int
    /// Bytes of each frame; one of ``frameSizes``.
    package let frameSize: Int

    /// RTP ticks, each a frame of sound, that one frame lasts.
    package static let ticksPerFrame = 64
    /// Frames in a packet at most: 4,096 of sound.
    package static let maximumFrameCount = 64
    /// Bytes that one frame may have.
    package static let frameSizes = 8...1_199
    /// Bytes before the frames.
    package static let headerSize = 1

    /// Length of the packet in ticks of the format's clock.
    package var ticks: Int { Self.ticksPerFrame * frameCount }

    /// Reads a payload's head and compares it with the length. Does not allocate.
    package init(parsing payload: RawSpan) throws(OpusCustomPayloadError) {
        guard payload.byteCount > Self.headerSize else { throw .tooShort(payload.byteCount) }
        frameCount = Int(payload.byte(0))
        guard (1...Self.maximumFrameCount).contains(frameCount) else { throw .badFrameCount(frameCount) }
        let size = payload.byteCount - Self.headerSize
        guard size % frameCount == 0, Self.frameSizes.contains(size / frameCount) else {
            throw .badFrameSizes(size: size, frameCount: frameCount)
        }
        frameSize = size / frameCount
    }

    /// Splits frames into as few packets of at most 1,200 bytes as can hold them, as even as possible.
    /// - Parameters:
    ///   - frameCount: frames of 64; 0 gives no packets.
    ///   - frameSize: bytes of each; one of ``frameSizes``.
    /// - Returns: the frames that each packet takes, in order.
    package static func split(frameCount: Int, frameSize: Int) -> PCMPayload.Split {
        precondition(frameCount >= 0 && frameSizes.contains(frameSize))
        let most = min(maximumFrameCount, (PCMPayload.maximumSize - headerSize) / frameSize)
        return PCMPayload.Split(frameCount: frameCount, endIndex: (frameCount + most - 1) / most)
    }
}

/// The reason that a payload is not Opus Custom.
package enum OpusCustomPayloadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No frames; the value is the length in bytes.
    case tooShort(Int)
    /// A count of frames that no packet has.
    case badFrameCount(Int)
    /// Bytes that are not so many frames of one size, or of a size that no frame has.
    case badFrameSizes(size: Int, frameCount: Int)

    /// One line for a log.
    package var description: String {
        switch self {
        case .tooShort(let size): "an Opus Custom packet of \(size) bytes; the sender's encoder is at fault"
        case .badFrameCount(let count):
            "an Opus Custom packet of \(count) frames; 1 to \(OpusCustomPayload.maximumFrameCount) are allowed"
        case .badFrameSizes(let size, let count):
            "\(size) bytes are no \(count) frames of Opus Custom of one size; it was cut, or the sender is broken"
        }
    }
}

extension MediaFormat {
    /// Opus Custom in frames of 64; see ``OpusCustomPayload``.
    /// - Parameters:
    ///   - sampleRate: 44,100 or 48,000 hertz.
    ///   - bitRate: bits a second that the peer should not exceed.
    public static func opusCustom(
        payloadType: UInt8 = 99, sampleRate: Int, channelCount: Int = 1, bitRate: Int? = nil
    ) -> MediaFormat {
        MediaFormat(
            payloadType: payloadType, encodingName: "opus-custom", clockRate: sampleRate, channelCount: channelCount,
            parameters: [Parameter("frame", String(OpusCustomPayload.ticksPerFrame))]
                + (bitRate.map { [Parameter("maxaveragebitrate", String($0))] } ?? []))
    }
}

extension OpusCustomPayload: FormattedPayload {
    static func isNamed(by format: MediaFormat) -> Bool {
        format.encodingName.lowercased() == "opus-custom" && [44_100, 48_000].contains(format.clockRate)
            && (1...2).contains(format.channelCount) && format.parameter("frame") == String(ticksPerFrame)
    }
}
