// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotMediaTransport

/// One codec in calls: its packets, its delay and its coders. Without state.
protocol CallCodec: SendableMetatype {
    /// The codec as playout decodes it.
    static var decoding: RenderCodec { get }
    /// Makes the encoder of a stream.
    static func makeEncoder(_ configuration: CallConfiguration) throws(CodecError) -> any PayloadEncoder
    /// Bits a second that the codec has at least.
    static var lowestBitRate: Int { get }
    /// Default bit rate of one channel, in bits per second.
    static func usualBitRate(framesPerPacket: Int) -> Int

    /// The format to offer, or to answer with.
    /// - Parameter rate: hertz, for codecs that have several.
    static func format(_ preferences: CallPreferences, rate: Int) throws(CodecError) -> MediaFormat
    /// Hertz to offer for a device.
    static func offeredRate(deviceRate: Double) -> Int
    /// Returns false for a rate of an offer that this end does not have.
    static func acceptsOffered(rate: Int) -> Bool
    /// Frames of a packet at `rate`.
    /// - Parameters:
    ///   - wanted: milliseconds that the remote peer likes.
    ///   - longest: milliseconds that it accepts at most.
    static func framesPerPacket(
        _ preferences: CallPreferences, rate: Double, wanted: Double?, longest: Double
    ) -> Int

    /// Frames by which a decoder's sound lies behind the place that its packet names.
    static func shift(framesPerPacket: Int) -> Int
    /// Frames that framing and the codec cost.
    static func delay(framesPerPacket: Int) -> Int

    /// Bytes before the coded sound in a payload.
    static var headerSize: Int { get }
    /// Frames of a payload; nil if it is damaged, or the codec's packets are decoded ahead.
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
