// SPDX-License-Identifier: Apache-2.0

import CEarshotOpus
import EarshotAudioBase

/// Decodes the frames of ``OpusCustomEncoder`` and conceals lost frames.
///
/// This object owns the memory; create and free it on the control thread. Decode with ``renderer``.
package final class OpusCustomDecoder: Sendable {
    /// The number of channels, 1 or 2, the same as the encoder's.
    package let channelCount: Int
    /// The handle for decoding. It must not outlive the decoder.
    package let renderer: Renderer

    private let mode: OpusCustomMode

    /// - Parameters:
    ///   - sampleRate: 44,100 or 48,000 hertz, the same as the encoder's.
    ///   - channelCount: 1 or 2, the same as the encoder's.
    /// - Throws: ``CodecError/unsupportedFormat(codec:detail:)`` for other values.
    package init(sampleRate: Double, channelCount: Int) throws(CodecError) {
        mode = try OpusCustomMode(sampleRate: sampleRate, channelCount: channelCount)
        var code: Int32 = 0
        guard let decoder = opus_custom_decoder_create(mode.pointer, Int32(channelCount), &code) else {
            throw .libraryFailure(codec: "Opus Custom", call: "opus_custom_decoder_create", code: Int(code))
        }
        let samples = OpusCustomEncoder.frameCount * channelCount
        let scratch = UnsafeMutablePointer<Float>.allocate(capacity: samples)
        scratch.initialize(repeating: 0, count: samples)
        let capacity = OpusCustomEncoder.frameByteCounts.upperBound
        let coded = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity + 1)
        coded.initialize(repeating: 0, count: capacity + 1)
        // The encoder omits the first byte: 0 means all bands and the mode's whole frame, and bit 2 means two channels.
        coded[0] = channelCount == 2 ? 4 : 0
        self.channelCount = channelCount
        renderer = Renderer(
            decoder: decoder, scratch: scratch, coded: coded, codedCapacity: capacity, channelCount: channelCount,
            libraryConceals: earshot_opus_custom_conceals() != 0)
    }

    deinit {
        opus_custom_decoder_destroy(renderer.decoder)
        renderer.scratch.deallocate()
        renderer.coded.deallocate()
    }
}

extension OpusCustomDecoder {
    // Unchecked: only one thread at a time uses the decoder's state, as documented.
    /// A handle for decoding. For one thread at a time; every method is safe on the render thread.
    package struct Renderer: @unchecked Sendable, BitwiseCopyable {
        let decoder: OpaquePointer
        let scratch: UnsafeMutablePointer<Float>
        let coded: UnsafeMutablePointer<UInt8>  // a coded frame, after the byte that the encoder omits
        let codedCapacity: Int
        let channelCount: Int
        let libraryConceals: Bool

        /// The frames of sound in each coded frame: 64.
        package var frameCount: Int { @_noLocks get { 64 } }

        /// Decodes one frame; any bytes are allowed.
        /// - Parameters:
        ///   - byteCount: 1 to 1,274. One byte cannot be decoded and gives 64 concealed frames.
        ///   - channels: channels beyond the decoder's are left unchanged.
        ///   - offset: the position of the first of the 64 frames in the channels.
        /// - Returns: 64; or a negative error code of the library, with nothing written.
        @_noLocks
        package func decode(
            _ frame: UnsafePointer<UInt8>, byteCount: Int, into channels: Channels, offset: Int
        ) -> Int {
            guard byteCount > 0, byteCount <= codedCapacity else { return Int(OPUS_INVALID_PACKET) }
            guard byteCount > 1 else { return conceal(into: channels, offset: offset) }
            for i in 0..<byteCount { coded[i &+ 1] = frame[i] }
            return finish(
                earshot_opus_custom_decode(
                    decoder, coded, Int32(truncatingIfNeeded: byteCount &+ 1), scratch,
                    Int32(truncatingIfNeeded: frameCount)),
                channels, offset)
        }

        /// Synthesizes 64 frames from the decoded signal so far. The next decoded frame joins them smoothly.
        /// - Returns: 64, or a negative error code of the library.
        @_noLocks
        package func conceal(into channels: Channels, offset: Int) -> Int {
            let length = Int32(truncatingIfNeeded: frameCount)
            if libraryConceals {
                return finish(earshot_opus_custom_decode(decoder, nil, 0, scratch, length), channels, offset)
            }
            // Repeats the last coded frame's sound, 2 dB softer each time.
            for i in 0..<frameCount &* channelCount { scratch[i] *= 0.8 }
            return finish(length, channels, offset)
        }

        @_noLocks
        private func finish(_ decoded: Int32, _ channels: Channels, _ offset: Int) -> Int {
            let count = frameCount
            guard Int(decoded) == count else { return decoded < 0 ? Int(decoded) : Int(OPUS_INTERNAL_ERROR) }
            for c in 0..<min(channelCount, channels.count) {
                let to = channels[c] + offset
                for i in 0..<count { to[i] = scratch[i &* channelCount &+ c] }
            }
            return count
        }

        /// Resets the decoder, as for a new stream.
        @_noLocks
        package func reset() {
            _ = earshot_opus_custom_reset_decoder(decoder)
            for i in 0..<frameCount &* channelCount { scratch[i] = 0 }
        }
    }
}

extension RenderCodec {
    /// Opus Custom: each coded frame is 64 frames of sound, and all coded frames of a packet have one size.
    public static var opusCustom: RenderCodec {
        RenderCodec(OpusCustomDecoder.self, payloadCapacity: 1_216, packetsAreBlocks: true)
    }
}

extension OpusCustomDecoder: RenderDecoderMaker {
    /// Creates a decoder for live sound.
    package static func makeRenderDecoder(
        sampleRate: Double, channelCount: Int
    ) throws(CodecError) -> RenderDecoder {
        let decoder = try OpusCustomDecoder(sampleRate: sampleRate, channelCount: channelCount)
        return RenderDecoder(
            OpusCustomRenderState(renderer: decoder.renderer), OpusCustomRenderState.functions, owner: decoder)
    }

    struct OpusCustomRenderState: BitwiseCopyable {
        let renderer: Renderer
        private var end = -1  // the position after the last decoded frame; -1 before the first

        init(renderer: Renderer) { self.renderer = renderer }

        /// Decodes a packet. Its header gives the number of coded frames.
        @_noLocks
        mutating func decode(_ call: DecoderCall) -> Int {
            guard let bytes = call.bytes, call.frameCount <= call.capacity else { return 0 }
            let length = renderer.frameCount
            let count = call.frameCount / length
            guard count > 0 else { return 0 }
            let size = call.byteCount / count
            if end >= 0 { followLoss((call.position &- end) / length, call.output) }
            var decodedFrames = 0
            for frame in 0..<count {
                let decoded = renderer.decode(
                    bytes + frame &* size, byteCount: size, into: call.output, offset: decodedFrames)
                guard decoded > 0 else { break }
                decodedFrames &+= decoded
            }
            end = call.position &+ decodedFrames
            return decodedFrames
        }

        /// Lets the decoder conceal lost coded frames and discards the sound, an audible linear prediction. So the next coded
        /// frame joins the decoder's state. More than eight concealed frames have no further effect on that state.
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
