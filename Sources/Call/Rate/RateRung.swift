// SPDX-License-Identifier: Apache-2.0

import EarshotAudioCodecs
import EarshotMediaTransport

/// One form in which a stream can be sent: the first as negotiated, each further one with a lower bit rate.
public struct RateRung: Hashable, Sendable {
    /// The codec of the sound: as negotiated, or Opus.
    public let codec: Codec
    /// Bits a second of the codec.
    public let bitRate: Int
    /// Frames a packet covers, at the stream's rate.
    public let framesPerPacket: Int
    /// Bits a second on the link: the codec's, and of each packet the headers of IPv4, UDP and RTP.
    package let wireBitRate: Double

    /// Bytes of headers of a packet: 20 of IPv4, 8 of UDP, 12 of RTP.
    package static let headerByteCount = 40

    init(_ codec: Codec, bitRate: Int, framesPerPacket: Int, packetRate: Double) {
        self.codec = codec
        self.bitRate = bitRate
        self.framesPerPacket = framesPerPacket
        wireBitRate = Double(bitRate) + packetRate * Double(8 * Self.headerByteCount)
    }
}

extension CallConfiguration {
    /// The rungs below what was agreed on: Opus's bit rates, and frames of its packets. Longer packets save headers: of 2.5 ms
    /// they take 128 kb/s, of 60 ms 5.3.
    private static let steps = [(256_000, 240), (128_000, 480), (64_000, 960), (32_000, 1_920), (16_000, 2_880)]
    /// The share of the rung above that one takes at most: less would not be worth the change.
    private static let worthwhile = 0.85

    /// The forms in which the stream can be sent, the first as negotiated, the last the smallest. Only that one if the remote peer
    /// takes nothing else: of PCM without a reserve, AAC and Opus Custom.
    package var ladder: [RateRung] {
        var rungs = [top]
        guard mayChangeRate, codec == .opus || repair.reserve != nil else { return rungs }
        for (bitRate, frames) in Self.steps {
            let length = codec == .opus ? max(frames, framesPerPacket) : frames
            guard bitRate <= bitRateLimit, Double(length) / streamRate <= longestPacket + 1e-6 else { continue }
            let rung = RateRung(
                .opus, bitRate: bitRate, framesPerPacket: length, packetRate: streamRate / Double(length))
            if rung.wireBitRate <= Self.worthwhile * rungs[rungs.count - 1].wireBitRate { rungs.append(rung) }
        }
        return rungs
    }

    /// Returns true if a stream of this form has further rungs for remote peers that know of them.
    var mayChangeRate: Bool {
        changesRate && (codec == .opus || codec.traits.fallback != nil && streamRate == OpusEncoder.sampleRate)
    }

    private var top: RateRung {
        let blocks = streamRate / Double(max(1, framesPerPacket))
        guard !codec.traits.hasBitRate else {
            return RateRung(codec, bitRate: bitRate, framesPerPacket: framesPerPacket, packetRate: blocks)
        }
        let packets = PCMPayload.split(frameCount: framesPerPacket, channelCount: channelCount).count
        return RateRung(
            codec, bitRate: Int(16 * streamRate) * channelCount, framesPerPacket: framesPerPacket,
            packetRate: blocks * Double(packets))
    }
}
