// SPDX-License-Identifier: Apache-2.0

// Each output sample is computed by the same operations in the same order, wherever a block begins; only the sums for meters
// depend on the division into blocks. All functions are inlinable, so that they become vector code in the caller's module too.
// Explicit vectors are used where the compiler would first compare the buffers' addresses in a plain loop.

/// Adds samples times a gain to the output. Safe on the render thread. The buffers must not overlap.
@_noLocks @inlinable
public func addSamples(
    _ to: UnsafeMutablePointer<Float>, _ from: UnsafePointer<Float>, _ count: Int, gain: Float
) {
    var i = 0
    while i &+ 16 <= count {
        let (target, source) = (to + i, from + i)
        let factor = SIMD4(repeating: gain)
        storeFour(loadFour(target) + loadFour(source) * factor, target)
        storeFour(loadFour(target + 4) + loadFour(source + 4) * factor, target + 4)
        storeFour(loadFour(target + 8) + loadFour(source + 8) * factor, target + 8)
        storeFour(loadFour(target + 12) + loadFour(source + 12) * factor, target + 12)
        i &+= 16
    }
    while i < count {
        to[i] += from[i] * gain
        i &+= 1
    }
}

/// Adds samples times a linearly ramped gain to the output. Safe on the render thread. The buffers must not overlap.
/// - Parameters:
///   - gain: the gain before the ramp's first frame.
///   - step: the increment of the gain; frame n of the ramp, from 1, has `gain + n * step`.
///   - past: the frames of the ramp in earlier calls, so that blocks can be divided anywhere. A ramp has less than 2^24 frames.
@_noLocks @inlinable
public func addSamples(
    _ to: UnsafeMutablePointer<Float>, _ from: UnsafePointer<Float>, _ count: Int, gain: Float, step: Float,
    past: Int = 0
) {
    var n = Float(past)
    var i = 0
    // Two vectors count the frames. With only one, each four frames would wait for the addition of the four before: 1.28 times
    // the time of C on an AMD EPYC. Both count in whole numbers, so the results have the same bits.
    var low = SIMD4(n + 1, n + 2, n + 3, n + 4)
    var high = low + 4
    let (start, steps) = (SIMD4(repeating: gain), SIMD4(repeating: step))
    let vectorizedCount = count & ~7
    while i < vectorizedCount {
        let (target, source) = (to + i, from + i)
        storeFour(loadFour(target) + loadFour(source) * (start + low * steps), target)
        storeFour(loadFour(target + 4) + loadFour(source + 4) * (start + high * steps), target + 4)
        low += 8
        high += 8
        i &+= 8
    }
    n += Float(i)
    while i < count {
        n += 1
        to[i] += from[i] * (gain + n * step)
        i &+= 1
    }
}

/// Writes samples times a gain. Safe on the render thread. The buffers are the same, or must not overlap.
@_noLocks @inlinable
public func scaleSamples(
    _ to: UnsafeMutablePointer<Float>, _ from: UnsafePointer<Float>, _ count: Int, gain: Float
) {
    let factor = SIMD4(repeating: gain)
    let vectorizedCount = count & ~15
    var i = 0
    while i < vectorizedCount {
        let (target, source) = (to + i, from + i)
        let (a, b) = (loadFour(source) * factor, loadFour(source + 4) * factor)
        let (c, d) = (loadFour(source + 8) * factor, loadFour(source + 12) * factor)
        storeFour(a, target)
        storeFour(b, target + 4)
        storeFour(c, target + 8)
        storeFour(d, target + 12)
        i &+= 16
    }
    while i < count {
        to[i] = from[i] * gain
        i &+= 1
    }
}

/// Writes samples times a linearly ramped gain. Safe on the render thread. The buffers are the same, or must not overlap.
/// - Parameters:
///   - gain: the gain before the ramp's first frame.
///   - step: the increment of the gain; frame n of the ramp, from 1, has `gain + n * step`.
///   - past: the frames of the ramp in earlier calls.
@_noLocks @inlinable
public func scaleSamples(
    _ to: UnsafeMutablePointer<Float>, _ from: UnsafePointer<Float>, _ count: Int, gain: Float, step: Float,
    past: Int = 0
) {
    var n = Float(past)
    var i = 0
    // Two vectors count the frames, as in ``addSamples(_:_:_:gain:step:past:)``.
    var low = SIMD4(n + 1, n + 2, n + 3, n + 4)
    var high = low + 4
    let (start, steps) = (SIMD4(repeating: gain), SIMD4(repeating: step))
    let vectorizedCount = count & ~7
    while i < vectorizedCount {
        let (target, source) = (to + i, from + i)
        storeFour(loadFour(source) * (start + low * steps), target)
        storeFour(loadFour(source + 4) * (start + high * steps), target + 4)
        low += 8
        high += 8
        i &+= 8
    }
    n += Float(i)
    while i < count {
        n += 1
        to[i] = from[i] * (gain + n * step)
        i &+= 1
    }
}

/// Adds any number of inputs, each times its gain, to the output. Safe on the render thread.
///
/// The result has the same bits as one ``addSamples(_:_:_:gain:)`` after another, in the order of the inputs. The sums of 32
/// frames stay in registers until all inputs are added.
/// - Parameters:
///   - to: the output, which must not overlap an input.
///   - inputs: as many pointers as `inputCount`.
///   - gains: one gain for each input.
///   - offset: the first frame of each input.
@_noLocks @inlinable
package func mixSamples(
    _ to: UnsafeMutablePointer<Float>, _ inputs: UnsafePointer<UnsafeMutablePointer<Float>>,
    _ gains: UnsafePointer<Float>, inputCount: Int, offset: Int = 0, _ count: Int
) {
    var i = 0
    while i &+ 32 <= count {
        let target = to + i
        var (a, b) = (loadFour(target), loadFour(target + 4))
        var (c, d) = (loadFour(target + 8), loadFour(target + 12))
        var (e, f) = (loadFour(target + 16), loadFour(target + 20))
        var (g, h) = (loadFour(target + 24), loadFour(target + 28))
        for k in 0..<inputCount {
            let from = UnsafePointer(inputs[k]) + offset + i
            let gain = SIMD4(repeating: gains[k])
            a += loadFour(from) * gain
            b += loadFour(from + 4) * gain
            c += loadFour(from + 8) * gain
            d += loadFour(from + 12) * gain
            e += loadFour(from + 16) * gain
            f += loadFour(from + 20) * gain
            g += loadFour(from + 24) * gain
            h += loadFour(from + 28) * gain
        }
        storeFour(a, target)
        storeFour(b, target + 4)
        storeFour(c, target + 8)
        storeFour(d, target + 12)
        storeFour(e, target + 16)
        storeFour(f, target + 20)
        storeFour(g, target + 24)
        storeFour(h, target + 28)
        i &+= 32
    }
    if i == count { return }
    for k in 0..<inputCount { addSamples(to + i, inputs[k] + offset + i, count &- i, gain: gains[k]) }
}

/// Loads four samples from an unaligned address.
@_noLocks @inlinable @inline(__always)
func loadFour(_ p: UnsafePointer<Float>) -> SIMD4<Float> { SIMD4(p[0], p[1], p[2], p[3]) }

/// Stores four samples to an unaligned address.
@_noLocks @inlinable @inline(__always)
func storeFour(_ v: SIMD4<Float>, _ p: UnsafeMutablePointer<Float>) {
    p[0] = v[0]
    p[1] = v[1]
    p[2] = v[2]
    p[3] = v[3]
}

/// Returns the greatest magnitude; 0 without samples. Safe on the render thread.
@_noLocks @inlinable
public func peakOfSamples(_ from: UnsafePointer<Float>, _ count: Int) -> Float {
    var (top, otherTop) = (SIMD4<Float>(repeating: 0), SIMD4<Float>(repeating: 0))
    var i = 0
    while i &+ 8 <= count {
        let x = magnitudeOfFour(loadFour(from + i))
        let y = magnitudeOfFour(loadFour(from + i + 4))
        top = top.replacing(with: x, where: x .> top)
        otherTop = otherTop.replacing(with: y, where: y .> otherTop)
        i &+= 8
    }
    top = top.replacing(with: otherTop, where: otherTop .> top)
    var peak = top[0] > top[1] ? top[0] : top[1]
    peak = top[2] > peak ? top[2] : peak
    peak = top[3] > peak ? top[3] : peak
    while i < count {
        let magnitude = from[i] < 0 ? -from[i] : from[i]
        peak = magnitude > peak ? magnitude : peak
        i &+= 1
    }
    return peak
}

/// Returns the greatest magnitude and the sum of the squares in one pass, for meters. Safe on the render thread.
@_noLocks @inlinable
package func peakAndEnergyOfSamples(_ from: UnsafePointer<Float>, _ count: Int) -> (peak: Float, energy: Float) {
    var (top, otherTop) = (SIMD4<Float>(repeating: 0), SIMD4<Float>(repeating: 0))
    var (evenSums, oddSums) = (top, top)
    var i = 0
    while i &+ 8 <= count {
        let x = loadFour(from + i)
        let y = loadFour(from + i + 4)
        let (a, b) = (magnitudeOfFour(x), magnitudeOfFour(y))
        top = top.replacing(with: a, where: a .> top)
        otherTop = otherTop.replacing(with: b, where: b .> otherTop)
        evenSums += x * x
        oddSums += y * y
        i &+= 8
    }
    top = top.replacing(with: otherTop, where: otherTop .> top)
    evenSums += oddSums
    var peak = top[0] > top[1] ? top[0] : top[1]
    peak = top[2] > peak ? top[2] : peak
    peak = top[3] > peak ? top[3] : peak
    var sum = (evenSums[0] + evenSums[1]) + (evenSums[2] + evenSums[3])
    while i < count {
        let magnitude = from[i] < 0 ? -from[i] : from[i]
        peak = magnitude > peak ? magnitude : peak
        sum += from[i] * from[i]
        i &+= 1
    }
    return (peak, sum)
}

/// Returns true if every sample of a block is finite. The samples are summed first: a finite sum proves that all are finite.
/// Otherwise each sample is checked, because large finite samples can also overflow the sum. Safe on the render thread.
@_noLocks @inlinable
package func areSamplesFinite(_ channels: Channels, _ count: Int) -> Bool {
    if isSumFinite(channels, count) { return true }
    for channel in 0..<channels.count {
        let from = UnsafePointer(channels[channel])
        var i = 0
        while i < count {
            if !from[i].isFinite { return false }
            i &+= 1
        }
    }
    return true
}

/// Returns true if the sum of all samples is finite, which proves that every sample is finite.
@_noLocks @inlinable
func isSumFinite(_ channels: Channels, _ count: Int) -> Bool {
    var (a, b) = (SIMD4<Float>(repeating: 0), SIMD4<Float>(repeating: 0))
    var (c, d) = (a, b)
    var sum: Float = 0
    for channel in 0..<channels.count {
        let from = UnsafePointer(channels[channel])
        var i = 0
        while i &+ 16 <= count {
            let x = from + i
            a += loadFour(x)
            b += loadFour(x + 4)
            c += loadFour(x + 8)
            d += loadFour(x + 12)
            i &+= 16
        }
        while i < count {
            sum += from[i]
            i &+= 1
        }
    }
    a = (a + b) + (c + d)
    return (sum + (a[0] + a[1]) + (a[2] + a[3])).isFinite
}

/// Returns the magnitudes of four samples.
@_noLocks @inlinable @inline(__always)
func magnitudeOfFour(_ x: SIMD4<Float>) -> SIMD4<Float> {
    SIMD4(
        Float(bitPattern: x[0].bitPattern & 0x7FFF_FFFF), Float(bitPattern: x[1].bitPattern & 0x7FFF_FFFF),
        Float(bitPattern: x[2].bitPattern & 0x7FFF_FFFF), Float(bitPattern: x[3].bitPattern & 0x7FFF_FFFF))
}

/// Returns the sum of the squares. Safe on the render thread.
@_noLocks @inlinable
package func energyOfSamples(_ from: UnsafePointer<Float>, _ count: Int) -> Float {
    var (evenSums, oddSums) = (SIMD4<Float>(repeating: 0), SIMD4<Float>(repeating: 0))
    var i = 0
    while i &+ 8 <= count {
        let x = loadFour(from + i)
        let y = loadFour(from + i + 4)
        evenSums += x * x
        oddSums += y * y
        i &+= 8
    }
    evenSums += oddSums
    var sum = (evenSums[0] + evenSums[1]) + (evenSums[2] + evenSums[3])
    while i < count {
        sum += from[i] * from[i]
        i &+= 1
    }
    return sum
}
