// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// A section's factors, once for each of two channels: from ``SectionDesign``, with the least number of products.
struct SectionCoefficients: BitwiseCopyable {
    var fromBand: SIMD2<Double>
    var fromInput: SIMD2<Double>
    var g: SIMD2<Double>
    var direct: SIMD2<Double>
    var band: SIMD2<Double>
    var low: SIMD2<Double>

    // With v1 and v2 the band-pass and low-pass outputs and w = 2 v1, Simper's equations are
    //     w = 2 a (z1 + g (x - z2)),  a = 1 / (1 + g (g + k))
    //     z1' = w - z1,  z2' = z2 + g w,  v2 = z2 + g w / 2
    @_noLocks
    init(_ design: SectionDesign) {
        let a = 1 / (1 + design.g * (design.g + design.k))
        fromBand = SIMD2(2 * a, 2 * a)
        fromInput = SIMD2(2 * a * design.g, 2 * a * design.g)
        g = SIMD2(design.g, design.g)
        direct = SIMD2(design.direct, design.direct)
        let heard = 0.5 * (design.band + design.low * design.g)
        band = SIMD2(heard, heard)
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

    /// Returns true if the remaining signal is inaudible: 200 dB below full scale.
    var isSilent: Bool {
        @_noLocks get {
            let least = 1e-10
            return band[0] < least && band[0] > -least && band[1] < least && band[1] > -least
                && low[0] < least && low[0] > -least && low[1] < least && low[1] > -least
        }
    }

    @_noLocks @inline(__always)
    mutating func next(_ x: SIMD2<Double>, _ c: UnsafePointer<SectionCoefficients>) -> SIMD2<Double> {
        let c = c.pointee
        let w = earshot_add2(
            earshot_multiply2(c.fromBand, band), earshot_multiply2(c.fromInput, earshot_subtract2(x, low)))
        let heard = earshot_add2(earshot_multiply2(c.direct, x), earshot_multiply2(c.band, w))
        let y = earshot_add2(heard, earshot_multiply2(c.low, low))
        band = earshot_subtract2(w, band)
        low = earshot_add2(low, earshot_multiply2(c.g, w))
        return y
    }
}

/// Applies sections in series to frames of two channels, in place. Four at once: the processor has registers for the state of
/// four, and a single one would wait for its own last result.
struct SectionCascade: BitwiseCopyable {
    let coefficients: UnsafeMutablePointer<SectionCoefficients>
    let states: UnsafeMutablePointer<SectionState>

    @_noLocks
    init(_ coefficients: UnsafeMutablePointer<SectionCoefficients>, _ states: UnsafeMutablePointer<SectionState>) {
        self.coefficients = coefficients
        self.states = states
    }

    @_noLocks
    func one(_ a: Int, _ frames: UnsafeMutablePointer<SIMD2<Double>>, _ count: Int) {
        let ca = UnsafePointer(coefficients + a)
        var sa = states[a]
        for i in 0..<count { frames[i] = sa.next(frames[i], ca) }
        states[a] = sa
    }

    @_noLocks
    func two(_ a: Int, _ b: Int, _ frames: UnsafeMutablePointer<SIMD2<Double>>, _ count: Int) {
        let (ca, cb) = (UnsafePointer(coefficients + a), UnsafePointer(coefficients + b))
        var (sa, sb) = (states[a], states[b])
        for i in 0..<count { frames[i] = sb.next(sa.next(frames[i], ca), cb) }
        states[a] = sa
        states[b] = sb
    }

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
