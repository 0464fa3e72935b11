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

    /// Returns AAC's format, which contains the encoder's configuration; the rate is always 44.1 kHz.
    static func format(_ preferences: CallPreferences, rate: Int) throws(CodecError) -> MediaFormat {
        let (rate, channelCount) = (CallPreferences.aacRate, preferences.channelCount)
        let bitRate = preferences.bitRate ?? usualBitRate(framesPerPacket: 1_024) * channelCount
        let encoder = try AACEncoder(sampleRate: rate, channelCount: channelCount, bitRate: bitRate)
        return .aac(sampleRate: Int(rate), channelCount: channelCount, configuration: encoder.audioSpecificConfig)
    }

    static func framesPerPacket(
        _ preferences: CallPreferences, rate: Double, wanted: Double?, longest: Double
    ) -> Int { AACEncoder.blockFrameCount }

    /// Returns 1,024, one AAC frame: the encoder's look-ahead.
    static func shift(framesPerPacket: Int) -> Int { 1_024 }
    /// Returns the frames of the AAC frame itself, of the look-ahead and of the overlap, 1,024 each.
    static func delay(framesPerPacket: Int) -> Int { 3 * 1_024 }

    static func frameCount(_ payload: UnsafeRawBufferPointer, channelCount: Int) -> Int? { nil }

    /// libavcodec's encoder cannot be reset, so two blocks of silence separate the sound before a reset from the sound after it:
    /// with one, the encoder may still have short windows when the sound begins.
    final class Encoder: PayloadEncoder {
        let unit: Int
        let isDelayed = true
        let encoder: AACEncoder
        private let silence: AudioBuffer
        private var holdsSound = false
        private var owesSilence = false  // the second block of silence comes before the next sound

        init(_ encoder: AACEncoder, unit: Int) {
            self.encoder = encoder
            self.unit = unit
            silence = AudioBuffer(channelCount: encoder.channelCount, frameCapacity: unit)
        }

        func encode(
            _ sound: Channels, offset: Int, unitCount: Int
        ) throws(CodecError) -> UnsafeRawBufferPointer? {
            holdsSound = true
            guard owesSilence else { return try encoder.encode(sound, offset: offset) }
            owesSilence = false
            _ = try encoder.encode(silence.channels)
            _ = try encoder.encode(sound, offset: offset)
            return nil
        }

        func reset() throws(CodecError) -> UnsafeRawBufferPointer? {
            guard holdsSound else { return nil }
            (holdsSound, owesSilence) = (false, true)
            return try encoder.encode(silence.channels)
        }
    }
}
