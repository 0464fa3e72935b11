// SPDX-License-Identifier: Apache-2.0

/// Earshot's own RTP payload of Opus Custom, for which none is registered: a byte with the number of frames, and the frames, all
/// of one size.
///
/// A frame has 64 samples, as encoded by libopus's `opus_custom_encode`, without the encoder's first byte, which repeats the
/// session description. A packet has the frames that fill a device's block: one frame for 64 samples, two for 128.
@frozen
package struct OpusCustomPayload: Hashable, Sendable, BitwiseCopyable {
    /// The number of frames, 1 to ``maximumFrameCount``.
    package let frameCount: Int
    /// The bytes of each frame; one of ``frameSizes``.
    package let frameSize: Int

    /// The duration of a frame in RTP ticks, which are samples.
    package static let ticksPerFrame = 64
    /// The maximum frames in a packet: 4,096 samples.
    package static let maximumFrameCount = 64
    /// The allowed sizes of a frame in bytes.
    package static let frameSizes = 8...1_199
    /// The bytes before the frames.
    package static let headerSize = 1

    /// The duration of the packet in RTP ticks.
    package var ticks: Int { Self.ticksPerFrame * frameCount }

    /// Reads a payload's header and compares it with the payload's length. Does not allocate.
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

    /// Divides frames into the least number of packets of at most 1,200 bytes, as evenly as possible.
    /// - Parameters:
    ///   - frameCount: the number of frames of 64 samples; 0 gives no packets.
    ///   - frameSize: the bytes of each frame; one of ``frameSizes``.
    /// - Returns: the number of frames in each packet, in order.
    package static func split(frameCount: Int, frameSize: Int) -> PCMPayload.Split {
        precondition(frameCount >= 0 && frameSizes.contains(frameSize))
        let packetCapacity = min(maximumFrameCount, (PCMPayload.maximumSize - headerSize) / frameSize)
        return PCMPayload.Split(frameCount: frameCount, endIndex: (frameCount + packetCapacity - 1) / packetCapacity)
    }
}

/// The reason that a payload is not Opus Custom.
package enum OpusCustomPayloadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The payload has no frames; the value is the payload's length in bytes.
    case tooShort(Int)
    /// The number of frames is invalid.
    case badFrameCount(Int)
    /// The bytes are not this number of frames of one allowed size.
    case badFrameSizes(size: Int, frameCount: Int)

    /// One line for a log.
    package var description: String {
        switch self {
        case .tooShort(let size): "an Opus Custom packet of \(size) bytes; the sender's encoder is at fault"
        case .badFrameCount(let count):
            "an Opus Custom packet of \(count) frames; 1 to \(OpusCustomPayload.maximumFrameCount) are allowed"
        case .badFrameSizes(let size, let count):
            "\(size) bytes are not \(count) Opus Custom frames of equal size; the packet was cut or the sender is faulty"
        }
    }
}

extension MediaFormat {
    /// Returns the format of Opus Custom with 64 samples a frame; see ``OpusCustomPayload``.
    /// - Parameters:
    ///   - sampleRate: 44,100 or 48,000 hertz.
    ///   - bitRate: the maximum bits a second that the peer may send.
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
