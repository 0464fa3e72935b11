// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

extension Resampler {
    /// The design of a resampler's filter. Below, half rate means half of the lower of both rates.
    public enum Quality: Hashable, Sendable {
        /// The ratio may move from block to block, to follow another device's clock. 256 phases, linearly interpolated;
        /// a Kaiser window of β = 10 around a cut-off at the half rate, so that what lies just above it folds back.
        /// - Parameter halfLength: periods of the lower rate on each side, 8 to 128, a multiple of 4. 16 leaves the band to
        ///   0.4 of the rate untouched, 32 to 0.45; noise, images and aliases of a tone there lie below −100 dB. Below 16
        ///   the window is one of β = 8: more of the band is left, and what lies beside a tone below −80 dB.
        case steerable(halfLength: Int)
        /// The ratio stays. 80 periods of the lower rate on each side; within 0.1 dB up to 0.907 of the half rate (20 kHz of
        /// 44.1), 6 dB down at 0.954, and from the half rate on more than 100 dB down, aliases and images alike. Where the
        /// ratio is that of small whole numbers each phase has its own row of taps; otherwise cubic interpolation between
        /// 128. Equal rates pass unchanged, without delay.
        case transparent
    }
}

/// The low-pass filter of a resampler as rows of taps, one for each of many places between two input frames.
///
/// The Kaiser window and its β: J. F. Kaiser, "Nonrecursive digital filter design using the I0-sinh window function", 1974.
struct ResamplerFilter: ~Copyable {
    /// Taps on each side; 0 if samples pass unchanged.
    let halfLength: Int
    /// Parts of a frame that positions are counted in.
    let denominator: Int
    /// True if the step may be moved.
    let isSteerable: Bool
    private let isCubic: Bool
    private let table: UnsafeMutablePointer<Float>  // rows of 2 * halfLength
    private let scratch: UnsafeMutablePointer<Float>  // the row interpolated for one output frame

    /// Positions between rows are counted in 2^-40 of a frame, and a row is 2^-8 or 2^-7 of one; `earshot_interpolate` knows.
    private static var fineBits: Int { @_noLocks get { 40 } }
    private static var linearBits: Int { @_noLocks get { 8 } }
    private static var cubicBits: Int { @_noLocks get { 7 } }
    /// Maximum number of floats for a row per phase of a rational ratio: half a megabyte.
    private static let largestTable = 1 << 17

    init(from inputRate: Double, to outputRate: Double, quality: Resampler.Quality) {
        // When the rate falls the filter is stretched, so that the cut-off lies below the new half rate.
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
            let ratio = Self.wholeRatio(inputRate, outputRate)
            let cutoff = 0.9535 / stretch
            let beta = 11.5  // 113 dB
            if let ratio, ratio * halfLength * 2 <= Self.largestTable {
                denominator = ratio
                isCubic = false
                table = Self.makeTable(halfLength, cutoff: cutoff, beta: beta, 0...ratio - 1, ratio)
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

    /// All rows of a steerable filter, 257 of them, for `earshot_interpolate`.
    var rows: UnsafePointer<Float> { @_noLocks get { UnsafePointer(table) } }

    /// The taps for an output frame `fraction` / ``denominator`` of a frame behind an input frame; valid until the next call.
    /// Not of a steerable filter.
    @_noLocks @inline(__always)
    func row(at fraction: Int) -> UnsafePointer<Float> {
        let taps = 2 &* halfLength
        guard isCubic else { return UnsafePointer(table + fraction &* taps) }
        let below = Self.fineBits &- Self.cubicBits
        interpolateCubic(table + (fraction >> below) &* taps, part(fraction, below), taps)
        return UnsafePointer(scratch)
    }

    /// Returns the bits below a row's number, as a fraction of 1.
    @_noLocks @inline(__always)
    private func part(_ fraction: Int, _ bits: Int) -> Float {
        Float(fraction & ((1 << bits) &- 1)) / Float(1 << bits)
    }

    /// Lagrange's polynomial through four rows, of which the table's first lies before phase 0.
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
    /// The denominator of `input / output` in lowest terms; nil if the rates are no whole numbers of hertz.
    private static func wholeRatio(_ input: Double, _ output: Double) -> Int? {
        guard input == input.rounded(), output == output.rounded() else { return nil }
        var a = Int(input)
        var b = Int(output)
        while b != 0 { (a, b) = (b, a % b) }
        return Int(output) / a
    }

    /// Row r is the filter for an output r / phases of a frame behind an input frame.
    private static func makeTable(
        _ half: Int, cutoff: Double, beta: Double, _ rows: ClosedRange<Int>, _ phases: Int
    ) -> UnsafeMutablePointer<Float> {
        let taps = 2 * half
        // Rows that begin with a cache line, if a row is a whole number of them.
        let table = UnsafeMutableRawPointer.allocate(byteCount: 4 * max(1, rows.count * taps), alignment: 64)
            .bindMemory(to: Float.self, capacity: max(1, rows.count * taps))
        let top = besselI0(beta)
        var row = [Double](repeating: 0, count: taps)
        for (n, r) in rows.enumerated() {
            let fraction = Double(r) / Double(phases)
            var sum = 0.0
            for k in 0..<taps {
                let t = Double(k - half + 1) - fraction  // distance from the output frame to this tap
                let x = t / Double(half)
                let window = abs(x) >= 1 ? 0 : besselI0(beta * (1 - x * x).squareRoot()) / top
                let angle = Double.pi * t * cutoff
                row[k] = (abs(t) < 1e-12 ? 1 : earshot_sin(angle) / angle) * window
                sum += row[k]
            }
            for k in 0..<taps { (table + n * taps + k).initialize(to: Float(row[k] / sum)) }  // gain 1 at 0 Hz
        }
        return table
    }

    /// The modified Bessel function of order zero, by its power series.
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
