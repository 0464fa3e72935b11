// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import Foundation

/// The report of `effects --json`. The manual page documents its fields, which must not change.
struct EffectsReport: Codable {
    struct Parameter: Codable {
        var identifier: String
        var name: String
        /// The symbol of the unit of measurement, such as `dB`; empty if there is none.
        var unit: String
        var minimum: Float
        var maximum: Float
        var `default`: Float
        /// The names of the values 0, 1, 2 and so on; nil if the parameter is not a choice.
        var choices: [String]?
        var isToggle: Bool
    }
    struct Preset: Codable {
        var name: String
        /// The values of parameters by identifier. All other parameters have their default values.
        var values: [String: Float]
    }
    struct Unit: Codable {
        /// The name in graph files; for an LV2 plug-in its URI.
        var subtype: String
        var type: String
        var manufacturer: String
        var name: String
        var summary: String
        var parameters: [Parameter]
        var presets: [Preset]

        init(_ unit: UnitDescription) {
            subtype = unit.component.subtype ?? unit.name
            type = unit.component.type?.rawValue ?? ""
            manufacturer = unit.component.manufacturer ?? ""
            name = unit.name
            summary = unit.summary
            parameters = unit.parameters.map { parameter in
                var choices: [String]?
                if case .choice(let names) = parameter.unit { choices = names }
                return Parameter(
                    identifier: parameter.identifier, name: parameter.name, unit: parameter.unit.symbol,
                    minimum: parameter.range.lowerBound, maximum: parameter.range.upperBound,
                    default: parameter.defaultValue, choices: choices, isToggle: parameter.unit == .toggle)
            }
            presets = unit.presets.map { Preset(name: $0.name, values: $0.values) }
        }
    }

    var earshot = CallReport.version
    var units: [Unit]

    init(_ units: [UnitDescription]) { self.units = units.map(Unit.init) }
}
