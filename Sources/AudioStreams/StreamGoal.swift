// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioFiles

/// The target of a seek, and the byte offset from which data is read for it.
struct StreamGoal {
    /// The frame in the sound, at the output's sample rate.
    let frame: Int
    /// The byte offset to read from.
    let byteOffset: Int
    /// True if the distance between the first packet and the target has been checked.
    var isJudged = false

    /// The maximum seconds before the target that are decoded and dropped. If the first packet is earlier, the byte offset is
    /// corrected instead.
    static let reach = 5.0

    /// Limits a frame to a range in which computing does not overflow.
    static func bounded(_ frame: Int) -> Int { min(max(0, frame), 1 << 40) }

    init(frame: Int, byteOffset: Int) { (self.frame, self.byteOffset) = (frame, byteOffset) }

    /// Returns the first frame to pass to the rate converter, at its input's sample rate. If the packets begin at a later
    /// `position` than the target needs, this is the next frame whose time is a whole frame at both sample rates.
    func input(at position: Int, from: Double, to: Double) -> Int {
        let wanted = RateConverter.start(for: frame, from: from, to: to)
        guard position > wanted else { return wanted }
        let period = RateConverter.period(from: from, to: to)
        return (position + period - 1) / period * period
    }

    /// Returns the first frame of the stream, at its own sample rate, that must be decoded so that the output is correct from
    /// `frame` on.
    static func firstNeeded(
        _ frame: Int, _ format: AudioFormat, _ decoder: ConcealingDecoder, _ packets: PacketFormat
    ) -> Int {
        let from = decoder.format.sampleRate
        let input = RateConverter.start(for: frame, from: from, to: format.sampleRate)
        return max(0, Int(Double(input) * packets.format.sampleRate / from) - runIn(packets))
    }

    /// Returns the frames after which a decoder that starts in the middle of a stream gives correct output.
    private static func runIn(_ packets: PacketFormat) -> Int {
        switch packets.codec {
        case .pcm: 0
        case .mp1, .mp2: 2 * (packets.framesPerPacket ?? 1_152)
        // The bit reservoir reaches back 511 bytes: up to 24 packets at the lowest bit rates.
        case .mp3: 24 * (packets.framesPerPacket ?? 1_152)
        case .aac: 3 * (packets.framesPerPacket ?? 1_024)
        case .opus: 3_840  // 80 ms (RFC 7845, 4.6)
        case .vorbis: 8_192  // the longest block
        }
    }
}
