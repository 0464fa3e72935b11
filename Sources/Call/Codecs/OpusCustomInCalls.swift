// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotMediaTransport

/// Opus Custom in calls: a packet has as many 64-frame units as a device's block completes, divided above 1,200 bytes.
enum OpusCustomInCalls: CallCodec {
    static var decoding: RenderCodec { .opusCustom }

    static func makeEncoder(_ configuration: CallConfiguration) throws(CodecError) -> any PayloadEncoder {
        Encoder(
            try OpusCustomEncoder(
                sampleRate: configuration.streamRate, channelCount: configuration.channelCount,
                bitRate: configuration.bitRate))
    }

    static var lowestBitRate: Int { OpusCustomEncoder.bitRates.lowerBound }
    static func usualBitRate(framesPerPacket: Int) -> Int { 192_000 }

    static func format(_ preferences: CallPreferences, rate: Int) throws(CodecError) -> MediaFormat {
        if let bitRate = preferences.bitRate, !OpusCustomEncoder.bitRates.contains(bitRate) {
            throw .unsupportedFormat(
                codec: "Opus Custom", detail: "\(bitRate) b/s; supported: \(OpusCustomEncoder.bitRates)")
        }
        return .opusCustom(
            sampleRate: rate, channelCount: preferences.channelCount, bitRate: preferences.bitRate)
    }

    /// Returns 44,100 for a device with that rate, otherwise 48,000, the codec's other rate: a conversion of rates adds delay.
    static func offeredRate(deviceRate: Double) -> Int { deviceRate == 44_100 ? 44_100 : 48_000 }

    static func framesPerPacket(
        _ preferences: CallPreferences, rate: Double, wanted: Double?, longest: Double
    ) -> Int { max(OpusCustomEncoder.frameCount, preferences.blockFrames(rate: rate)) }

    static func shift(framesPerPacket: Int) -> Int { OpusCustomEncoder.lookahead }
    static func delay(framesPerPacket: Int) -> Int { framesPerPacket + OpusCustomEncoder.lookahead }

    static var headerSize: Int { OpusCustomPayload.headerSize }
    static func frameCount(_ payload: UnsafeRawBufferPointer, channelCount: Int) -> Int? {
        (try? OpusCustomPayload(parsing: payload.bytes))?.ticks
    }

    private final class Encoder: PayloadEncoder {
        let unit = OpusCustomEncoder.frameCount
        let hasFixedPackets = false
        private let encoder: OpusCustomEncoder
        private let bytes = PayloadMemory()

        init(_ encoder: OpusCustomEncoder) { self.encoder = encoder }

        func packets(unitCount: Int) -> PCMPayload.Split {
            OpusCustomPayload.split(frameCount: unitCount, frameSize: encoder.frameByteCount)
        }

        func encode(
            _ sound: Channels, offset: Int, unitCount: Int
        ) throws(CodecError) -> UnsafeRawBufferPointer? {
            bytes.start.storeBytes(of: UInt8(unitCount), as: UInt8.self)
            var count = OpusCustomPayload.headerSize
            for frame in 0..<unitCount {
                count += try encoder.encode(
                    sound, offset: offset + frame * unit,
                    into: UnsafeMutableRawBufferPointer(start: bytes.start + count, count: encoder.frameByteCount))
            }
            return bytes.first(count)
        }
    }
}
