import AudioBase
import CRealtime

/// Where the samples of a tank lie and how long its fixed delays are; the same for all tanks of a unit.
struct ReverbGeometry: BitwiseCopyable {
    let lineMask: Int
    /// From ring to ring; not a power of two, lest all rings fall on the same places of the cache.
    let lineStride: Int
    let diffuserMask: Int
    let diffuserStride: Int
    /// Four stages of four all-passes, in frames.
    let diffuserLengths: UnsafeMutablePointer<Int>
    /// The four stages' longest together.
    let diffuserMemory: Int
    let preDelayMask: Int

    init(sampleRate: Double, lengths: ReverbLengths, longestPreDelay: Int) {
        // Milliseconds. Short, that they have died away before the shortest decay has; no two with a common measure.
        let times = [
            1.31, 1.49, 1.17, 1.63, 2.71, 2.39, 3.07, 2.57, 4.93, 5.41, 4.57, 5.09, 7.87, 7.13, 8.41, 7.57,
        ]
        diffuserLengths = .allocate(capacity: 16)
        var memory = 0
        for stage in 0..<4 {
            var longest = 0
            for c in 0..<4 {
                let i = stage * 4 + c
                let length = lengths.prime(from: Int(times[i] * sampleRate / 1000))
                (diffuserLengths + i).initialize(to: length)
                longest = max(longest, length)
            }
            memory += longest
        }
        diffuserMemory = memory
        lineMask = Self.mask(lengths.longest)
        lineStride = lineMask + 1 + 80
        diffuserMask = Self.mask(Int(0.01 * sampleRate))
        diffuserStride = diffuserMask + 1 + 16
        preDelayMask = Self.mask(longestPreDelay + 1)
    }

    func deallocate() { diffuserLengths.deallocate() }

    private static func mask(_ length: Int) -> Int {
        var capacity = 16
        while capacity <= length { capacity *= 2 }
        return capacity - 1
    }
}

/// What a tank makes of one frame.
struct ReverbFrame: BitwiseCopyable {
    var lateLeft: Float
    var lateRight: Float
    var earlyLeft: Float
    var earlyRight: Float
}

/// A feedback-delay network of sixteen lines for one pair of channels.
///
/// Two channels → pre-delay → four chains of four all-passes (M. R. Schroeder, 1962), two for each channel, that make a click
/// dense → sixteen lines, four a chain → absorption → a Hadamard matrix, back into the lines (J. Stautner, M. Puckette, 1982;
/// Jot & Chaigne, 1991). Each output is the sum of all lines under one of two orthogonal patterns of signs. Nothing is
/// modulated: held notes stay where they are, and the same input gives the same samples.
struct ReverbTank: BitwiseCopyable {
    private let lines: UnsafeMutablePointer<Float>  // 16 rings
    private let diffusers: UnsafeMutablePointer<Float>  // 4 stages of 4 rings
    private let preDelay: UnsafeMutablePointer<Float>  // 2 rings
    private let low: UnsafeMutablePointer<SIMD4<Float>>  // states of the low-passes, 4 vectors each
    private let high: UnsafeMutablePointer<SIMD4<Float>>
    private let geometry: ReverbGeometry

    init(geometry: ReverbGeometry) {
        self.geometry = geometry
        lines = .allocate(capacity: 16 * geometry.lineStride)
        lines.initialize(repeating: 0, count: 16 * geometry.lineStride)
        diffusers = .allocate(capacity: 16 * geometry.diffuserStride)
        diffusers.initialize(repeating: 0, count: 16 * geometry.diffuserStride)
        preDelay = .allocate(capacity: 2 * (geometry.preDelayMask + 1))
        preDelay.initialize(repeating: 0, count: 2 * (geometry.preDelayMask + 1))
        low = .allocate(capacity: 8)
        low.initialize(repeating: SIMD4(repeating: 0), count: 8)
        high = low + 4
    }

    func deallocate() {
        lines.deallocate()
        diffusers.deallocate()
        preDelay.deallocate()
        low.deallocate()
    }

    /// Silence everywhere, after `heard` frames.
    @_noLocks
    func clear(after heard: Int) {
        let inLines = min(heard, geometry.lineMask &+ 1)
        let inDiffusers = min(heard, geometry.diffuserMask &+ 1)
        for i in 0..<16 {
            clearSamples(lines + i &* geometry.lineStride, inLines)
            clearSamples(diffusers + i &* geometry.diffuserStride, inDiffusers)
        }
        let inPreDelay = min(heard, geometry.preDelayMask &+ 1)
        clearSamples(preDelay, inPreDelay)
        clearSamples(preDelay + (geometry.preDelayMask &+ 1), inPreDelay)
        for k in 0..<8 { low[k] = SIMD4(repeating: 0) }
    }

    /// One frame.
    /// - Parameters:
    ///   - gains: of ``ReverbAbsorption``.
    ///   - lowPole: the low-passes' g / (1 + g), g = tan(π f / rate).
    @_noLocks @inline(__always)
    func process(
        _ left: Float, _ right: Float, position: Int, preDelay fade: TapFade, lengths: ReverbLengths, size: TapFade,
        gains: UnsafePointer<SIMD4<Float>>, lowPole: Float, highPole: Float
    ) -> ReverbFrame {
        let v = diffuse(delayed(left, right, position, fade), position)
        let y0 = absorb(0, read(0, position, lengths, size), gains, lowPole, highPole)
        let y1 = absorb(1, read(1, position, lengths, size), gains, lowPole, highPole)
        let y2 = absorb(2, read(2, position, lengths, size), gains, lowPole, highPole)
        let y3 = absorb(3, read(3, position, lengths, size), gains, lowPole, highPole)
        mix(y0, y1, y2, y3, v, position)
        // Neither pattern is a row of the matrix, or the output would come back as one echo.
        let l =
            (y0 * SIMD4(1, -1, 1, 1) + y1 * SIMD4(-1, -1, 1, -1)) + (y2 * SIMD4(1, 1, 1, -1) + y3 * SIMD4(1, -1, -1, -1))
        let r =
            (y0 * SIMD4(1, 1, -1, 1) + y1 * SIMD4(1, -1, -1, -1)) + (y2 * SIMD4(-1, 1, 1, 1) + y3 * SIMD4(1, -1, 1, 1))
        return ReverbFrame(
            lateLeft: (l[0] + l[1]) + (l[2] + l[3]), lateRight: (r[0] + r[1]) + (r[2] + r[3]),
            earlyLeft: v[0] - v[2], earlyRight: v[1] - v[3])
    }

    @_noLocks @inline(__always)
    private func delayed(_ left: Float, _ right: Float, _ position: Int, _ fade: TapFade) -> SIMD4<Float> {
        let mask = geometry.preDelayMask
        let other = preDelay + (mask &+ 1)
        preDelay[position & mask] = left
        other[position & mask] = right
        let at = (position &- fade.current) & mask
        var l = preDelay[at]
        var r = other[at]
        if fade.isMoving {
            let next = (position &- fade.next) & mask
            l += (preDelay[next] - l) * fade.weight
            r += (other[next] - r) * fade.weight
        }
        return SIMD4(l, l, r, r)
    }

    @_noLocks @inline(__always)
    private func diffuse(_ input: SIMD4<Float>, _ position: Int) -> SIMD4<Float> {
        var v = input
        var ring = diffusers
        for stage in 0..<4 {
            let old = tap4(
                ring, geometry.diffuserStride, position, geometry.diffuserLengths + stage &* 4, geometry.diffuserMask)
            let new = kept4(v - old * 0.62)
            put4(new, ring, geometry.diffuserStride, position & geometry.diffuserMask)
            v = old + new * 0.62
            ring += 4 &* geometry.diffuserStride
        }
        return v
    }

    @_noLocks @inline(__always)
    private func read(_ group: Int, _ position: Int, _ lengths: ReverbLengths, _ size: TapFade) -> SIMD4<Float> {
        let rings = lines + 4 &* group &* geometry.lineStride
        let old = tap4(rings, geometry.lineStride, position, lengths.current + 4 &* group, geometry.lineMask)
        if !size.isMoving { return old }
        let new = tap4(rings, geometry.lineStride, position, lengths.next + 4 &* group, geometry.lineMask)
        return old + (new - old) * size.weight
    }

    @_noLocks @inline(__always)
    private func absorb(
        _ group: Int, _ x: SIMD4<Float>, _ gains: UnsafePointer<SIMD4<Float>>, _ lowPole: Float, _ highPole: Float
    ) -> SIMD4<Float> {
        let h = (x - high[group]) * highPole
        let belowHigh = h + high[group]
        high[group] = belowHigh + h
        let l = (x - low[group]) * lowPole
        let belowLow = l + low[group]
        low[group] = belowLow + l
        return gains[group] * x + (gains[4 &+ group] * belowHigh + gains[8 &+ group] * belowLow)
    }

    /// The matrix: Hadamard's of order four between the vectors, again within them (by turning rows into columns), the
    /// new sound on top.
    @_noLocks @inline(__always)
    private func mix(
        _ y0: SIMD4<Float>, _ y1: SIMD4<Float>, _ y2: SIMD4<Float>, _ y3: SIMD4<Float>, _ v: SIMD4<Float>,
        _ position: Int
    ) {
        let a0 = (y0 + y1) + (y2 + y3)
        let a1 = (y0 - y1) + (y2 - y3)
        let a2 = (y0 + y1) - (y2 + y3)
        let a3 = (y0 - y1) - (y2 - y3)
        let t0 = SIMD4(a0[0], a1[0], a2[0], a3[0])
        let t1 = SIMD4(a0[1], a1[1], a2[1], a3[1])
        let t2 = SIMD4(a0[2], a1[2], a2[2], a3[2])
        let t3 = SIMD4(a0[3], a1[3], a2[3], a3[3])
        let b0 = (t0 + t1) + (t2 + t3)
        let b1 = (t0 - t1) + (t2 - t3)
        let b2 = (t0 + t1) - (t2 + t3)
        let b3 = (t0 - t1) - (t2 - t3)
        let stride = geometry.lineStride
        let at = position & geometry.lineMask
        put4(kept4(b0 + v), lines, stride, at)
        put4(kept4(b1 - v), lines + 4 &* stride, stride, at)
        put4(kept4(b2 + v), lines + 8 &* stride, stride, at)
        put4(kept4(b3 - v), lines + 12 &* stride, stride, at)
    }

    /// One sample from each of four rings.
    @_noLocks @inline(__always)
    private func tap4(
        _ p: UnsafePointer<Float>, _ stride: Int, _ position: Int, _ delays: UnsafePointer<Int>, _ mask: Int
    ) -> SIMD4<Float> {
        SIMD4(
            p[(position &- delays[0]) & mask], p[stride &+ ((position &- delays[1]) & mask)],
            p[2 &* stride &+ ((position &- delays[2]) & mask)], p[3 &* stride &+ ((position &- delays[3]) & mask)])
    }

    @_noLocks @inline(__always)
    private func put4(_ v: SIMD4<Float>, _ p: UnsafeMutablePointer<Float>, _ stride: Int, _ at: Int) {
        p[at] = v[0]
        p[stride &+ at] = v[1]
        p[2 &* stride &+ at] = v[2]
        p[3 &* stride &+ at] = v[3]
    }

    /// As ``kept(_:)``.
    @_noLocks @inline(__always)
    private func kept4(_ v: SIMD4<Float>) -> SIMD4<Float> {
        let none = SIMD4<Float>(repeating: 0)
        return v.replacing(with: none, where: (v .< 1e-8) .& (v .> -1e-8))
    }
}
