// SPDX-License-Identifier: Apache-2.0

/// A seeded generator (SplitMix64, Steele, Lea and Flood 2014), for reproducible random numbers. Safe on the render thread.
@frozen
package struct SeededRandom: RandomNumberGenerator, BitwiseCopyable, Sendable {
    @usableFromInline var state: UInt64

    /// - Parameter seed: the same seed gives the same numbers.
    @inlinable @_noLocks
    package init(seed: UInt64) { state = seed }

    /// Returns the next number.
    @inlinable @_noLocks
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Returns a uniformly distributed number in 0 ..< 1.
    @inlinable @_noLocks
    package mutating func unit() -> Double { Double(next() >> 11) / Double(1 << 53) }
}
