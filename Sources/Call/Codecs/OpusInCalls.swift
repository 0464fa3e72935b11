// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotMediaTransport

/// Opus in calls: packets of 2.5 to 20 ms are negotiated.
enum OpusInCalls: CallCodec {
    static var decoding: RenderCodec { .opus }

    static func makeEncoder(_ configuration: CallConfiguration) throws(CodecError) -> any PayloadEncoder {
        guard let duration = OpusFrameDuration(rawValue: configuration.framesPerPacket) else {
            throw .unsupportedFormat(
                codec: "Opus", detail: "packets of \(configuration.framesPerPacket) frames; use 120, 240, 480 or 960")
        }
        return Encoder(
            try OpusEncoder(
                channelCount: configuration.channelCount, frameDuration: duration, bitRate: configuration.bitRate),
            unit: configuration.framesPerPacket)
    }

    /// Returns more bits a second for short packets, which need more for the same quality.
    static func usualBitRate(framesPerPacket: Int) -> Int {
        switch framesPerPacket {
        case ...120: 128_000
        case ...240: 96_000
        case ...480: 64_000
        default: 48_000
        }
    }

    static func format(_ preferences: CallPreferences, rate: Int) throws(CodecError) -> MediaFormat {
        .opus(channelCount: preferences.channelCount, bitRate: preferences.bitRate)
    }

    static func framesPerPacket(
        _ preferences: CallPreferences, rate: Double, wanted: Double?, longest: Double
    ) -> Int {
        let preferredDuration = (preferences.opusPacketTime ?? wanted).flatMap { OpusFrameDuration(milliseconds: $0) }
        let limit = min(longest, (preferredDuration ?? .milliseconds10).milliseconds)
        let duration = OpusFrameDuration.allCases.last { $0.milliseconds <= limit }
        return (duration ?? .microseconds2500).frameCount
    }

    static func shift(framesPerPacket: Int) -> Int { lookahead(framesPerPacket) }
    static func delay(framesPerPacket: Int) -> Int { framesPerPacket + lookahead(framesPerPacket) }

    /// Returns libopus's look-ahead in frames: less for packets up to 5 ms, which use its low-delay mode.
    private static func lookahead(_ framesPerPacket: Int) -> Int { framesPerPacket <= 240 ? 120 : 312 }

    /// Returns the look-ahead in frames of an encoder whose packets have at most this many milliseconds, 10 without a preference.
    static func lookahead(packetTime: Double?) -> Int {
        let shortest = OpusFrameDuration.microseconds2500
        let duration = OpusFrameDuration.allCases.last { $0.milliseconds <= packetTime ?? 10 } ?? shortest
        return lookahead(duration.frameCount)
    }

    static func frameCount(_ payload: UnsafeRawBufferPointer, channelCount: Int) -> Int? {
        (try? OpusPayload(parsing: payload.bytes))?.ticks
    }

    private final class Encoder: PayloadEncoder {
        let unit: Int
        private let encoder: OpusEncoder
        private let bytes = PayloadMemory()

        init(_ encoder: OpusEncoder, unit: Int) {
            self.encoder = encoder
            self.unit = unit
        }

        func encode(
            _ sound: Channels, offset: Int, unitCount: Int
        ) throws(CodecError) -> UnsafeRawBufferPointer? {
            bytes.first(try encoder.encode(sound, offset: offset, into: bytes.all))
        }

        func setExpectedLoss(percent: Int) { encoder.setExpectedLoss(percent: percent) }
        func setIndependent(_ isIndependent: Bool) { encoder.setIndependent(isIndependent) }
        func reset() -> UnsafeRawBufferPointer? {
            encoder.reset()
            return nil
        }
    }
}
