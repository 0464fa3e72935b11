// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

extension Resampler {
    /// The design of a resampler's filter. Half rate means half of the lower of both rates.
    public enum Quality: Hashable, Sendable {
        /// A variable ratio, to follow another device's clock. 256 phases, linearly interpolated; a Kaiser window of β = 10 with
        /// the cut-off at the half rate, so that frequencies just above it alias.
        /// - Parameter halfLength: the filter's length on each side in periods of the lower rate: 8 to 128, a multiple of 4. With
        ///   16 the band up to 0.4 of the rate is kept, with 32 up to 0.45; noise, images and aliases of a tone in this band are
        ///   below −100 dB. Below 16 the window has β = 8: a wider band is kept, and artefacts of a tone are below −80 dB.
        case steerable(halfLength: Int)
        /// A constant ratio. The filter has 80 periods of the lower rate on each side. It is within 0.1 dB up to 0.907 of
        /// the half rate (20 kHz at 44.1 kHz), at −6 dB at 0.954, and attenuates aliases and images by more than 100 dB from the
        /// half rate on. If the ratio is one of small whole numbers, each phase has its own row of taps; otherwise 128 phases are
        /// interpolated cubically. At equal rates samples are unchanged, without delay.
        case transparent
    }
}

/// The low-pass filter of a resampler as rows of taps, each for one position between two input frames.
///
/// The Kaiser window and its β: J. F. Kaiser, "Nonrecursive digital filter design using the I0-sinh window function", 1974.
struct ResamplerFilter: ~Copyable {
    /// The number of taps on each side of an output frame; 0 if samples are unchanged.
    let halfLength: Int
    /// The number of parts into which a frame is divided to count positions.
    let denominator: Int
    /// True if the step is variable.
    let isSteerable: Bool
    private let isCubic: Bool
    private let table: UnsafeMutablePointer<Float>  // rows of 2 * halfLength taps
    private let scratch: UnsafeMutablePointer<Float>  // the row interpolated for one output frame

    /// The number of bits for a position within a frame, which is thus counted in 2^-40 of a frame. Its top 8 (linear) or 7
    /// (cubic) bits are the number of a row. `earshot_interpolate` depends on these numbers.
    private static var fineBits: Int { @_noLocks get { 40 } }
    private static var linearBits: Int { @_noLocks get { 8 } }
    private static var cubicBits: Int { @_noLocks get { 7 } }
    /// The maximum floats of a table with a row for each phase of a rational ratio: half a megabyte.
    private static let largestTable = 1 << 17

    init(from inputRate: Double, to outputRate: Double, quality: Resampler.Quality) {
        // At a lower output rate the filter is stretched, so that the cut-off is below the new half rate.
        let stretch = max(1, inputRate / outputRate)
        let fine = 1 << Self.fineBits
        switch quality {
        case .steerable(let length):
            precondition((8...128).contains(length) && length % 4 == 0)
            halfLength = (Int((Double(length) * stretch).rounded(.up)) + 3) / 4 * 4
            denominator = fine
            isSteerable = true
            isCubic = false
            let phases = 1 << Self.linearBits
            table = Self.makeTable(halfLength, cutoff: 1 / stretch, beta: length < 16 ? 8 : 10, 0...phases, phases)
        case .transparent:
            isSteerable = false
            halfLength = inputRate == outputRate ? 0 : (Int((80 * stretch).rounded(.up)) + 7) / 8 * 8
            let phaseCount = Self.reducedDenominator(inputRate, outputRate)
            let cutoff = 0.9535 / stretch
            let beta = 11.5  // 113 dB of attenuation
            if let phaseCount, phaseCount * halfLength * 2 <= Self.largestTable {
                denominator = phaseCount
                isCubic = false
                table = Self.makeTable(halfLength, cutoff: cutoff, beta: beta, 0...phaseCount - 1, phaseCount)
            } else {
                denominator = fine
                isCubic = true
                let phases = 1 << Self.cubicBits
                table = Self.makeTable(halfLength, cutoff: cutoff, beta: beta, -1...phases + 1, phases)
            }
        }
        scratch = .allocate(capacity: max(1, 2 * halfLength))
        scratch.initialize(repeating: 0, count: max(1, 2 * halfLength))
    }

    deinit {
        table.deallocate()
        scratch.deallocate()
    }

    /// All 257 rows of a steerable filter, for `earshot_interpolate`.
    var rows: UnsafePointer<Float> { @_noLocks get { UnsafePointer(table) } }

    /// Returns the taps for an output frame `fraction` / ``denominator`` of a frame after an input frame; valid until the next
    /// call. Not for steerable filters.
    @_noLocks @inline(__always)
    func row(at fraction: Int) -> UnsafePointer<Float> {
        let taps = 2 &* halfLength
        guard isCubic else { return UnsafePointer(table + fraction &* taps) }
        let bitsBelowRow = Self.fineBits &- Self.cubicBits
        interpolateCubic(table + (fraction >> bitsBelowRow) &* taps, part(fraction, bitsBelowRow), taps)
        return UnsafePointer(scratch)
    }

    /// Returns the lower `bits` bits of a position, those below the row's number, as a fraction of 1.
    @_noLocks @inline(__always)
    private func part(_ fraction: Int, _ bits: Int) -> Float {
        Float(fraction & ((1 << bits) &- 1)) / Float(1 << bits)
    }

    /// Writes the taps at `x` of the way between two rows to `scratch`, by Lagrange's polynomial through four rows. The table's
    /// first row precedes phase 0.
    @_noLocks @inline(__always)
    private func interpolateCubic(_ from: UnsafeMutablePointer<Float>, _ x: Float, _ taps: Int) {
        let w0 = -x * (x - 1) * (x - 2) / 6
        let w1 = (x + 1) * (x - 1) * (x - 2) / 2
        let w2 = -(x + 1) * x * (x - 2) / 2
        let w3 = (x + 1) * x * (x - 1) / 6
        var k = 0
        while k < taps {
            let a = load4(from + k) * w0 + load4(from + taps + k) * w1
            let b = load4(from + 2 &* taps + k) * w2 + load4(from + 3 &* taps + k) * w3
            store4(a + b, scratch + k)
            k &+= 4
        }
    }
}

extension ResamplerFilter {
    /// Returns the denominator of `input / output` in lowest terms; nil if the rates are not whole numbers of hertz.
    private static func reducedDenominator(_ input: Double, _ output: Double) -> Int? {
        guard input == input.rounded(), output == output.rounded() else { return nil }
        var a = Int(input)
        var b = Int(output)
        while b != 0 { (a, b) = (b, a % b) }
        return Int(output) / a
    }

    /// Returns a table of rows of taps. Row r is the filter for an output frame that lies r / phases of a frame after an input
    /// frame.
    private static func makeTable(
        _ half: Int, cutoff: Double, beta: Double, _ rows: ClosedRange<Int>, _ phases: Int
    ) -> UnsafeMutablePointer<Float> {
        let taps = 2 * half
        // Rows are aligned to cache lines if the size of a row is a multiple of a cache line.
        let table = UnsafeMutableRawPointer.allocate(byteCount: 4 * max(1, rows.count * taps), alignment: 64)
            .bindMemory(to: Float.self, capacity: max(1, rows.count * taps))
        let windowScale = besselI0(beta)
        var rowTaps = [Double](repeating: 0, count: taps)
        for (n, r) in rows.enumerated() {
            let fraction = Double(r) / Double(phases)
            var sum = 0.0
            for k in 0..<taps {
                let t = Double(k - half + 1) - fraction  // distance from the output frame to this tap
                let x = t / Double(half)
                let window = abs(x) >= 1 ? 0 : besselI0(beta * (1 - x * x).squareRoot()) / windowScale
                let angle = Double.pi * t * cutoff
                rowTaps[k] = (abs(t) < 1e-12 ? 1 : earshot_sin(angle) / angle) * window
                sum += rowTaps[k]
            }
            for k in 0..<taps { (table + n * taps + k).initialize(to: Float(rowTaps[k] / sum)) }  // gain 1 at 0 Hz
        }
        return table
    }

    /// Returns the modified Bessel function of order zero, by its power series.
    static func besselI0(_ x: Double) -> Double {
        var term = 1.0
        var sum = 1.0
        var k = 1.0
        while term > sum * 1e-12 {
            term *= (x / (2 * k)) * (x / (2 * k))
            sum += term
            k += 1
        }
        return sum
    }
}
