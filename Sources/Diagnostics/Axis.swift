// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A linear scale from values to pixels, with round ticks.
struct Axis {
    let values: ClosedRange<Double>
    /// The pixel of the lower bound of ``values``.
    let from: Double
    /// The pixel of the upper bound of ``values``; may be less than ``from``.
    let to: Double

    func pixel(_ value: Double) -> Double {
        from + (value - values.lowerBound) / (values.upperBound - values.lowerBound) * (to - from)
    }

    func value(_ pixel: Double) -> Double {
        values.lowerBound + (pixel - from) / (to - from) * (values.upperBound - values.lowerBound)
    }

    /// Returns round values whose pixels are at least `pixels` apart: the multiples of 1, 2 or 5 times a power of ten.
    func ticks(atLeast pixels: Double) -> [Double] {
        let least = (values.upperBound - values.lowerBound) * pixels / (to - from).magnitude
        let power = pow(10, log10(least).rounded(.down))
        let step = [1, 2, 5, 10].map { $0 * power }.first { $0 >= least * 0.999 } ?? 10 * power
        let first = (values.lowerBound / step - 1e-9).rounded(.up)
        let last = (values.upperBound / step + 1e-9).rounded(.down)
        return first <= last ? stride(from: first, through: last, by: 1).map { $0 * step } : []
    }

    /// Formats a number with as few decimal places as it needs, at most `digits`.
    static func label(_ value: Double, digits: Int = 3) -> String {
        let scale = pow(10.0, Double(digits))
        var units = Int((value.magnitude * scale).rounded())
        let sign = value < 0 && units > 0 ? "−" : ""
        var decimals = ""
        var keepsZeros = false
        for _ in 0..<digits {
            let digit = units % 10
            units /= 10
            if digit != 0 || keepsZeros {
                decimals = "\(digit)" + decimals
                keepsZeros = true
            }
        }
        return sign + "\(units)" + (decimals.isEmpty ? "" : "." + decimals)
    }
}
