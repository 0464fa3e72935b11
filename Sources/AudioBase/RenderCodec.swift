// SPDX-License-Identifier: Apache-2.0

/// A codec of live sound for playout. The module of each codec adds a static member to this type.
public struct RenderCodec: Sendable, Equatable {
    /// The maximum bytes of a packet's payload; nil if a payload has one 32-bit float for each frame and channel.
    package let payloadCapacity: Int?
    /// True if a packet is a block of the sender's device, which may be as short as 64 frames.
    package let packetsAreBlocks: Bool
    /// The only sample rate of the codec in hertz; nil if the codec supports any rate.
    package let sampleRate: Double?
    /// True if a thread other than the render thread decodes packets in advance.
    package let isDecodedAhead: Bool
    private let maker: any RenderDecoderMaker.Type

    /// Creates a codec whose decoders `maker` creates.
    package init(
        _ maker: any RenderDecoderMaker.Type, payloadCapacity: Int?, packetsAreBlocks: Bool = false,
        sampleRate: Double? = nil, isDecodedAhead: Bool = false
    ) {
        self.maker = maker
        self.payloadCapacity = payloadCapacity
        self.packetsAreBlocks = packetsAreBlocks
        self.sampleRate = sampleRate
        self.isDecodedAhead = isDecodedAhead
    }

    /// Creates a decoder.
    /// - Throws: ``CodecError`` if the codec does not support the rate or the channel count.
    package func makeDecoder(sampleRate: Double, channelCount: Int) throws(CodecError) -> RenderDecoder {
        try maker.makeRenderDecoder(sampleRate: sampleRate, channelCount: channelCount)
    }

    /// Returns true if the same maker creates both codecs' decoders.
    public static func == (a: RenderCodec, b: RenderCodec) -> Bool { a.maker == b.maker }
}

/// Creates decoders for render threads.
package protocol RenderDecoderMaker: SendableMetatype {
    /// Creates a decoder.
    /// - Throws: ``CodecError`` if the codec does not support the rate or the channel count.
    static func makeRenderDecoder(sampleRate: Double, channelCount: Int) throws(CodecError) -> RenderDecoder
}
