// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import EarshotAudioEngine

/// The effects of the local voice.
public struct CallEffectsDescription: Hashable, Sendable {
    /// The effects in the order of processing: their names, and the names, units and ranges of their parameters.
    public var units: [UnitDescription]
    /// The value of each parameter of each effect, in the order of ``units`` and of their parameters.
    public var values: [[Float]]
    /// The delay that the effects add, in seconds.
    public var latency: Double

    /// The display names of the effects.
    package var names: [String] { units.map(\.name) }

    /// The texts of the effects for ``LiveCallCommand/setEffects(_:)``.
    package var texts: [String] { zip(units, values).map { $0.text(values: $1) } }

    /// Returns the index of the effect with a number from 1, or of the first effect with a name; nil if there is none.
    func index(of effect: String) -> Int? {
        if let number = Int(effect) { return units.indices.contains(number - 1) ? number - 1 : nil }
        return units.firstIndex { $0.isNamed(effect) }
    }
}
