// SPDX-License-Identifier: Apache-2.0

import CEarshotOpus
import EarshotAudioBase

/// Decodes Opus (RFC 6716) to planar audio at 48 kHz and conceals lost packets.
///
/// This object owns the memory; create and free it on the control thread. Decode with ``renderer``.
public final class OpusDecoder: Sendable {
    /// The frames of the longest packet: 120 ms.
    public static let maximumFrameCount = 5_760

    /// The number of channels, 1 or 2. The codec converts packets with the other channel count.
    public let channelCount: Int
    /// The handle for decoding. It must not outlive the decoder.
    public let renderer: Renderer

    /// - Throws: ``CodecError/unsupportedFormat(codec:detail:)`` unless `channelCount` is 1 or 2.
    public init(channelCount: Int) throws(CodecError) {
        guard (1...2).contains(channelCount) else { throw .opus("\(channelCount) channels; supported: 1 or 2") }
        var code: Int32 = 0
        guard let decoder = opus_decoder_create(48_000, Int32(channelCount), &code) else {
            throw .libraryFailure(codec: "Opus", call: "opus_decoder_create", code: Int(code))
        }
        let scratch = UnsafeMutablePointer<Float>.allocate(capacity: Self.maximumFrameCount * channelCount)
        scratch.initialize(repeating: 0, count: Self.maximumFrameCount * channelCount)
        let byteCount = Int(opus_decoder_get_size(Int32(channelCount)))
        self.channelCount = channelCount
        renderer = Renderer(
            decoder: decoder, scratch: scratch, channelCount: channelCount,
            saved: .allocate(byteCount: byteCount, alignment: 16), savedByteCount: Int32(byteCount))
    }

    deinit {
        opus_decoder_destroy(renderer.decoder)
        renderer.scratch.deallocate()
        renderer.saved.deallocate()
    }
}

extension OpusDecoder {
    // Unchecked: only one thread at a time uses the decoder's state, as documented.
    /// A handle for decoding. For one thread at a time; every method is safe on the render thread.
    public struct Renderer: @unchecked Sendable, BitwiseCopyable {
        let decoder: OpaquePointer
        let scratch: UnsafeMutablePointer<Float>
        let channelCount: Int
        /// A copy of the decoder's state.
        let saved: UnsafeMutableRawPointer
        let savedByteCount: Int32

        /// Decodes a packet; any bytes are allowed.
        /// - Parameters:
        ///   - packet: nil to conceal exactly `frameCount` frames.
        ///   - channels: channels beyond the decoder's are left unchanged.
        ///   - offset: the position of the first frame in the channels.
        ///   - frameCount: the room after `offset`; for concealment a multiple of 120, since the codec works in steps of 2.5 ms.
        /// - Returns: the frames written; or a negative error code of the library, with nothing written: −1 for a `frameCount`
        ///   that cannot be concealed, −2 for a packet longer than the room, −4 for a packet that is not Opus.
        @_noLocks
        public func decode(
            _ packet: UnsafePointer<UInt8>?, byteCount: Int, into channels: Channels, offset: Int, frameCount: Int
        ) -> Int {
            if packet != nil && (byteCount <= 0 || byteCount > 65_536) { return Int(OPUS_INVALID_PACKET) }
            let room = min(frameCount, OpusDecoder.maximumFrameCount)
            if packet == nil && (room <= 0 || room != frameCount || room % 120 != 0) { return Int(OPUS_BAD_ARG) }
            if room <= 0 { return Int(OPUS_BUFFER_TOO_SMALL) }
            let frames = Int(
                earshot_opus_decode(
                    decoder, packet, packet == nil ? 0 : Int32(truncatingIfNeeded: byteCount), scratch,
                    Int32(truncatingIfNeeded: room)))
            return give(frames, to: channels, offset: offset)
        }

        /// Copies decoded frames to the channels; returns their number, or a negative error code if there are none.
        @_noLocks
        private func give(_ frames: Int, to channels: Channels, offset: Int) -> Int {
            guard frames > 0 else { return frames == 0 ? Int(OPUS_INVALID_PACKET) : frames }
            for c in 0..<min(channelCount, channels.count) {
                let to = channels[c] + offset
                if channelCount == 1 {
                    copySamples(to, scratch, frames)
                } else {
                    for i in 0..<frames { to[i] = scratch[i &* channelCount &+ c] }
                }
            }
            return frames
        }

        /// Conceals `frameCount` frames, a multiple of 120 up to 5,760, with a continuation of the decoded signal.
        /// - Returns: `frameCount`, or a negative error code: −1 for any other number.
        @_noLocks
        public func conceal(into channels: Channels, offset: Int, frameCount: Int) -> Int {
            decode(nil, byteCount: 0, into: channels, offset: offset, frameCount: frameCount)
        }

        /// Returns true if a packet also carries a coarse copy of the previous packet, by the flag of its first frame (RFC 6716,
        /// 4.2.4), whose bits stand uncoded at the beginning. Considers packets of one frame of 10 or 20 ms; other packets have
        /// no usable copy.
        @_noLocks
        package func carriesEarlier(_ packet: UnsafePointer<UInt8>, byteCount: Int) -> Bool {
            guard byteCount >= 2, packet[0] & 3 == 0 else { return false }
            let configuration = packet[0] >> 3
            guard configuration < 16, configuration >= 12 || configuration & 3 < 2 else { return false }
            let isStereo = packet[0] & 4 != 0
            return packet[1] & 0x40 != 0 || isStereo && packet[1] & 0x10 != 0
        }

        /// Recovers the frames before a packet from its coarse copy of them (in-band FEC, RFC 6716, 2.1.7). If the packet has
        /// none, the frames are concealed. The packet itself is then decoded as usual.
        /// - Parameters:
        ///   - packet: the first packet after the lost ones.
        ///   - frameCount: the number of lost frames, a multiple of 120. Frames beyond a packet's length are concealed first.
        /// - Returns: `frameCount`; or a negative error code of the library, with nothing written.
        @_noLocks
        package func recover(
            before packet: UnsafePointer<UInt8>, byteCount: Int, into channels: Channels, offset: Int, frameCount: Int
        ) -> Int {
            guard byteCount > 0, byteCount <= 65_536 else { return Int(OPUS_INVALID_PACKET) }
            guard frameCount > 0, frameCount <= OpusDecoder.maximumFrameCount, frameCount % 120 == 0 else {
                return Int(OPUS_BAD_ARG)
            }
            let frames = Int(
                earshot_opus_decode_fec(
                    decoder, packet, Int32(truncatingIfNeeded: byteCount), scratch,
                    Int32(truncatingIfNeeded: frameCount)))
            return give(frames, to: channels, offset: offset)
        }

        /// Returns the number of frames that a packet decodes to, or a negative error code if it is not Opus. Reads only the
        /// first bytes.
        @_noLocks
        package func frameCount(of packet: UnsafePointer<UInt8>, byteCount: Int) -> Int {
            guard byteCount > 0, byteCount <= 65_536 else { return Int(OPUS_INVALID_PACKET) }
            return Int(earshot_opus_frames(packet, Int32(truncatingIfNeeded: byteCount), 48_000))
        }

        /// Copies the decoder's state, for ``restore()``.
        @_noLocks
        func save() { earshot_opus_copy_decoder(saved, UnsafeRawPointer(decoder), savedByteCount) }

        /// Sets the decoder to the state of the last ``save()``.
        @_noLocks
        func restore() { earshot_opus_copy_decoder(UnsafeMutableRawPointer(decoder), saved, savedByteCount) }

        /// Resets the decoder, as for a new stream.
        @_noLocks
        package func reset() { _ = earshot_opus_reset_decoder(decoder) }
    }
}

extension RenderCodec {
    /// Opus (RFC 6716). It conceals losses itself and may carry copies of earlier packets.
    public static var opus: RenderCodec { RenderCodec(OpusDecoder.self, payloadCapacity: 1_280, sampleRate: 48_000) }
}

extension OpusDecoder: RenderDecoderMaker {
    /// Creates a decoder for live sound.
    package static func makeRenderDecoder(
        sampleRate: Double, channelCount: Int
    ) throws(CodecError) -> RenderDecoder {
        let decoder = try OpusDecoder(channelCount: channelCount)
        return RenderDecoder(OpusRenderState(renderer: decoder.renderer), OpusRenderState.functions, owner: decoder)
    }

    struct OpusRenderState: BitwiseCopyable {
        let renderer: Renderer
        private var concealedCount = 0  // the pieces concealed since the last packet
        private var end = Int.min  // the position after the last packet
        private var lastIsTransformed = false  // the last packet has only the transform coder

        /// The maximum pieces concealed in a row. The transform coder replaces the sixth lost frame, and all after it, by noise,
        /// which begins like a click; a piece of an unusual length has two frames.
        private static var concealedLimit: Int { @_noLocks get { 4 } }

        init(renderer: Renderer) { self.renderer = renderer }

        @_noLocks
        mutating func decode(_ call: DecoderCall) -> Int {
            guard let bytes = call.bytes else { return 0 }
            let isTransformed = call.byteCount > 0 && bytes[0] >> 3 >= 16
            if call.position == end {
                // The packet was only late: no sound is missing before it, and the decoder must not have concealed any.
                if concealedCount > 0 { renderer.restore() }
            } else if concealedCount == 0, isTransformed != lastIsTransformed {
                // The decoder would conceal 5 ms in its former mode, after sound that was not its own.
                renderer.reset()
            }
            concealedCount = 0
            lastIsTransformed = isTransformed
            let frames = renderer.decode(
                bytes, byteCount: call.byteCount, into: call.output, offset: 0, frameCount: call.capacity)
            end = call.position &+ max(0, frames)
            return frames
        }

        @_noLocks
        mutating func conceal(_ call: DecoderCall) -> Int {
            let concealable = call.frameCount / 120 &* 120
            guard concealable > 0, concealedCount < Self.concealedLimit else { return 0 }
            if concealedCount == 0 { renderer.save() }
            concealedCount &+= 1
            return renderer.conceal(into: call.output, offset: 0, frameCount: concealable)
        }

        @_noLocks
        mutating func undoConcealment() {
            if concealedCount > 0 { renderer.restore() }
            concealedCount = 0
        }

        @_noLocks
        func carriesPrevious(_ call: DecoderCall) -> Bool {
            guard let bytes = call.bytes else { return false }
            return renderer.carriesEarlier(bytes, byteCount: call.byteCount)
        }

        @_noLocks
        mutating func recoverPrevious(_ call: DecoderCall) -> Int {
            guard let bytes = call.bytes, call.frameCount <= call.capacity else { return 0 }
            (concealedCount, end) = (0, call.position)
            return renderer.recover(
                before: bytes, byteCount: call.byteCount, into: call.output, offset: 0, frameCount: call.frameCount)
        }

        @_noLocks
        mutating func reset() {
            renderer.reset()
            (concealedCount, end) = (0, .min)
        }

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
                undoConcealment: { $0.assumingMemoryBound(to: OpusRenderState.self).pointee.undoConcealment() },
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
