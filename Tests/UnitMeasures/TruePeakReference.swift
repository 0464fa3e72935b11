// SPDX-License-Identifier: Apache-2.0

import Glibc

/// True peak at sixteen times the sample rate, in double precision: 512 taps per phase with a Kaiser window, flat to 0.493 of the
/// sample rate. White noise has peaks that only filters of this length find.
public enum TruePeakReference {
    private static let half = 256
    private static let folds = 16
    private static let rows: [[SIMD8<Double>]] = (0..<folds).map { phase in
        func bessel(_ x: Double) -> Double {
            var term = 1.0
            var sum = 1.0
            var k = 1.0
            while term > sum * 1e-14 {
                term *= (x / (2 * k)) * (x / (2 * k))
                sum += term
                k += 1
            }
            return sum
        }
        let taps = (0..<2 * half).map { k -> Double in
            let t = Double(k - half + 1) - Double(phase) / Double(folds)
            let x = t / Double(half)
            let window = abs(x) >= 1 ? 0 : bessel(8 * (1 - x * x).squareRoot()) / bessel(8)
            return (t == 0 ? 1 : sin(Double.pi * t) / (Double.pi * t)) * window
        }
        return stride(from: 0, to: 2 * half, by: 8).map { at in SIMD8((0..<8).map { taps[at + $0] }) }
    }

    /// Returns the largest magnitude, relative to full scale. The signal is silent before and after.
    public static func peak(_ signal: [Float]) -> Double {
        let padded =
            [Double](repeating: 0, count: 2 * half) + signal.map(Double.init) + [Double](repeating: 0, count: 2 * half)
        var top = 0.0
        padded.withUnsafeBufferPointer { samples in
            rows.withUnsafeBufferPointer { rows in
                for at in 0..<(samples.count - 2 * half) {
                    let from = UnsafeRawPointer(samples.baseAddress! + at)
                    for row in rows {
                        var sum = SIMD8<Double>()
                        for k in 0..<row.count {
                            sum += row[k] * from.loadUnaligned(fromByteOffset: 64 * k, as: SIMD8<Double>.self)
                        }
                        top = max(top, abs(sum.sum()))
                    }
                }
            }
        }
        return top
    }
}
