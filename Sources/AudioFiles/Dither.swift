// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Adds dither to sound before its samples are rounded to 16 bits: noise of triangular density, up to one step, by which the
/// rounding error becomes noise of constant level in place of distortion (Lipshitz, Wannamaker and Vanderkooy, "Quantization and
/// Dither", JAES 40, 1992).
///
/// A block of a channel that needs no rounding stays exact: 16-bit sound that was not changed, and silence. For one thread at a
/// time.
struct Dither {
    private let buffer: AudioBuffer
    private var state: UInt64 = 1
    /// The number of 16-bit steps in a sample of 1.
    private static let steps: Float = 32_768

    /// - Parameter frameCapacity: the maximum frames of a block.
    init(channelCount: Int, frameCapacity: Int) {
        buffer = AudioBuffer(channelCount: channelCount, frameCapacity: frameCapacity)
    }

    /// Returns the block with dither, valid until the next call.
    mutating func apply(_ channels: Channels, offset: Int, frameCount: Int) -> Channels {
        for c in 0..<buffer.channels.count {
            let (from, to) = (UnsafePointer(channels[c]) + offset, buffer.channels[c])
            if Self.isExact(from, frameCount) {
                to.update(from: from, count: frameCount)
            } else {
                add(from, to, frameCount)
            }
        }
        return buffer.channels
    }

    /// Returns true if all samples are multiples of a 16-bit step.
    private static func isExact(_ samples: UnsafePointer<Float>, _ count: Int) -> Bool {
        var i = 0
        while i < count {
            let value = samples[i] * steps
            guard value == value.rounded(.toNearestOrEven) else { return false }
            i &+= 1
        }
        return true
    }

    private mutating func add(_ from: UnsafePointer<Float>, _ to: UnsafeMutablePointer<Float>, _ count: Int) {
        var i = 0
        while i < count {
            // The linear congruential generator of Knuth's MMIX. Its upper bits are two uniform numbers, whose sum is triangular.
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let sum = Int32(truncatingIfNeeded: state &>> 48) &+ Int32(truncatingIfNeeded: state &>> 32 & 0xFFFF)
            to[i] = from[i] + Float(sum &- 65_535) * (1 / 65_536 / Self.steps)
            i &+= 1
        }
    }
}
