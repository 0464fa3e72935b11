// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotMediaTransport

/// PCM in calls: a packet is a block of the device, or a part of one above 1,200 bytes.
enum PCMInCalls: CallCodec {
    static var decoding: RenderCodec { .pcm }

    static func makeEncoder(_ configuration: CallConfiguration) throws(CodecError) -> any PayloadEncoder {
        Encoder(channelCount: configuration.channelCount)
    }

    static func usualBitRate(framesPerPacket: Int) -> Int { 0 }

    static func format(_ preferences: CallPreferences, rate: Int) throws(CodecError) -> MediaFormat {
        .pcm(sampleRate: rate, channelCount: preferences.channelCount)
    }

    static func acceptsOffered(rate: Int) -> Bool { (8_000...192_000).contains(rate) }

    static func framesPerPacket(
        _ preferences: CallPreferences, rate: Double, wanted: Double?, longest: Double
    ) -> Int { preferences.blockFrames(rate: rate) }

    static func shift(framesPerPacket: Int) -> Int { 0 }
    static func delay(framesPerPacket: Int) -> Int { framesPerPacket }

    static func frameCount(_ payload: UnsafeRawBufferPointer, channelCount: Int) -> Int? {
        try? PCMPayload.frameCount(payloadSize: payload.count, channelCount: channelCount)
    }

    private final class Encoder: PayloadEncoder {
        let unit = 1
        let hasFixedPackets = false
        private let channelCount: Int
        private let bytes = PayloadMemory()

        init(channelCount: Int) { self.channelCount = channelCount }

        func packets(unitCount: Int) -> PCMPayload.Split {
            PCMPayload.split(frameCount: unitCount, channelCount: channelCount)
        }

        func encode(
            _ sound: Channels, offset: Int, unitCount: Int
        ) throws(CodecError) -> UnsafeRawBufferPointer? {
            let count = PCMCodec.encode(
                sound, offset: offset, frameCount: unitCount, into: bytes.start.assumingMemoryBound(to: UInt8.self))
            return bytes.first(count)
        }
    }
}
