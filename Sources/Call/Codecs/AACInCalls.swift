// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotMediaTransport
import EarshotPlayout

/// AAC in calls: packets of one access unit, decoded on the media thread.
enum AACInCalls: CallCodec {
    static var decoding: RenderCodec { .decoded }

    static func makeEncoder(_ configuration: CallConfiguration) throws(CodecError) -> any PayloadEncoder {
        Encoder(
            try AACEncoder(
                sampleRate: configuration.streamRate, channelCount: configuration.channelCount,
                bitRate: configuration.bitRate), unit: configuration.framesPerPacket)
    }

    static func usualBitRate(framesPerPacket: Int) -> Int { 64_000 }

    /// The encoder's configuration is part of the format.
    static func format(_ preferences: CallPreferences, rate: Int) throws(CodecError) -> MediaFormat {
        let (rate, channelCount) = (CallPreferences.aacRate, preferences.channelCount)
        let bitRate = preferences.bitRate ?? usualBitRate(framesPerPacket: 1_024) * channelCount
        let encoder = try AACEncoder(sampleRate: rate, channelCount: channelCount, bitRate: bitRate)
        return .aac(sampleRate: Int(rate), channelCount: channelCount, configuration: encoder.audioSpecificConfig)
    }

    static func framesPerPacket(
        _ preferences: CallPreferences, rate: Double, wanted: Double?, longest: Double
    ) -> Int { AACEncoder.blockFrameCount }

    /// The look-ahead of one frame.
    static func shift(framesPerPacket: Int) -> Int { 1_024 }
    /// The frame, the look-ahead and the overlap.
    static func delay(framesPerPacket: Int) -> Int { 3 * 1_024 }

    static func frameCount(_ payload: UnsafeRawBufferPointer, channelCount: Int) -> Int? { nil }

    final class Encoder: PayloadEncoder {
        let unit: Int
        let isDelayed = true
        let encoder: AACEncoder

        init(_ encoder: AACEncoder, unit: Int) {
            self.encoder = encoder
            self.unit = unit
        }

        func encode(
            _ sound: Channels, offset: Int, unitCount: Int
        ) throws(CodecError) -> UnsafeRawBufferPointer? { try encoder.encode(sound, offset: offset) }
    }
}
