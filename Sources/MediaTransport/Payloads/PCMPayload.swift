// SPDX-License-Identifier: Apache-2.0

/// The RTP payload of L16: 16-bit big-endian samples, channels interleaved (RFC 3551 §4.5.11, RFC 3190 §4).
package enum PCMPayload {
    /// The maximum bytes of a payload, so that no link fragments the packet.
    package static let maximumSize = 1_200

    /// Divides a block into the least number of packets, as evenly as possible: their lengths differ by at most one frame.
    /// - Parameters:
    ///   - frameCount: the frames of the block; 0 gives no packets.
    ///   - channelCount: 1 to 32.
    /// - Returns: the frames of each packet, in order.
    package static func split(frameCount: Int, channelCount: Int) -> Split {
        precondition(frameCount >= 0 && (1...32).contains(channelCount))
        let packetCapacity = maximumSize / (2 * channelCount)
        return Split(frameCount: frameCount, endIndex: (frameCount + packetCapacity - 1) / packetCapacity)
    }

    /// The frames of each packet of a block. Does not allocate.
    package struct Split: RandomAccessCollection, Sendable {
        let frameCount: Int

        init(frameCount: Int, endIndex: Int) {
            self.frameCount = frameCount
            self.endIndex = endIndex
        }

        /// Creates `count` packets of one unit each: a frame, or another unit of the codec.
        package init(each count: Int) { self.init(frameCount: count, endIndex: count) }

        /// The index of the first packet: 0.
        package var startIndex: Int { 0 }
        /// The number of packets.
        package let endIndex: Int

        /// The range of a packet's frames in the block.
        /// - Precondition: the index is valid.
        package subscript(packet: Int) -> Range<Int> {
            precondition(indices.contains(packet))
            return frameCount * packet / endIndex..<frameCount * (packet + 1) / endIndex
        }
    }

    /// Returns the frames of a received payload.
    /// - Parameter channelCount: at least 1.
    package static func frameCount(payloadSize: Int, channelCount: Int) throws(PCMPayloadError) -> Int {
        guard payloadSize > 0, payloadSize % (2 * channelCount) == 0 else {
            throw .partialFrame(size: payloadSize, channelCount: channelCount)
        }
        return payloadSize / (2 * channelCount)
    }
}

/// The reason that a payload is not L16.
package enum PCMPayloadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The payload is empty, or has no whole number of frames; the size is in bytes.
    case partialFrame(size: Int, channelCount: Int)

    /// One line for a log.
    package var description: String {
        switch self {
        case .partialFrame(let size, let channelCount):
            "\(size) bytes are not whole frames of 16-bit samples in \(channelCount) channels; compare the peers' formats"
        }
    }
}

extension MediaFormat {
    /// Returns the format of 16-bit PCM (L16).
    public static func pcm(payloadType: UInt8 = 98, sampleRate: Int, channelCount: Int = 1) -> MediaFormat {
        MediaFormat(payloadType: payloadType, encodingName: "L16", clockRate: sampleRate, channelCount: channelCount)
    }
}

extension PCMPayload: FormattedPayload {
    static func isNamed(by format: MediaFormat) -> Bool {
        format.encodingName.lowercased() == "l16" && (1...32).contains(format.channelCount)
    }
}
