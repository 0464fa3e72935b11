// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import Foundation

/// Formats the parameters of effect units as text.
enum ParameterFormatting {
    /// Returns the allowed values: `−24 to 24 dB`, `peak, low-shelf or notch`, `true or false`.
    static func range(_ parameter: UnitParameter) -> String {
        switch parameter.unit {
        case .choice(let names): return list(names)
        case .toggle: return "true or false"
        default:
            let symbol = parameter.unit.symbol
            let unit = symbol.isEmpty || symbol == "°" ? symbol : " " + symbol
            return "\(number(parameter.range.lowerBound)) to \(number(parameter.range.upperBound))\(unit)"
        }
    }

    /// Returns a value as in a graph file, choices by name.
    static func value(_ value: Float, of parameter: UnitParameter) -> String {
        switch parameter.unit {
        case .choice(let names): names.indices.contains(Int(value)) ? names[Int(value)] : number(value)
        case .toggle: value >= 0.5 ? "true" : "false"
        default: number(value)
        }
    }

    /// Returns a number with six significant digits; a whole number below a billion with all its digits.
    static func number(_ value: Float) -> String {
        if value == value.rounded(), abs(value) < 1e9 { return String(format: "%.0f", value) }
        return String(format: "%.6g", value)
    }

    static func list(_ names: [String]) -> String {
        guard let last = names.last, names.count > 1 else { return names.first ?? "" }
        return names.dropLast().joined(separator: ", ") + " or " + last
    }
}
