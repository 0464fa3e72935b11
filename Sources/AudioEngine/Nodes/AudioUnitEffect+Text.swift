// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioPlugIns

extension AudioUnitEffect {
    fileprivate static let plugInPrefix = "lv2:"

    /// Creates an effect from a text, `NAME[:preset][,parameter=value…]`, such as `reverb:large-hall,mix=20`.
    ///
    /// NAME is the name of one of Earshot's effects, or `lv2:` and a plug-in's URI or name. Finding a plug-in may take a second.
    /// - Throws: `noUnit`, `noPreset`, `noParameter`, `wrongSetting`, or `unitFailed` for a plug-in that cannot run here.
    package static func effect(parsing text: String) throws(AudioEngineError) -> AudioUnitEffect {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        let (effect, preset) = parts[0].hasPrefix(plugInPrefix) ? try plugIn(parts[0]) : try builtIn(parts[0])
        if let preset { try effect.loadPreset(preset) }
        for part in parts.dropFirst() {
            guard let equals = part.firstIndex(of: "=") else {
                throw .wrongSetting(unit: effect.unit.name, parameter: nil, text: part)
            }
            let parameter = try effect.parameter(String(part[..<equals]))
            let word = String(part[part.index(after: equals)...])
            guard let value = parameter.information.value(parsing: word) else {
                throw .wrongSetting(unit: effect.unit.name, parameter: parameter.information, text: word)
            }
            parameter.value = value
        }
        return effect
    }

    private static func builtIn(_ text: String) throws(AudioEngineError) -> (AudioUnitEffect, preset: String?) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let types = UnitType.all.filter { $0.description.component.type == .effect }
        guard let type = types.first(where: { $0.description.isNamed(parts[0]) }) else {
            throw .noUnit(parts[0], near: nearestNames(parts[0], in: types.map(\.description.textName)))
        }
        return (AudioUnitEffect(type), parts.count > 1 ? parts[1] : nil)
    }

    /// Returns the effect of a plug-in. A URI contains colons, so the text after the last colon is a preset only if the whole
    /// text names no plug-in.
    private static func plugIn(_ text: String) throws(AudioEngineError) -> (AudioUnitEffect, preset: String?) {
        let name = String(text.dropFirst(plugInPrefix.count))
        do throws(PlugInError) {
            return (AudioUnitEffect(try PlugInCatalog.installed.plugIn(name)), nil)
        } catch {
            if let colon = name.lastIndex(of: ":"), colon != name.startIndex,
                let plugIn = try? PlugInCatalog.installed.plugIn(String(name[..<colon]))
            {
                return (AudioUnitEffect(plugIn), String(name[name.index(after: colon)...]))
            }
            if case .notFound(_, let near) = error { throw .noUnit(text, near: near.map { plugInPrefix + $0 }) }
            throw .unitFailed(node: text, reason: error.description)
        }
    }
}

extension UnitDescription {
    /// The name in an effect's text.
    package var textName: String {
        let subtype = component.subtype ?? name
        return component.manufacturer == "lv2" ? AudioUnitEffect.plugInPrefix + subtype : subtype
    }

    /// Returns true for the name in an effect's text and for the display name, ignoring case, hyphens and spaces.
    package func isNamed(_ text: String) -> Bool {
        func plain(_ name: String) -> String { name.lowercased().filter { $0 != "-" && $0 != " " } }
        return plain(text) == plain(textName) || plain(text) == plain(name)
    }

    /// Returns the text of an effect with these values, in the order of ``parameters``. Default values are left out.
    package func text(values: [Float]) -> String {
        let settings = zip(parameters, values).filter { $0.defaultValue != $1 }
        return ([textName] + settings.map { "\($0.identifier)=\($0.text(of: $1))" }).joined(separator: ",")
    }
}
