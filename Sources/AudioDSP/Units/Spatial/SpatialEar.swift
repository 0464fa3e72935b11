// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// One ear of a listener: a variable delay, then a variable impulse response.
///
/// The delay and the output ramp linearly from the old position's to the new one's; `weight` is the share of the old position.
struct SpatialEar: BitwiseCopyable {
    private let tapCount: Int
    private let history: UnsafeMutablePointer<Float>  // the last `tapCount` delayed samples, then a piece
    private var oldTaps: UnsafeMutablePointer<Float>
    private var newTaps: UnsafeMutablePointer<Float>
    private let weights: UnsafeMutablePointer<Float>  // of the interpolation between samples
    private var oldDelay: Float = 0  // frames
    private var newDelay: Float = 0  // frames

    /// Creates a silent ear. Control thread; ``free()`` frees it.
    /// - Parameter tapCount: the taps of impulse responses, a multiple of four.
    init(tapCount: Int) {
        self.tapCount = tapCount
        history = .allocate(capacity: tapCount + SpatialKernel.piece)
        oldTaps = .allocate(capacity: tapCount)
        newTaps = .allocate(capacity: tapCount)
        weights = .allocate(capacity: SincTable.length)
        history.initialize(repeating: 0, count: tapCount + SpatialKernel.piece)
        oldTaps.initialize(repeating: 0, count: tapCount)
        newTaps.initialize(repeating: 0, count: tapCount)
        weights.initialize(repeating: 0, count: SincTable.length)
    }

    /// Frees the memory. Control thread.
    func free() {
        history.deallocate()
        oldTaps.deallocate()
        newTaps.deallocate()
        weights.deallocate()
    }

    /// Starts a ramp to a position, after the last one has ended.
    /// - Parameter side: the position toward this ear's side, −1 to 1.
    @_noLocks
    mutating func aim(at place: SpatialTarget, side: Double, head: SphericalHead, latency: Int) {
        let angle = earshot_atan2(earshot_sqrt(1 - side * side), side)
        let headShare = 1 - place.panned
        oldDelay = newDelay
        newDelay = Float(Double(latency) + head.delay(angle: angle) * headShare)
        let taps = oldTaps
        oldTaps = newTaps
        newTaps = taps
        head.write(angle: angle, gain: Float(headShare), to: taps)
        // Equal power: the squares of both ears' gains add up to 1.
        taps[tapCount - 1] += Float(place.panned * earshot_cos(0.25 * Double.pi * (1 - side)))
    }

    /// Renders frames that all belong to a ramp, or all to none.
    /// - Parameters:
    ///   - line: the source's samples, from the first of this call on; before it are at least the longest delay and 8 more
    ///     frames.
    ///   - span: the number of taps that may be nonzero, a multiple of four.
    ///   - remaining: the remaining frames of the ramp, at least `frameCount`, or 0.
    ///   - step: one divided by the ramp's length.
    ///   - frameCount: at most ``SpatialKernel/piece``.
    @_noLocks
    mutating func process(
        _ line: UnsafePointer<Float>, to output: UnsafeMutablePointer<Float>, table: SincTable, span: Int,
        remaining: Int, step: Float, frameCount: Int
    ) {
        let delayed = history + tapCount
        let skip = tapCount &- span
        if remaining == 0 {
            let wholeDelay = interpolate(newDelay, table)
            for i in 0..<frameCount { delayed[i] = dot16(line + (i &- wholeDelay &- SincTable.half)) }
            for i in 0..<frameCount { output[i] = dot(delayed + (i &+ 1 &- span), newTaps + skip, span) }
        } else {
            for i in 0..<frameCount {
                let weight = Float(remaining &- i &- 1) * step
                let wholeDelay = interpolate(newDelay + (oldDelay - newDelay) * weight, table)
                delayed[i] = dot16(line + (i &- wholeDelay &- SincTable.half))
            }
            for i in 0..<frameCount {
                let weight = Float(remaining &- i &- 1) * step
                let a = dot(delayed + (i &+ 1 &- span), oldTaps + skip, span)
                let b = dot(delayed + (i &+ 1 &- span), newTaps + skip, span)
                output[i] = b + (a - b) * weight
            }
        }
        earshot_move(history, history + frameCount, tapCount &* MemoryLayout<Float>.stride)
    }

    /// Forgets all sound.
    @_noLocks
    mutating func reset() {
        earshot_zero(history, tapCount &* MemoryLayout<Float>.stride)
    }

    /// Sets ``weights`` for the fractional part of a delay in frames. Returns the delay's whole frames.
    @_noLocks @inline(__always)
    private func interpolate(_ delay: Float, _ table: SincTable) -> Int {
        let wholeDelay = Int(delay)
        table.write(fraction: delay - Float(wholeDelay), to: weights)
        return wholeDelay
    }

    @_noLocks @inline(__always)
    private func dot16(_ x: UnsafePointer<Float>) -> Float {
        let low = load4(x) * load4(weights) + load4(x + 4) * load4(weights + 4)
        let high = load4(x + 8) * load4(weights + 8) + load4(x + 12) * load4(weights + 12)
        let s = low + high
        return (s[0] + s[2]) + (s[1] + s[3])
    }

    /// Returns the dot product, summed from the end, so that leading zeros do not change any bit of the result.
    @_noLocks @inline(__always)
    private func dot(_ x: UnsafePointer<Float>, _ h: UnsafePointer<Float>, _ count: Int) -> Float {
        var a = SIMD4<Float>(repeating: 0)
        var b = SIMD4<Float>(repeating: 0)
        var i = count
        while i >= 8 {
            i &-= 8
            a += load4(x + (i &+ 4)) * load4(h + (i &+ 4))
            b += load4(x + i) * load4(h + i)
        }
        if i > 0 { a += load4(x) * load4(h) }
        let s = a + b
        return (s[0] + s[2]) + (s[1] + s[3])
    }
}
