// SPDX-License-Identifier: Apache-2.0

import CEarshotOpus
import EarshotAudioBase

/// Decodes what ``OpusCustomEncoder`` makes, and conceals what is missing.
///
/// The object owns the memory and is made and freed on the control thread; ``renderer`` does the work.
package final class OpusCustomDecoder: Sendable {
    /// 1 or 2, as the encoder's.
    package let channelCount: Int
    /// The working side; must not outlive the decoder.
    package let renderer: Renderer

    private let mode: OpusCustomMode

    /// - Parameters:
    ///   - sampleRate: 44,100 or 48,000 hertz, as the encoder's.
    ///   - channelCount: 1 or 2, as the encoder's.
    /// - Throws: ``CodecError/unsupportedFormat(codec:detail:)`` for values outside these.
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
        // The encoder omits these: all bands, the mode's whole frame (both 0), and bit 2 for two channels.
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
    // Unchecked: the state has one user at a time, by contract.
    /// A handle to decode with. One thread at a time; every method is render-safe.
    package struct Renderer: @unchecked Sendable, BitwiseCopyable {
        let decoder: OpaquePointer
        let scratch: UnsafeMutablePointer<Float>
        let coded: UnsafeMutablePointer<UInt8>  // one byte more, before the frame
        let codedCapacity: Int
        let channelCount: Int
        let libraryConceals: Bool

        /// Frames of sound that each frame decodes to: 64.
        package var frameCount: Int { @_noLocks get { 64 } }

        /// Decodes one frame, any bytes at all.
        /// - Parameters:
        ///   - byteCount: 1 to 1,274; of one byte nothing can be decoded, and 64 frames are made up.
        ///   - channels: those above the decoder's count are left alone.
        ///   - offset: where in the channels the first of 64 frames goes.
        /// - Returns: 64, or, with nothing written, a negative code of the library to be counted.
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

        /// Makes up 64 frames from what was decoded before. What is decoded next joins them.
        /// - Returns: 64, or a negative code of the library.
        @_noLocks
        package func conceal(into channels: Channels, offset: Int) -> Int {
            let length = Int32(truncatingIfNeeded: frameCount)
            if libraryConceals {
                return finish(earshot_opus_custom_decode(decoder, nil, 0, scratch, length), channels, offset)
            }
            // The last frame again, 2 dB softer each time.
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

        /// Resets the codec's state, as for a new stream.
        @_noLocks
        package func reset() {
            _ = earshot_opus_custom_reset_decoder(decoder)
            for i in 0..<frameCount &* channelCount { scratch[i] = 0 }
        }
    }
}

extension RenderCodec {
    /// Frames of Opus Custom, each 64 of sound and all of a packet of one size.
    public static var opusCustom: RenderCodec {
        RenderCodec(OpusCustomDecoder.self, payloadCapacity: 1_216, packetsAreBlocks: true)
    }
}

extension OpusCustomDecoder: RenderDecoderMaker {
    /// Makes a decoder for live sound.
    package static func makeRenderDecoder(
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

        /// Decodes a packet, whose header gives the number of frames.
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
