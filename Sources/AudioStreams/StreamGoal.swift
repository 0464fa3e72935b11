// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioFiles

/// The goal of a seek, and the data to be read before it.
struct StreamGoal {
    /// The frame of the sound, at the output's rate.
    let frame: Int
    /// The offset to read from.
    let byteOffset: Int
    /// True if it was seen how near that is.
    var isJudged = false

    /// Seconds before what is needed that are rather decoded than looked for again.
    static let reach = 5.0

    /// A frame that can be reckoned with.
    static func bounded(_ frame: Int) -> Int { min(max(0, frame), 1 << 40) }

    init(frame: Int, byteOffset: Int) { (self.frame, self.byteOffset) = (frame, byteOffset) }

    /// The first frame of input for the rate converter, where the packets are at a position: behind it, as the next instant that
    /// both rates have, if the stream could not be gone about in so exactly.
    func input(at position: Int, from: Double, to: Double) -> Int {
        let wanted = RateConverter.start(for: frame, from: from, to: to)
        guard position > wanted else { return wanted }
        let period = RateConverter.period(from: from, to: to)
        return (position + period - 1) / period * period
    }

    /// The first frame of the stream, at its own rate, to be given to a decoder for the output from a frame on to be right.
    static func firstNeeded(
        _ frame: Int, _ format: AudioFormat, _ decoder: ConcealingDecoder, _ packets: PacketFormat
    ) -> Int {
        let from = decoder.format.sampleRate
        let input = RateConverter.start(for: frame, from: from, to: format.sampleRate)
        return max(0, Int(Double(input) * packets.format.sampleRate / from) - runIn(packets))
    }

    /// Frames after which a decoder that begins in the midst is right.
    private static func runIn(_ packets: PacketFormat) -> Int {
        switch packets.codec {
        case .pcm: 0
        case .mp1, .mp2: 2 * (packets.framesPerPacket ?? 1_152)
        // The bit reservoir reaches back 511 bytes, which are so many frames at the lowest bit rates.
        case .mp3: 24 * (packets.framesPerPacket ?? 1_152)
        case .aac: 3 * (packets.framesPerPacket ?? 1_024)
        case .opus: 3_840  // 80 ms (RFC 7845, 4.6)
        case .vorbis: 8_192  // the longest block
        }
    }
}
