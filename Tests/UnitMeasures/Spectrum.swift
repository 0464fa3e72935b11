// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A plain radix-2 transform in double precision for measurements, written for clarity rather than speed.
public enum Spectrum {
    /// Returns the complex spectrum of a real signal, bins 0 to count / 2. - Precondition: the count is a power of two.
    public static func transform(_ signal: [Double]) -> (real: [Double], imaginary: [Double]) {
        let n = signal.count
        precondition(n > 1 && n & (n - 1) == 0)
        var re = signal
        var im = [Double](repeating: 0, count: n)
        var j = 0
        for i in 1..<n {
            var bit = n >> 1
            while j & bit != 0 {
                j ^= bit
                bit >>= 1
            }
            j ^= bit
            if i < j { re.swapAt(i, j) }
        }
        var length = 2
        while length <= n {
            let half = length / 2
            for k in 0..<half {
                let c = cos(-2 * Double.pi * Double(k) / Double(length))
                let s = sin(-2 * Double.pi * Double(k) / Double(length))
                var at = k
                while at < n {
                    let x = re[at + half] * c - im[at + half] * s
                    let y = re[at + half] * s + im[at + half] * c
                    re[at + half] = re[at] - x
                    im[at + half] = im[at] - y
                    re[at] += x
                    im[at] += y
                    at += length
                }
            }
            length *= 2
        }
        return (Array(re[0...n / 2]), Array(im[0...n / 2]))
    }

    /// Returns the magnitudes of bins 0 to count / 2.
    public static func magnitudes(_ signal: [Double]) -> [Double] {
        let (re, im) = transform(signal)
        return zip(re, im).map { ($0 * $0 + $1 * $1).squareRoot() }
    }

    /// Applies a Blackman–Harris window, whose side lobes are below −92 dB.
    public static func windowed(_ signal: [Double]) -> [Double] {
        let n = Double(signal.count)
        return signal.enumerated().map { i, x in
            let p = 2 * Double.pi * Double(i) / n
            return x * (0.35875 - 0.48829 * cos(p) + 0.14128 * cos(2 * p) - 0.01168 * cos(3 * p))
        }
    }
}
