// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// L16: 16-bit linear PCM, big-endian and interleaved (RFC 3551, section 4.5.11), converted from and to planar Float32.
///
/// Full scale is 32,768 in both directions, so each 16-bit value survives decoding and encoding bit for bit. There is no dither,
/// which would break that; a microphone's noise is louder than the rounding error at −98 dB and dithers it already.
package enum PCMCodec {
    /// The bytes of one sample of one channel.
    package static let bytesPerSample = 2

    /// Writes frames as L16, clamped and rounded to nearest (ties to even); NaN becomes 0. Safe on the render thread.
    /// - Parameters:
    ///   - offset: the first frame to encode.
    ///   - bytes: room for `frameCount` × `channels.count` × 2 bytes, at any alignment.
    /// - Returns: the bytes written.
    @_noLocks
    package static func encode(
        _ channels: Channels, offset: Int, frameCount: Int, into bytes: UnsafeMutablePointer<UInt8>
    ) -> Int {
        let stride = channels.count &* bytesPerSample
        for c in 0..<channels.count {
            let from = channels[c] + offset
            let to = UnsafeMutableRawPointer(bytes) + c &* bytesPerSample
            if stride == bytesPerSample {  // a loop for mono alone, which the compiler vectorizes
                for i in 0..<frameCount { to.storeBytes(of: sample(from[i]), toByteOffset: 2 &* i, as: UInt16.self) }
            } else {
                for i in 0..<frameCount {
                    to.storeBytes(of: sample(from[i]), toByteOffset: stride &* i, as: UInt16.self)
                }
            }
        }
        return frameCount &* stride
    }

    /// Reads L16. An incomplete last frame is left out. Safe on the render thread.
    /// - Parameters:
    ///   - channelCount: channels in the bytes, at least 1. Those beyond the count of `channels` are left out.
    ///   - channels: with room for `byteCount / (2 × channelCount)` frames after `offset`. Channels beyond `channelCount` are
    ///     left unchanged.
    /// - Returns: the frames written.
    @_noLocks
    package static func decode(
        _ bytes: UnsafePointer<UInt8>, byteCount: Int, channelCount: Int, into channels: Channels, offset: Int
    ) -> Int {
        let stride = channelCount &* bytesPerSample
        guard stride > 0, byteCount > 0 else { return 0 }
        let frames = byteCount / stride
        for c in 0..<min(channelCount, channels.count) {
            let to = channels[c] + offset
            let from = UnsafeRawPointer(bytes) + c &* bytesPerSample
            if stride == bytesPerSample {
                for i in 0..<frames { to[i] = value(from.loadUnaligned(fromByteOffset: 2 &* i, as: UInt16.self)) }
            } else {
                for i in 0..<frames { to[i] = value(from.loadUnaligned(fromByteOffset: stride &* i, as: UInt16.self)) }
            }
        }
        return frames
    }

    /// Converts a big-endian sample, as loaded from memory, to a float.
    @_noLocks @inline(__always)
    private static func value(_ loaded: UInt16) -> Float {
        Float(Int16(bitPattern: UInt16(bigEndian: loaded))) * (1 / 32_768)
    }

    /// Converts a float to a big-endian sample. After 1.5 × 2^23 is added, the low bits of the float are the sample, rounded by
    /// the processor.
    @_noLocks @inline(__always)
    private static func sample(_ value: Float) -> UInt16 {
        let scaled = value == value ? value * 32_768 : 0
        let clamped = scaled > -32_768 ? (scaled < 32_767 ? scaled : 32_767) : -32_768
        return UInt16(truncatingIfNeeded: (clamped + 12_582_912).bitPattern).bigEndian
    }
}

extension RenderCodec {
    /// L16: 16-bit linear PCM, big-endian and interleaved (RFC 3551).
    public static var pcm: RenderCodec {
        RenderCodec(PCMCodec.self, payloadCapacity: 1_216, packetsAreBlocks: true)
    }
}

extension PCMCodec: RenderDecoderMaker {
    /// Creates a decoder for live sound.
    package static func makeRenderDecoder(
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
