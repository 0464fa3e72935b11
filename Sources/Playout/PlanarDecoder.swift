// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

extension RenderCodec {
    /// Sound that the media thread has decoded, because its decoder may allocate: planar floats, one channel after the other.
    public static var decoded: RenderCodec {
        RenderCodec(PlanarDecoder.self, payloadCapacity: nil, isDecodedAhead: true)
    }
}

/// Copies sound that was decoded ahead.
struct PlanarDecoder: RenderDecoderMaker, BitwiseCopyable {
    let channelCount: Int

    static func makeRenderDecoder(sampleRate: Double, channelCount: Int) throws(CodecError) -> RenderDecoder {
        RenderDecoder(PlanarDecoder(channelCount: channelCount), functions)
    }

    @_noLocks
    func decode(_ call: DecoderCall) -> Int {
        guard let bytes = call.bytes else { return 0 }
        let samples = UnsafeRawPointer(bytes).assumingMemoryBound(to: Float.self)
        for c in 0..<channelCount { copySamples(call.output[c], samples + c &* call.frameCount, call.frameCount) }
        return call.frameCount
    }

    @_noLocks
    func reset() {}

    static var functions: RenderDecoderFunctions {
        RenderDecoderFunctions(
            decode: {
                $0.assumingMemoryBound(to: PlanarDecoder.self).pointee.decode(
                    $1.assumingMemoryBound(to: DecoderCall.self).pointee)
            },
            reset: { $0.assumingMemoryBound(to: PlanarDecoder.self).pointee.reset() })
    }
}
