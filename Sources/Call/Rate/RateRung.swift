// SPDX-License-Identifier: Apache-2.0

import EarshotAudioCodecs
import EarshotMediaTransport

/// A form in which a stream can be sent, a rung of the ladder. The first rung is the negotiated form; each further one has a
/// lower bit rate.
public struct RateRung: Hashable, Sendable {
    /// The codec: the negotiated one, or Opus.
    public let codec: Codec
    /// The codec's bits a second.
    public let bitRate: Int
    /// The frames of a packet, at the stream's rate.
    public let framesPerPacket: Int
    /// The bits a second on the link, with the headers of IPv4, UDP and RTP.
    package let wireBitRate: Double

    /// The bytes of headers of a packet: 20 of IPv4, 8 of UDP, 12 of RTP.
    package static let headerByteCount = 40

    init(_ codec: Codec, bitRate: Int, framesPerPacket: Int, packetRate: Double) {
        self.codec = codec
        self.bitRate = bitRate
        self.framesPerPacket = framesPerPacket
        wireBitRate = Double(bitRate) + packetRate * Double(8 * Self.headerByteCount)
    }
}

extension CallConfiguration {
    /// The rungs below the negotiated form: Opus's bits a second, and the frames of its packets. Longer packets save headers,
    /// which take 128 kb/s with packets of 2.5 ms and 5.3 kb/s with packets of 60 ms.
    private static let steps = [(256_000, 240), (128_000, 480), (64_000, 960), (32_000, 1_920), (16_000, 2_880)]
    /// The maximum ratio of a rung's bit rate to the rung above: a smaller step is not worth the change.
    private static let worthwhile = 0.85

    /// The forms in which the stream can be sent, from the negotiated one to the smallest. Only the negotiated form if
    /// ``changesRate`` is false, for AAC and Opus Custom, and for PCM that is not at 48 kHz or has no negotiated fallback codec.
    package var ladder: [RateRung] {
        var rungs = [negotiatedRung]
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

    /// True if the ladder has lower rungs for remote peers that support them.
    var mayChangeRate: Bool {
        changesRate && (codec == .opus || codec.traits.fallback != nil && streamRate == OpusEncoder.sampleRate)
    }

    private var negotiatedRung: RateRung {
        let blocksPerSecond = streamRate / Double(max(1, framesPerPacket))
        guard !codec.traits.hasBitRate else {
            return RateRung(codec, bitRate: bitRate, framesPerPacket: framesPerPacket, packetRate: blocksPerSecond)
        }
        let packetsPerBlock = PCMPayload.split(frameCount: framesPerPacket, channelCount: channelCount).count
        return RateRung(
            codec, bitRate: Int(16 * streamRate) * channelCount, framesPerPacket: framesPerPacket,
            packetRate: blocksPerSecond * Double(packetsPerBlock))
    }
}
