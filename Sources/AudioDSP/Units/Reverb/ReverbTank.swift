// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

/// A feedback-delay network of sixteen lines for one pair of channels.
///
/// Two channels → pre-delay → four chains of six all-passes (M. R. Schroeder, "Natural Sounding Artificial Reverberation", JAES
/// 10, 1962), two for each channel, which make a click dense → sixteen lines, four for each chain → absorption → a Hadamard
/// matrix, back into the lines (J. Stautner, M. Puckette, "Designing Multi-Channel Reverberators", CMJ 6, 1982; Jot & Chaigne,
/// 1991). Each output is the sum of all lines with one of two orthogonal patterns of signs. Nothing is modulated: held notes keep
/// their pitch, and the same input gives the same samples.
///
/// Up to sixteen frames are processed together, in vectors of four frames, as no delay is shorter.
struct ReverbTank: BitwiseCopyable {
    private let lines: UnsafeMutablePointer<Float>  // 16 rings
    private let diffusers: UnsafeMutablePointer<Float>  // 6 stages of 4 rings
    private let preDelay: UnsafeMutablePointer<Float>  // 2 rings
    let states: UnsafeMutablePointer<SIMD4<Float>>  // of the low-passes: low and high for each of 4 groups
    private let geometry: ReverbGeometry
    private static var diffusion: Float { @_noLocks get { 0.66 } }  // the all-passes' coefficient

    init(geometry: ReverbGeometry) {
        self.geometry = geometry
        lines = Self.rings(16, geometry.lineMask)
        diffusers = Self.rings(24, geometry.diffuserMask)
        preDelay = Self.rings(2, geometry.preDelayMask)
        states = .allocate(capacity: 8)
        states.initialize(repeating: SIMD4(repeating: 0), count: 8)
    }

    private static func rings(_ count: Int, _ mask: Int) -> UnsafeMutablePointer<Float> {
        let size = count * (mask + 1 + ReverbGeometry.margin)
        let memory = UnsafeMutablePointer<Float>.allocate(capacity: size)
        memory.initialize(repeating: 0, count: size)
        return memory
    }

    func deallocate() {
        lines.deallocate()
        diffusers.deallocate()
        preDelay.deallocate()
        states.deallocate()
    }

    /// Silences all memory; clears only the part that the first `heard` frames have written.
    @_noLocks
    func clear(after heard: Int) {
        clear(lines, 16, geometry.lineMask, heard)
        clear(diffusers, 24, geometry.diffuserMask, heard)
        clear(preDelay, 2, geometry.preDelayMask, heard)
        for k in 0..<8 { states[k] = SIMD4(repeating: 0) }
    }

    @_noLocks
    private func clear(_ rings: UnsafeMutablePointer<Float>, _ count: Int, _ mask: Int, _ heard: Int) {
        for i in 0..<count {
            let ring = rings + i &* (mask &+ 1 &+ ReverbGeometry.margin)
            clearSamples(ring, min(heard &+ 4, mask &+ 1))
            clearSamples(ring + (mask &+ 1), ReverbGeometry.margin)
        }
    }

    /// Processes `count` frames from the scratch's input to its `chains` and its sums of lines. The frames must not extend beyond
    /// an aligned piece of sixteen frames, or beyond the end of a fade or of a ramp of gains.
    @_noLocks
    func process(
        _ scratch: ReverbScratch, count: Int, position: Int, preDelay fade: TapFade, size: TapFade,
        lengths: ReverbLengths, absorption: ReverbAbsorption, polesMove: Bool
    ) {
        delay(scratch, count, position, fade)
        diffuse(scratch, count, position, lengths, size)
        for group in 0..<4 {
            for line in 4 &* group..<4 &* group &+ 4 { read(line, scratch, count, position, lengths, size) }
            var f = 0
            if absorption.framesRemaining == 0 && !polesMove {
                f = count & ~3
                absorbFours(group, scratch, f, absorption)
            }
            if f < count { absorb(group, scratch, from: f, to: count, absorption) }
        }
        mix(scratch, count, position)
    }

    /// Writes the input to the pre-delay's two rings, and reads the delayed input from them into the chains' rows.
    @_noLocks
    private func delay(_ scratch: ReverbScratch, _ count: Int, _ position: Int, _ fade: TapFade) {
        let mask = geometry.preDelayMask
        let rowStride = ReverbGeometry.row
        for side in 0..<2 {
            let ring = preDelay + side &* (mask &+ 1 &+ ReverbGeometry.margin)
            let from = side == 0 ? scratch.left : scratch.right
            let chain = scratch.chains + 2 &* side &* rowStride
            let writeIndex = position & mask
            copySamples(ring + writeIndex, from, count)
            mirror(ring, writeIndex, count, mask)
            let old = ring + ((position &- fade.current) & mask)
            let new = ring + ((position &- fade.next) & mask)
            var f = 0
            while f < count {
                var v = load4(old + f)
                if fade.isMoving { v += (load4(new + f) - v) * load4(scratch.preDelayWeight + f) }
                store4(v, chain + f)
                store4(v, chain + rowStride + f)
                f &+= 4
            }
        }
    }

    /// Applies the lattice all-passes to the chains' rows in place.
    @_noLocks
    private func diffuse(
        _ scratch: ReverbScratch, _ count: Int, _ position: Int, _ lengths: ReverbLengths, _ size: TapFade
    ) {
        let mask = geometry.diffuserMask
        let writeIndex = position & mask
        for i in 0..<24 {
            let ring = diffusers + i &* (mask &+ 1 &+ ReverbGeometry.margin)
            let chain = scratch.chains + (i & 3) &* ReverbGeometry.row
            let old = ring + ((position &- lengths.current[16 &+ i]) & mask)
            let new = ring + ((position &- lengths.next[16 &+ i]) & mask)
            var f = 0
            while f < count {
                var x = load4(old + f)
                if size.isMoving { x += (load4(new + f) - x) * load4(scratch.sizeWeight + f) }
                let y = kept4(load4(chain + f) - x * Self.diffusion)
                store4(y, ring + writeIndex + f)
                store4(x + y * Self.diffusion, chain + f)
                f &+= 4
            }
            mirror(ring, writeIndex, count, mask)
        }
    }

    @_noLocks @inline(__always)
    private func read(
        _ line: Int, _ scratch: ReverbScratch, _ count: Int, _ position: Int, _ lengths: ReverbLengths, _ size: TapFade
    ) {
        let mask = geometry.lineMask
        let ring = lines + line &* (mask &+ 1 &+ ReverbGeometry.margin)
        let old = ring + ((position &- lengths.current[line]) & mask)
        let new = ring + ((position &- lengths.next[line]) & mask)
        let lineRow = scratch.lines + line &* ReverbGeometry.row
        var f = 0
        while f < count {
            var x = load4(old + f)
            if size.isMoving { x += (load4(new + f) - x) * load4(scratch.sizeWeight + f) }
            store4(x, lineRow + f)
            f &+= 4
        }
    }

    /// Copies frames that were written at a ring's beginning to the margin after its end.
    @_noLocks @inline(__always)
    private func mirror(_ ring: UnsafeMutablePointer<Float>, _ at: Int, _ count: Int, _ mask: Int) {
        if at < ReverbGeometry.chunk { copySamples(ring + (mask &+ 1 &+ at), ring + at, count) }
    }

    /// Sums the lines for the outputs, then applies the matrix (Hadamard's of order four, twice), adds the chains' new sound, and
    /// writes the result to the lines' rings.
    @_noLocks
    private func mix(_ scratch: ReverbScratch, _ count: Int, _ position: Int) {
        let rowStride = ReverbGeometry.row
        let mask = geometry.lineMask
        let stride = mask &+ 1 &+ ReverbGeometry.margin
        let ring = lines + (position & mask)
        var f = 0
        while f < count {
            sum(scratch, f)
            for k in 0..<4 {
                butterfly(scratch.lines + k &* rowStride + f, 4 &* rowStride, scratch.mixed + k &* rowStride + f)
            }
            for k in 0..<4 {
                let from = scratch.mixed + 4 &* k &* rowStride + f
                let a = load4(from)
                let b = load4(from + rowStride)
                let c = load4(from + 2 &* rowStride)
                let d = load4(from + 3 &* rowStride)
                let v0 = load4(scratch.chains + f)
                let v1 = load4(scratch.chains + rowStride + f)
                let v2 = load4(scratch.chains + 2 &* rowStride + f)
                let v3 = load4(scratch.chains + 3 &* rowStride + f)
                let sign: Float = k & 1 == 0 ? 1 : -1
                let to = ring + 4 &* k &* stride + f
                store4(kept4(((a + b) + (c + d)) + v0 * sign), to)
                store4(kept4(((a - b) + (c - d)) + v1 * sign), to + stride)
                store4(kept4(((a + b) - (c + d)) + v2 * sign), to + 2 &* stride)
                store4(kept4(((a - b) - (c - d)) + v3 * sign), to + 3 &* stride)
            }
            f &+= 4
        }
        if position & mask < ReverbGeometry.chunk {
            for i in 0..<16 { mirror(lines + i &* stride, position & mask, count, mask) }
        }
    }

    @_noLocks @inline(__always)
    private func butterfly(_ from: UnsafePointer<Float>, _ stride: Int, _ to: UnsafeMutablePointer<Float>) {
        let a = load4(from)
        let b = load4(from + stride)
        let c = load4(from + 2 &* stride)
        let d = load4(from + 3 &* stride)
        store4((a + b) + (c + d), to)
        store4((a - b) + (c - d), to + stride)
        store4((a + b) - (c + d), to + 2 &* stride)
        store4((a - b) - (c - d), to + 3 &* stride)
    }

    /// Sums the lines with two patterns of signs, for the left and the right output. Neither pattern is a row of the matrix, or
    /// its output would return as one echo.
    @_noLocks @inline(__always)
    private func sum(_ scratch: ReverbScratch, _ f: Int) {
        let rowStride = ReverbGeometry.row
        var l = SIMD4<Float>(repeating: 0)
        var r = SIMD4<Float>(repeating: 0)
        var p = scratch.lines + f
        // The signs of lines 0, 4, 8, 12 are + − + + for the left, + + − + for the right; the other lines follow.
        for k in 0..<4 {
            let a = load4(p)
            let b = load4(p + 4 &* rowStride)
            let c = load4(p + 8 &* rowStride)
            let d = load4(p + 12 &* rowStride)
            switch k {
            case 0:
                l += (a - b) + (c + d)
                r += (a + b) - (c - d)
            case 1:
                l -= (a + b) - (c - d)
                r += (a - b) + (c - d)
            case 2:
                l += (a + b) + (c - d)
                r -= (a + b) - (c + d)
            default:
                l += (a - b) - (c + d)
                r += (a - b) + (c + d)
            }
            p += rowStride
        }
        store4(l, scratch.lateLeft + f)
        store4(r, scratch.lateRight + f)
    }
}
