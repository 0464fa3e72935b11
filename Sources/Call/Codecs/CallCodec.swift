// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotMediaTransport

/// A codec in calls: its packets, delay and coders. Stateless.
protocol CallCodec: SendableMetatype {
    /// The codec as playout receives it: AAC is already decoded then.
    static var decoding: RenderCodec { get }
    /// Creates the encoder of a stream.
    static func makeEncoder(_ configuration: CallConfiguration) throws(CodecError) -> any PayloadEncoder
    /// The codec's minimum bits a second; 0 if there is none.
    static var lowestBitRate: Int { get }
    /// Returns the default bits a second of one channel; 0 for PCM.
    static func usualBitRate(framesPerPacket: Int) -> Int

    /// Returns the format for an offer or answer.
    /// - Parameter rate: the rate in hertz, for a codec with several.
    static func format(_ preferences: CallPreferences, rate: Int) throws(CodecError) -> MediaFormat
    /// Returns the rate in hertz to offer for a device.
    static func offeredRate(deviceRate: Double) -> Int
    /// Returns true if the local peer supports an offered rate.
    static func acceptsOffered(rate: Int) -> Bool
    /// Returns the frames of a packet, at the sample rate `rate` in hertz.
    /// - Parameters:
    ///   - wanted: the milliseconds of a packet that the remote peer prefers; nil for no preference.
    ///   - longest: the maximum milliseconds of a packet that the remote peer accepts.
    static func framesPerPacket(
        _ preferences: CallPreferences, rate: Double, wanted: Double?, longest: Double
    ) -> Int

    /// Returns the frames by which a decoder's output lags behind the packet's position.
    static func shift(framesPerPacket: Int) -> Int
    /// Returns the delay of framing and the codec in frames.
    static func delay(framesPerPacket: Int) -> Int

    /// The bytes of a payload before the coded sound.
    static var headerSize: Int { get }
    /// Returns the frames of a payload; nil if the payload is damaged, or for AAC, which is decoded ahead of playout.
    static func frameCount(_ payload: UnsafeRawBufferPointer, channelCount: Int) -> Int?
}

extension CallCodec {
    static var lowestBitRate: Int { 0 }
    static func offeredRate(deviceRate: Double) -> Int { Int(deviceRate) }
    static func acceptsOffered(rate: Int) -> Bool { true }
    static var headerSize: Int { 0 }
}

extension Codec {
    var inCalls: any CallCodec.Type {
        switch self {
        case .aac: AACInCalls.self
        case .opus: OpusInCalls.self
        case .opusCustom: OpusCustomInCalls.self
        case .pcm: PCMInCalls.self
        }
    }
}
