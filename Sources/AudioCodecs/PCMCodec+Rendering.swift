import AudioBase

extension RenderCodec {
    /// L16.
    public static var pcm: RenderCodec {
        RenderCodec(PCMCodec.self, payloadCapacity: 1_216, packetsAreBlocks: true)
    }
}

extension PCMCodec: RenderDecoderMaker {
    /// Makes a decoder for live sound.
    public static func makeRenderDecoder(
        sampleRate: Double, channelCount: Int
    ) throws(CodecError) -> RenderDecoder {
        RenderDecoder(PCMRenderState(channelCount: channelCount), PCMRenderState.functions)
    }

    struct PCMRenderState: BitwiseCopyable {
        let channelCount: Int

        @_noLocks
        func decode(_ call: DecoderCall) -> Int {
            guard let bytes = call.bytes else { return 0 }
            return PCMCodec.decode(
                bytes, byteCount: call.byteCount, channelCount: channelCount, into: call.output, offset: 0)
        }

        @_noLocks
        func reset() {}

        static var functions: RenderDecoderFunctions {
            RenderDecoderFunctions(
                decode: {
                    $0.assumingMemoryBound(to: PCMRenderState.self).pointee.decode(
                        $1.assumingMemoryBound(to: DecoderCall.self).pointee)
                },
                reset: { $0.assumingMemoryBound(to: PCMRenderState.self).pointee.reset() })
        }
    }
}
