// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The recent frames of several channels, by frame number. Each sample is written twice, so that any range can be read in one
/// piece.
struct MirrorRing: ~Copyable {
    /// The number of frames minus one.
    let mask: Int
    private let channelCount: Int
    private let memory: UnsafeMutablePointer<Float>

    init(channelCount: Int, frameCount: Int) {
        var size = 64
        while size < frameCount { size *= 2 }
        mask = size - 1
        self.channelCount = channelCount
        memory = .allocate(capacity: 2 * size * channelCount)
        memory.initialize(repeating: 0, count: 2 * size * channelCount)
    }

    deinit { memory.deallocate() }

    @_noLocks @inline(__always)
    func write(_ x: Float, at frame: Int, channel: Int) {
        let p = memory + (2 &* (mask &+ 1) &* channel &+ (frame & mask))
        p[0] = x
        p[mask &+ 1] = x
    }

    /// Returns a pointer to a channel's samples from frame number `frame` on.
    @_noLocks @inline(__always)
    func samples(from frame: Int, channel: Int) -> UnsafePointer<Float> {
        UnsafePointer(memory + (2 &* (mask &+ 1) &* channel &+ (frame & mask)))
    }

    @_noLocks
    func clear() { clearSamples(memory, 2 &* (mask &+ 1) &* channelCount) }
}

/// Returns the sum of the products of `count` samples of `a` and `b`.
@_noLocks @inline(__always)
func dotProduct(_ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, _ count: Int) -> Float {
    var s = SIMD4<Float>(repeating: 0)
    var t = SIMD4<Float>(repeating: 0)
    var i = 0
    while i &+ 8 <= count {
        s += load4(a + i) * load4(b + i)
        t += load4(a + (i &+ 4)) * load4(b + (i &+ 4))
        i &+= 8
    }
    s += t
    var sum = (s[0] + s[1]) + (s[2] + s[3])
    while i < count {
        sum += a[i] * b[i]
        i &+= 1
    }
    return sum
}

/// Returns the greatest whole number that is not above `x`.
@_noLocks @inline(__always)
func wholeBelow(_ x: Double) -> Int {
    let i = Int(x)
    return Double(i) > x ? i &- 1 : i
}
