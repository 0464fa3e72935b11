import AudioBase

extension RenderCodec {
    /// Opus (RFC 6716), which conceals losses itself and may carry copies of earlier packets.
    public static var opus: RenderCodec { RenderCodec(OpusDecoder.self, payloadCapacity: 1_280, sampleRate: 48_000) }
}

extension OpusDecoder: RenderDecoderMaker {
    /// Makes a decoder for live sound.
    public static func makeRenderDecoder(
        sampleRate: Double, channelCount: Int
    ) throws(CodecError) -> RenderDecoder {
        let decoder = try OpusDecoder(channelCount: channelCount)
        return RenderDecoder(OpusRenderState(renderer: decoder.renderer), OpusRenderState.functions, owner: decoder)
    }

    struct OpusRenderState: BitwiseCopyable {
        let renderer: Renderer

        @_noLocks
        func decode(_ call: DecoderCall) -> Int {
            guard let bytes = call.bytes else { return 0 }
            return renderer.decode(
                bytes, byteCount: call.byteCount, into: call.output, offset: 0, frameCount: call.capacity)
        }

        @_noLocks
        func conceal(_ call: DecoderCall) -> Int {
            let whole = call.frameCount / 120 &* 120
            return whole > 0 ? renderer.conceal(into: call.output, offset: 0, frameCount: whole) : 0
        }

        @_noLocks
        func carriesPrevious(_ call: DecoderCall) -> Bool {
            guard let bytes = call.bytes else { return false }
            return renderer.carriesEarlier(bytes, byteCount: call.byteCount)
        }

        @_noLocks
        func recoverPrevious(_ call: DecoderCall) -> Int {
            guard let bytes = call.bytes, call.frameCount <= call.capacity else { return 0 }
            return renderer.recover(
                before: bytes, byteCount: call.byteCount, into: call.output, offset: 0, frameCount: call.frameCount)
        }

        @_noLocks
        func reset() { renderer.reset() }

        static var functions: RenderDecoderFunctions {
            RenderDecoderFunctions(
                decode: {
                    $0.assumingMemoryBound(to: OpusRenderState.self).pointee.decode(
                        $1.assumingMemoryBound(to: DecoderCall.self).pointee)
                },
                conceal: {
                    $0.assumingMemoryBound(to: OpusRenderState.self).pointee.conceal(
                        $1.assumingMemoryBound(to: DecoderCall.self).pointee)
                },
                carriesPrevious: {
                    $0.assumingMemoryBound(to: OpusRenderState.self).pointee.carriesPrevious(
                        $1.assumingMemoryBound(to: DecoderCall.self).pointee)
                },
                recoverPrevious: {
                    $0.assumingMemoryBound(to: OpusRenderState.self).pointee.recoverPrevious(
                        $1.assumingMemoryBound(to: DecoderCall.self).pointee)
                },
                reset: { $0.assumingMemoryBound(to: OpusRenderState.self).pointee.reset() })
        }
    }
}
