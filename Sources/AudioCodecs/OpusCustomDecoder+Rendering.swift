import AudioBase

extension RenderCodec {
    /// Frames of Opus Custom, each 64 of sound and all of a packet of one size.
    public static var opusCustom: RenderCodec {
        RenderCodec(OpusCustomDecoder.self, payloadCapacity: 1_216, packetsAreBlocks: true)
    }
}

extension OpusCustomDecoder: RenderDecoderMaker {
    /// Makes a decoder for live sound.
    public static func makeRenderDecoder(
        sampleRate: Double, channelCount: Int
    ) throws(CodecError) -> RenderDecoder {
        let decoder = try OpusCustomDecoder(sampleRate: sampleRate, channelCount: channelCount)
        return RenderDecoder(
            OpusCustomRenderState(renderer: decoder.renderer), OpusCustomRenderState.functions, owner: decoder)
    }

    struct OpusCustomRenderState: BitwiseCopyable {
        let renderer: Renderer
        private var end = -1  // the stream's frame up to which the decoder has followed; -1 at first

        init(renderer: Renderer) { self.renderer = renderer }

        /// Decodes a packet: as many frames of one size as its header's length tells.
        @_noLocks
        mutating func decode(_ call: DecoderCall) -> Int {
            guard let bytes = call.bytes, call.frameCount <= call.capacity else { return 0 }
            let length = renderer.frameCount
            let count = call.frameCount / length
            guard count > 0 else { return 0 }
            let size = call.byteCount / count
            if end >= 0 { followLoss((call.position &- end) / length, call.output) }
            var done = 0
            for frame in 0..<count {
                let decoded = renderer.decode(
                    bytes + frame &* size, byteCount: size, into: call.output, offset: done)
                guard decoded > 0 else { break }
                done &+= decoded
            }
            end = call.position &+ done
            return done
        }

        /// Lets the decoder conceal lost frames unheard (linear prediction is heard), so that the next one joins what it knows.
        /// After eight frames it knows nothing more that lasts.
        @_noLocks
        private func followLoss(_ missing: Int, _ scratch: Channels) {
            var remaining = min(missing, 8)
            while remaining > 0 {
                _ = renderer.conceal(into: scratch, offset: 0)
                remaining &-= 1
            }
        }

        @_noLocks
        mutating func reset() {
            renderer.reset()
            end = -1
        }

        static var functions: RenderDecoderFunctions {
            RenderDecoderFunctions(
                decode: {
                    $0.assumingMemoryBound(to: OpusCustomRenderState.self).pointee.decode(
                        $1.assumingMemoryBound(to: DecoderCall.self).pointee)
                },
                reset: { $0.assumingMemoryBound(to: OpusCustomRenderState.self).pointee.reset() })
        }
    }
}
