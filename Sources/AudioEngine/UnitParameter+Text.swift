// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP

/// The values of parameters as text, as in `reverb,mix=20`.
extension UnitParameter {
    /// Returns the value that a text states: a number, with or without its unit; the name of a choice; `on` or `off`. Returns nil
    /// for a text that is not a value of the parameter, such as one out of its range.
    package func value(parsing text: String) -> Float? {
        switch unit {
        case .toggle where ["on", "true"].contains(text): return 1
        case .toggle where ["off", "false"].contains(text): return 0
        case .choice(let names): if let index = names.firstIndex(of: text) { return Float(index) }
        default: break
        }
        var number = Substring(text)
        if !unit.symbol.isEmpty, number.hasSuffix(unit.symbol) {
            number = number.dropLast(unit.symbol.count)
            while number.last == " " { number.removeLast() }
        }
        guard let value = Float(number), value.isFinite, range.contains(value) else { return nil }
        return value
    }

    /// Returns the text from which ``value(parsing:)`` returns the value.
    package func text(of value: Float) -> String {
        switch unit {
        case .toggle where value == 0 || value == 1: return value == 1 ? "on" : "off"
        case .choice(let names):
            // A comma separates the settings of an effect.
            if let index = Int(exactly: value), names.indices.contains(index), !names[index].contains(",") {
                return names[index]
            }
        default: break
        }
        let text = "\(value)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// The allowed values: `0 to 100 %`, `on or off`, or the names of the choices.
    package var allowedValues: String {
        switch unit {
        case .toggle: return "on or off"
        case .choice(let names): return names.joined(separator: ", ")
        default:
            let symbol = unit.symbol.isEmpty ? "" : " \(unit.symbol)"
            return "\(text(of: range.lowerBound)) to \(text(of: range.upperBound))\(symbol)"
        }
    }
}
