// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import EarshotAudioEngine

/// The effects of the local voice as JSON.
package struct EffectsDocument: Codable, Equatable, Sendable {
    /// A parameter of an effect.
    package struct Parameter: Codable, Equatable, Sendable {
        /// The name for commands.
        package var name: String
        /// The value for commands, without its unit.
        package var value: String
        /// The symbol of the unit, such as `dB`; empty if there is none.
        package var unit: String
        /// The allowed values as text.
        package var range: String
    }

    /// An effect.
    package struct Unit: Codable, Equatable, Sendable {
        /// The name for commands.
        package var name: String
        /// The text that creates the effect with its present values.
        package var text: String
        package var parameters: [Parameter]

        init(_ unit: UnitDescription, _ values: [Float]) {
            name = unit.textName
            text = unit.text(values: values)
            parameters = zip(unit.parameters, values).map { parameter, value in
                Parameter(
                    name: parameter.identifier, value: parameter.text(of: value), unit: parameter.unit.symbol,
                    range: parameter.allowedValues)
            }
        }
    }

    /// The display names.
    package var names: [String]
    package var latencyMs: Double?
    /// The effects in the order of processing.
    package var units: [Unit]

    init(_ effects: CallEffectsDescription) {
        names = effects.names
        latencyMs = CallJSON.milliseconds(effects.latency)
        units = zip(effects.units, effects.values).map { Unit($0, $1) }
    }
}
