// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The effects of the local voice.
extension LiveCallCore {
    /// Replaces the effects; nil for none.
    mutating func setEffects(_ effects: PreparedEffects?) {
        guard effects != nil || next.effects != nil else { return }
        next.effects = effects?.description
        act(.media(.setEffects(effects)))
        notify(.effects(next.effects))
    }

    /// Changes a parameter of a present effect.
    mutating func setParameter(_ name: String, of effect: String, to text: String) throws(CommandRefusal) {
        guard let effects = next.effects, let index = effects.index(of: effect) else {
            throw .effect(.noUnit(effect, near: nearestNames(effect, in: next.effects?.units.map(\.textName) ?? [])))
        }
        let unit = effects.units[index]
        guard let parameter = unit.index(of: name) else {
            let near = nearestNames(name, in: unit.parameters.map(\.identifier))
            throw .effect(.noParameter(unit: unit.name, name: name, near: near))
        }
        guard let value = unit.parameters[parameter].value(parsing: text) else {
            throw .effect(.wrongSetting(unit: unit.name, parameter: unit.parameters[parameter], text: text))
        }
        guard value != effects.values[index][parameter] else { return }
        next.effects?.values[index][parameter] = value
        act(.media(.setEffectParameter(parameter, ofEffect: index, to: value)))
        notify(.effects(next.effects))
    }
}
