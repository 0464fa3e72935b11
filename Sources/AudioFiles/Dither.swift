// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Adds dither to sound before its samples are rounded to 16 bits: noise of triangular density, up to one step. The rounding error
/// is then noise of constant level, not distortion (Lipshitz, Wannamaker and Vanderkooy, "Quantization and
/// Dither", JAES 40, 1992).
///
/// Sound that needs no rounding stays exact: silence, and 16-bit sound that was not changed. For one thread at a time.
struct Dither {
    private let buffer: AudioBuffer
    private var state =
        SIMD8<UInt32>(0x9E37, 0x79B9, 0x7F4A, 0x7C15, 0xF39C, 0xC060, 0x5CED, 0xC834) &* 0x0001_0001 &+ 1
    /// The frames of a channel that are dithered or kept together. In sound that needs rounding, no 64 samples in a row are exact
    /// by chance.
    private static let pieceFrameCount = 64
    /// The number of 16-bit steps in a sample of 1.
    private static let steps: Float = 32_768

    /// - Parameter frameCapacity: the maximum frames of a block.
    init(channelCount: Int, frameCapacity: Int) {
        buffer = AudioBuffer(channelCount: channelCount, frameCapacity: frameCapacity)
    }

    /// Returns the block with dither, valid until the next call; nil if the whole block stays exact.
    mutating func apply(_ channels: Channels, offset: Int, frameCount: Int) -> Channels? {
        let isExact = (0..<buffer.channels.count).allSatisfy {
            Self.isExact(UnsafePointer(channels[$0]) + offset, frameCount)
        }
        if isExact { return nil }
        for c in 0..<buffer.channels.count {
            let (from, to) = (UnsafePointer(channels[c]) + offset, buffer.channels[c])
            var done = 0
            while done < frameCount {
                let count = min(Self.pieceFrameCount, frameCount - done)
                if Self.isExact(from + done, count) {
                    (to + done).update(from: from + done, count: count)
                } else {
                    add(from + done, to + done, count)
                }
                done += count
            }
        }
        return buffer.channels
    }

    /// Returns true if all samples are multiples of a 16-bit step. Only for samples below 128, beyond which all are clipped anyway.
    private static func isExact(_ samples: UnsafePointer<Float>, _ count: Int) -> Bool {
        // Adding and subtracting it rounds a number to an integer.
        let rounding: Float = 0x1.8p23
        let bytes = UnsafeRawPointer(samples)
        var i = 0
        while i &+ 8 <= count {
            let value = bytes.loadUnaligned(fromByteOffset: i &* 4, as: SIMD8<Float>.self) * steps
            guard (value + rounding) - rounding == value else { return false }
            i &+= 8
        }
        while i < count {
            let value = samples[i] * steps
            guard (value + rounding) - rounding == value else { return false }
            i &+= 1
        }
        return true
    }

    private mutating func add(_ from: UnsafePointer<Float>, _ to: UnsafeMutablePointer<Float>, _ count: Int) {
        let (source, target) = (UnsafeRawPointer(from), UnsafeMutableRawPointer(to))
        var i = 0
        while i &+ 8 <= count {
            let sample = source.loadUnaligned(fromByteOffset: i &* 4, as: SIMD8<Float>.self)
            target.storeBytes(of: sample + nextNoise(), toByteOffset: i &* 4, as: SIMD8<Float>.self)
            i &+= 8
        }
        let noise = nextNoise()
        while i < count {
            to[i] = from[i] + noise[i & 7]
            i &+= 1
        }
    }

    /// Returns eight samples of noise. Eight generators (Marsaglia, "Xorshift RNGs", 2003) run side by side; the sum of both halves
    /// of a number is triangular.
    private mutating func nextNoise() -> SIMD8<Float> {
        state ^= state &<< 13
        state ^= state &>> 17
        state ^= state &<< 5
        let sum = SIMD8<Int32>(truncatingIfNeeded: (state &>> 16) &+ (state & 0xFFFF)) &- 65_535
        return SIMD8<Float>(sum) * (1 / 65_536 / Self.steps)
    }
}
