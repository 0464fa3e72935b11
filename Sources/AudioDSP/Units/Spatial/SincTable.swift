// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// Interpolation between samples at any fraction of a frame, by sixteen taps: a sinc with a Kaiser window (β = 7). Up to 0.72 of
/// half the rate, the error is below −60 dB of the signal.
struct SincTable: BitwiseCopyable {
    /// The taps of an interpolation.
    static var length: Int { @_noLocks get { 16 } }
    /// The number of taps on each side of the output's position.
    static var half: Int { @_noLocks get { 8 } }
    private static var phases: Int { @_noLocks get { 256 } }
    private let rows: UnsafeMutablePointer<Float>  // the taps of 257 phases

    /// Computes the table. Control thread; ``free()`` frees it.
    init() {
        rows = .allocate(capacity: (Self.phases + 1) * Self.length)
        for phase in 0...Self.phases {
            let taps = (0..<Self.length).map { i in
                let t = Double(Self.half - i) - Double(phase) / Double(Self.phases)
                let u = t / Double(Self.half)
                return Self.sinc(t) * Self.bessel(7 * max(0, 1 - u * u).squareRoot())
            }
            // The taps are normalized so that a constant input keeps its level exactly.
            let sum = taps.reduce(0, +)
            for i in 0..<Self.length { rows[phase * Self.length + i] = Float(taps[i] / sum) }
        }
    }

    /// Frees the memory. Control thread.
    func free() { rows.deallocate() }

    /// Writes the weights that delay a signal by `fraction` of a frame, for the samples from 8 frames before to 7 frames after
    /// the undelayed sample.
    /// - Parameter fraction: 0..<1.
    @_noLocks @inline(__always)
    func write(fraction: Float, to weights: UnsafeMutablePointer<Float>) {
        let place = fraction * Float(Self.phases)
        let phase = Int(place)
        let part = place - Float(phase)
        let a = rows + phase &* Self.length
        let b = a + Self.length
        var i = 0
        while i < Self.length {
            let low = load4(a + i)
            store4(low + (load4(b + i) - low) * part, weights + i)
            i &+= 4
        }
    }

    private static func sinc(_ t: Double) -> Double {
        abs(t) < 1e-9 ? 1 : earshot_sin(Double.pi * t) / (Double.pi * t)
    }

    /// Returns the modified Bessel function of order 0, by its power series.
    private static func bessel(_ x: Double) -> Double {
        var sum = 1.0
        var term = 1.0
        for k in 1...40 {
            term *= (x / 2 / Double(k)) * (x / 2 / Double(k))
            sum += term
        }
        return sum
    }
}
