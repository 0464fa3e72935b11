// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The transfer functions of R. Bristow-Johnson's Audio EQ Cookbook in double precision, as the reference for the equalizer,
/// which shares no code with it.
public struct Cookbook: Sendable {
    /// The numerator's coefficients, divided by the denominator's first.
    public var b: (Double, Double, Double)
    /// The denominator's second and third coefficients, divided by its first.
    public var a: (Double, Double)

    /// - Parameters:
    ///   - type: one of the equalizer's choices.
    ///   - frequency: hertz, below half of `rate`.
    ///   - gain: dB.
    public init(_ type: String, frequency: Double, gain: Double, q: Double, rate: Double) {
        let w = 2 * Double.pi * frequency / rate
        let (c, alpha) = (cos(w), sin(w) / (2 * q))
        let g = pow(10, gain / 40)
        let r = 2 * g.squareRoot() * alpha
        let n: (Double, Double, Double)
        var d = (1 + alpha, -2 * c, 1 - alpha)
        switch type {
        case "low-pass": n = ((1 - c) / 2, 1 - c, (1 - c) / 2)
        case "high-pass": n = ((1 + c) / 2, -(1 + c), (1 + c) / 2)
        case "band-pass": n = (alpha, 0, -alpha)
        case "notch": n = (1, -2 * c, 1)
        case "all-pass": n = (1 - alpha, -2 * c, 1 + alpha)
        case "peak":
            n = (1 + alpha * g, -2 * c, 1 - alpha * g)
            d = (1 + alpha / g, -2 * c, 1 - alpha / g)
        case "low-shelf":
            n = (
                g * ((g + 1) - (g - 1) * c + r), 2 * g * ((g - 1) - (g + 1) * c), g * ((g + 1) - (g - 1) * c - r)
            )
            d = ((g + 1) + (g - 1) * c + r, -2 * ((g - 1) + (g + 1) * c), (g + 1) + (g - 1) * c - r)
        case "high-shelf":
            n = (
                g * ((g + 1) + (g - 1) * c + r), -2 * g * ((g - 1) + (g + 1) * c), g * ((g + 1) + (g - 1) * c - r)
            )
            d = ((g + 1) - (g - 1) * c + r, 2 * ((g - 1) - (g + 1) * c), (g + 1) - (g - 1) * c - r)
        default: preconditionFailure("no shape is called \(type)")
        }
        b = (n.0 / d.0, n.1 / d.0, n.2 / d.0)
        a = (d.1 / d.0, d.2 / d.0)
    }

    /// Returns the response at a frequency of `w` radians per frame.
    public func response(_ w: Double) -> (real: Double, imaginary: Double) {
        let (c1, s1, c2, s2) = (cos(w), -sin(w), cos(2 * w), -sin(2 * w))
        let n = (b.0 + b.1 * c1 + b.2 * c2, b.1 * s1 + b.2 * s2)
        let d = (1 + a.0 * c1 + a.1 * c2, a.0 * s1 + a.1 * s2)
        let power = d.0 * d.0 + d.1 * d.1
        return ((n.0 * d.0 + n.1 * d.1) / power, (n.1 * d.0 - n.0 * d.1) / power)
    }

    /// Applies the difference equation directly.
    public func filter(_ input: [Double]) -> [Double] {
        var (x1, x2, y1, y2) = (0.0, 0.0, 0.0, 0.0)
        return input.map { x in
            let y = b.0 * x + b.1 * x1 + b.2 * x2 - a.0 * y1 - a.1 * y2
            (x2, x1, y2, y1) = (x1, x, y1, y)
            return y
        }
    }
}
