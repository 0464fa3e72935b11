// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// A section's coefficients, the same for each of two channels: the numbers of a ``SectionDesign``, combined so that a frame
/// needs the least number of products.
struct SectionCoefficients: BitwiseCopyable {
    var fromBand: SIMD2<Double>  // of the band-pass state in w
    var fromInput: SIMD2<Double>  // of the input, minus the low-pass state, in w
    var g: SIMD2<Double>  // of w in the low-pass state
    var direct: SIMD2<Double>  // of the input in the output
    var band: SIMD2<Double>  // of w in the output
    var low: SIMD2<Double>  // of the low-pass state in the output

    // With input x, states z1 and z2, band-pass output v1, low-pass output v2, and w = 2 v1, Simper's equations are
    //     w = 2 a (z1 + g (x - z2)),  a = 1 / (1 + g (g + k))
    //     z1' = w - z1,  z2' = z2 + g w,  v2 = z2 + g w / 2
    @_noLocks
    init(_ design: SectionDesign) {
        let a = 1 / (1 + design.g * (design.g + design.k))
        fromBand = SIMD2(2 * a, 2 * a)
        fromInput = SIMD2(2 * a * design.g, 2 * a * design.g)
        g = SIMD2(design.g, design.g)
        direct = SIMD2(design.direct, design.direct)
        let bandFactor = 0.5 * (design.band + design.low * design.g)
        band = SIMD2(bandFactor, bandFactor)
        low = SIMD2(design.low, design.low)
    }
}

/// A section's state for two channels.
struct SectionState: BitwiseCopyable {
    var band: SIMD2<Double>
    var low: SIMD2<Double>

    @_noLocks
    init() {
        band = SIMD2(0, 0)
        low = SIMD2(0, 0)
    }

    /// True if the state is inaudible: 200 dB below full scale.
    var isSilent: Bool {
        @_noLocks get {
            let limit = 1e-10
            return band[0] < limit && band[0] > -limit && band[1] < limit && band[1] > -limit
                && low[0] < limit && low[0] > -limit && low[1] < limit && low[1] > -limit
        }
    }

    /// Filters a frame of two channels.
    @_noLocks @inline(__always)
    mutating func next(_ x: SIMD2<Double>, _ c: UnsafePointer<SectionCoefficients>) -> SIMD2<Double> {
        let c = c.pointee
        let w = earshot_add2(
            earshot_multiply2(c.fromBand, band), earshot_multiply2(c.fromInput, earshot_subtract2(x, low)))
        let partialOutput = earshot_add2(earshot_multiply2(c.direct, x), earshot_multiply2(c.band, w))
        let y = earshot_add2(partialOutput, earshot_multiply2(c.low, low))
        band = earshot_subtract2(w, band)
        low = earshot_add2(low, earshot_multiply2(c.g, w))
        return y
    }
}

/// Applies sections in series to frames of two channels, in place. Up to four sections run at once: the processor has registers
/// for four states, and a single section would wait for its own last result.
struct SectionCascade: BitwiseCopyable {
    let coefficients: UnsafeMutablePointer<SectionCoefficients>
    let states: UnsafeMutablePointer<SectionState>

    @_noLocks
    init(_ coefficients: UnsafeMutablePointer<SectionCoefficients>, _ states: UnsafeMutablePointer<SectionState>) {
        self.coefficients = coefficients
        self.states = states
    }

    /// Applies the section with index `a` to `count` frames.
    @_noLocks
    func one(_ a: Int, _ frames: UnsafeMutablePointer<SIMD2<Double>>, _ count: Int) {
        let ca = UnsafePointer(coefficients + a)
        var sa = states[a]
        for i in 0..<count { frames[i] = sa.next(frames[i], ca) }
        states[a] = sa
    }

    /// Applies the sections with indices `a` and `b` to `count` frames.
    @_noLocks
    func two(_ a: Int, _ b: Int, _ frames: UnsafeMutablePointer<SIMD2<Double>>, _ count: Int) {
        let (ca, cb) = (UnsafePointer(coefficients + a), UnsafePointer(coefficients + b))
        var (sa, sb) = (states[a], states[b])
        for i in 0..<count { frames[i] = sb.next(sa.next(frames[i], ca), cb) }
        states[a] = sa
        states[b] = sb
    }

    /// Applies the sections with indices `a` to `d` to `count` frames.
    @_noLocks
    func four(_ a: Int, _ b: Int, _ c: Int, _ d: Int, _ frames: UnsafeMutablePointer<SIMD2<Double>>, _ count: Int) {
        let (ca, cb) = (UnsafePointer(coefficients + a), UnsafePointer(coefficients + b))
        let (cc, cd) = (UnsafePointer(coefficients + c), UnsafePointer(coefficients + d))
        var (sa, sb, sc, sd) = (states[a], states[b], states[c], states[d])
        for i in 0..<count {
            frames[i] = sd.next(sc.next(sb.next(sa.next(frames[i], ca), cb), cc), cd)
        }
        states[a] = sa
        states[b] = sb
        states[c] = sc
        states[d] = sd
    }
}
