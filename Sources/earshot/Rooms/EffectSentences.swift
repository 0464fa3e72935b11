// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall
import Foundation

/// The sentences about the effects of the local voice.
enum EffectSentences {
    static let none = "Effects: none"
    static let noneToRestore = "No effects yet. Add one: earshot call effects set reverb"

    /// Returns the effects with the settings that differ from the defaults, and their delay.
    static func list(_ effects: EffectsDocument?) -> String {
        guard let effects else { return none }
        let delay = effects.latencyMs.map { String(format: ", delay %.1f ms", $0) } ?? ""
        return "Effects: \(effects.units.map(\.text).joined(separator: " "))\(delay)"
    }

    /// Returns the sentence about effects that cannot run; nil for another refusal, which needs none.
    static func refused(_ refusal: CommandRefusal) -> String? {
        guard case .effect = refusal else { return nil }
        return ErrorDocument(refusal).text
    }

    /// Returns a table of an effect's parameters.
    static func table(_ effect: EffectsDocument.Unit, hasColour: Bool) -> String {
        let rows = effect.parameters.map { parameter in
            [parameter.name, parameter.value + (parameter.unit.isEmpty ? "" : " \(parameter.unit)"), parameter.range]
        }
        return TextTable(["PARAMETER", "VALUE", "ALLOWED"], rows).text(hasColour: hasColour)
    }
}
