// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The sound pressure on a rigid sphere under a plane wave, relative to that in free field: the sum over Legendre polynomials and
/// spherical Hankel functions (Kuhn, J. Acoust. Soc. Am. 62, 1977, p. 157; Duda and Martens, J. Acoust. Soc. Am. 104, 1998, p.
/// 3048, for a source at infinity). The Hankel functions are computed by their closed, finite sums, with no recurrence in common
/// with the measured unit.
public enum SphereReference {
    /// Metres.
    public static let radius = 0.0875
    /// Metres per second.
    public static let speedOfSound = 343.0

    /// Returns the level in dB at an angle from the source.
    public static func level(hertz: Double, degrees: Double) -> Double {
        let (re, im) = response(hertz: hertz, degrees: degrees)
        return 10 * log10(re * re + im * im)
    }

    /// Returns phase delays in seconds, positive if later than at the centre in free field, unwrapped from low frequencies up.
    public static func phaseDelays(_ hertz: [Double], degrees: Double) -> [Double] {
        var phase = 0.0
        var at = 0.0
        return hertz.map { target in
            while at < target {
                at = min(target, at + 20)
                let (re, im) = response(hertz: at, degrees: degrees)
                let turn = (atan2(im, re) - phase) / (2 * Double.pi)
                phase += 2 * Double.pi * (turn - turn.rounded())
            }
            return -phase / (2 * Double.pi * target)
        }
    }

    /// Woodworth's interaural time difference for a source at this lateral angle: (a / c)(θ + sin θ).
    public static func woodworth(lateralDegrees: Double) -> Double {
        let angle = lateralDegrees * Double.pi / 180
        return radius / speedOfSound * (angle + sin(angle))
    }

    /// Returns the complex pressure for a wave e^iωt.
    public static func response(hertz: Double, degrees: Double) -> (re: Double, im: Double) {
        let x = 2 * Double.pi * hertz * radius / speedOfSound
        let cosine = cos(degrees * Double.pi / 180)
        var sum = (re: 0.0, im: 0.0)
        var legendre = (1.0, cosine)
        for n in 0..<Int(x + 15 + 4 * cbrt(x)) {
            // hₙ' = hₙ₋₁ − (n + 1) hₙ / x; h₋₁ = −i h₀ for the second kind.
            let h = hankel(n, x)
            var before = (re: h.im, im: -h.re)
            if n > 0 { before = hankel(n - 1, x) }
            let slope = (re: before.re - Double(n + 1) / x * h.re, im: before.im - Double(n + 1) / x * h.im)
            // (2n + 1) iⁿ⁻¹ Pₙ / (x² hₙ'), from the Wronskian of j and h.
            let factor = Double(2 * n + 1) * legendre.0 / (x * x * (slope.re * slope.re + slope.im * slope.im))
            let turn = Double.pi / 2 * Double(n - 1)
            let term = (re: slope.re * factor, im: -slope.im * factor)
            sum.re += term.re * cos(turn) - term.im * sin(turn)
            sum.im += term.re * sin(turn) + term.im * cos(turn)
            legendre = (
                legendre.1, (Double(2 * n + 3) * cosine * legendre.1 - Double(n + 1) * legendre.0) / Double(n + 2)
            )
        }
        return sum
    }

    /// The spherical Hankel function of the second kind: iⁿ⁺¹ e⁻ⁱˣ / x Σ (n + k)! / (k! (n − k)!) (2ix)⁻ᵏ.
    private static func hankel(_ n: Int, _ x: Double) -> (re: Double, im: Double) {
        var sum = (re: 0.0, im: 0.0)
        var term = 1.0
        for k in 0...n {
            switch k % 4 {
            case 0: sum.re += term
            case 1: sum.im -= term
            case 2: sum.re -= term
            default: sum.im += term
            }
            term *= Double((n + k + 1) * (n - k)) / (Double(k + 1) * 2 * x)
        }
        let angle = Double.pi / 2 * Double(n + 1) - x
        return (
            (sum.re * cos(angle) - sum.im * sin(angle)) / x, (sum.re * sin(angle) + sum.im * cos(angle)) / x
        )
    }
}
