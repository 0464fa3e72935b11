// SPDX-License-Identifier: Apache-2.0

/// The duration declared by an Opus packet's header. The RTP payload is the packet itself (RFC 7587 §4.2).
///
/// Checks all requirements of RFC 6716 §3.4 on a packet; the content of the frames is checked by the decoder.
@frozen
package struct OpusPayload: Hashable, Sendable, BitwiseCopyable {
    /// The coding mode, bandwidth and frame size: 0 to 31 (RFC 6716 §3.1, table 2).
    package let configuration: UInt8
    /// True if the frames are coded in stereo; a decoder can output mono or stereo in any case.
    package let isStereo: Bool
    /// The frames in the packet, 1 to 48.
    package let frameCount: Int

    /// The RTP ticks a second, whatever the bandwidth (RFC 7587 §4.1).
    package static let clockRate = 48_000

    /// The duration of a frame in ticks of 48 kHz: 120 (2.5 ms) to 2,880 (60 ms).
    package var ticksPerFrame: Int {
        switch configuration {
        case 0..<12: configuration & 3 == 3 ? 2_880 : 480 << Int(configuration & 3)  // SILK
        case 12..<16: 480 << (Int(configuration) & 1)  // hybrid
        default: 120 << (Int(configuration) & 3)  // CELT
        }
    }

    /// The duration of the packet in ticks of 48 kHz: at most 5,760 (120 ms).
    package var ticks: Int { ticksPerFrame * frameCount }

    /// Reads a payload's header. Does not allocate.
    package init(parsing payload: RawSpan) throws(OpusPayloadError) {
        guard payload.byteCount >= 1 else { throw .empty }
        let head = payload.byte(0)
        configuration = head >> 3
        isStereo = head & 4 != 0
        switch head & 3 {
        case 0:
            frameCount = 1
            guard payload.byteCount - 1 <= Self.maximumFrameSize else { throw .frameTooLarge }
        case 1:
            frameCount = 2
            guard payload.byteCount % 2 == 1 else { throw .badFrameSizes }
            guard (payload.byteCount - 1) / 2 <= Self.maximumFrameSize else { throw .frameTooLarge }
        case 2:
            frameCount = 2
            var offset = 1
            guard let first = Self.frameSize(payload, &offset), first <= payload.byteCount - offset else {
                throw .badFrameSizes
            }
            guard payload.byteCount - offset - first <= Self.maximumFrameSize else { throw .frameTooLarge }
        default:
            guard payload.byteCount >= 2 else { throw .badFrameSizes }
            frameCount = Int(payload.byte(1) & 0x3F)
            try Self.checkFrames(payload, count: frameCount)
        }
        guard frameCount >= 1, ticks <= 5_760 else { throw .badDuration(ticks: ticks) }
    }

    private static let maximumFrameSize = 1_275

    /// Checks a packet of code 3 (RFC 6716 §3.2.5), which has padding and frames either of one size or each with its own.
    private static func checkFrames(_ payload: RawSpan, count: Int) throws(OpusPayloadError) {
        guard count > 0 else { throw .badDuration(ticks: 0) }
        var offset = 2
        var padding = 0
        if payload.byte(1) & 0x40 != 0 {
            var byte: UInt8 = 255
            while byte == 255 {
                guard offset < payload.byteCount else { throw .badFrameSizes }
                byte = payload.byte(offset)
                padding += byte == 255 ? 254 : Int(byte)
                offset += 1
            }
        }
        if payload.byte(1) & 0x80 != 0 {
            var precedingSizes = 0
            for _ in 1..<count {
                guard let size = frameSize(payload, &offset) else { throw .badFrameSizes }
                precedingSizes += size
            }
            let lastSize = payload.byteCount - offset - padding - precedingSizes
            guard lastSize >= 0 else { throw .badFrameSizes }
            guard lastSize <= maximumFrameSize else { throw .frameTooLarge }
        } else {
            let framesSize = payload.byteCount - offset - padding
            guard framesSize >= 0, framesSize % count == 0 else { throw .badFrameSizes }
            guard framesSize / count <= maximumFrameSize else { throw .frameTooLarge }
        }
    }

    /// Reads a frame's length of at most 1,275, which takes one or two bytes (RFC 6716 §3.2.1), and moves `offset` behind them.
    /// Nil if the packet ends before.
    private static func frameSize(_ payload: RawSpan, _ offset: inout Int) -> Int? {
        guard offset < payload.byteCount else { return nil }
        let first = Int(payload.byte(offset))
        offset += 1
        if first < 252 { return first }
        guard offset < payload.byteCount else { return nil }
        defer { offset += 1 }
        return first + 4 * Int(payload.byte(offset))
    }
}

/// The reason that bytes are not an Opus packet (RFC 6716 §3.4).
package enum OpusPayloadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There are no bytes.
    case empty
    /// Frame lengths or padding do not fit the packet.
    case badFrameSizes
    /// A frame has more than 1,275 bytes.
    case frameTooLarge
    /// The packet has no frames, or more than 120 ms of them; the value is in ticks of 48 kHz.
    case badDuration(ticks: Int)

    /// One line for a log.
    package var description: String {
        switch self {
        case .empty: "an Opus packet without bytes; the sender's encoder is at fault"
        case .badFrameSizes: "Opus frame lengths exceed the packet; it was cut or is not Opus"
        case .frameTooLarge: "an Opus frame above 1275 bytes; the packet is not Opus"
        case .badDuration(let ticks): "an Opus packet of \(ticks) ticks at 48 kHz; 1 to 5760 are allowed, is it Opus?"
        }
    }
}

extension MediaFormat {
    /// Returns the format of Opus, which in SDP always has 48 kHz and two channels (RFC 7587 §7).
    /// - Parameters:
    ///   - channelCount: the channels sent and preferred: 1 or 2.
    ///   - bitRate: the maximum average bits a second that the peer may send; 6,000 to 510,000.
    public static func opus(payloadType: UInt8 = 97, channelCount: Int = 1, bitRate: Int? = nil) -> MediaFormat {
        let stereo = channelCount == 2 ? "1" : "0"
        return MediaFormat(
            payloadType: payloadType, encodingName: "opus", clockRate: OpusPayload.clockRate, channelCount: 2,
            parameters: [Parameter("sprop-stereo", stereo), Parameter("stereo", stereo)]
                + (bitRate.map { [Parameter("maxaveragebitrate", String($0))] } ?? []))
    }
}

extension OpusPayload: FormattedPayload {
    static func isNamed(by format: MediaFormat) -> Bool {
        format.encodingName.lowercased() == "opus" && format.clockRate == clockRate && format.channelCount == 2
            && !format.isFallbackCodec
    }
}
