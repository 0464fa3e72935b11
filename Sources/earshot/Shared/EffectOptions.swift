// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioEngine
import EarshotAudioPlugIns

/// The option for effects of the local voice, shared by `host`, `join` and `monitor`.
struct EffectOptions: ParsableArguments {
    @Option(
        name: .lettered("effect"),
        help: ArgumentHelp(
            "Apply an effect to the voice: NAME[:preset][,parameter=value…], such as reverb:large-hall,mix=20. LV2 plug-in: lv2:URI. Repeat to chain.",
            valueName: "effect"))
    var descriptions: [String] = []

    func validate() throws { _ = try effects() }

    /// Returns new effects, in order.
    func effects() throws -> [AudioUnitEffect] { try descriptions.map { try EffectParser.effect($0) } }
}

/// Parses the value of `--effect`.
enum EffectParser {
    /// - Throws: `ValidationError` with the problem, the nearest names and ranges.
    static func effect(_ text: String) throws -> AudioUnitEffect {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        let (effect, preset) = parts[0].hasPrefix("lv2:") ? try plugIn(parts[0]) : try own(parts[0])
        if let preset {
            do {
                try effect.loadPreset(preset)
            } catch { throw ValidationError("--effect \(text): \(ErrorText.text(error))") }
        }
        for part in parts.dropFirst() {
            guard let equals = part.firstIndex(of: "=") else {
                throw ValidationError("--effect \(text): '\(part)' is not parameter=value")
            }
            let (name, word) = (String(part[..<equals]), String(part[part.index(after: equals)...]))
            let parameter: AudioParameter
            do {
                parameter = try effect.parameter(name)
            } catch { throw ValidationError("--effect \(text): \(ErrorText.text(error))") }
            guard let value = value(word, parameter.information) else {
                throw ValidationError(
                    "--effect \(text): \(name) must be \(range(parameter.information)), not '\(word)'")
            }
            parameter.value = value
        }
        return effect
    }

    private static func own(_ words: String) throws -> (AudioUnitEffect, preset: String?) {
        let parts = words.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let types = UnitType.all.filter { $0.description.component.type == .effect }
        func name(_ type: UnitType) -> String { type.description.component.subtype ?? type.description.name }
        func plain(_ name: String) -> String { name.lowercased().filter { $0 != "-" } }
        guard let type = types.first(where: { plain(name($0)) == plain(parts[0]) }) else {
            let names = types.map(name)
            let near = nearestNames(parts[0], in: names)
            throw ValidationError(
                "--effect: there is no effect '\(parts[0])'; "
                    + (near.isEmpty
                        ? "there are \(names.sorted().joined(separator: ", "))"
                        : "did you mean \(near.map { "'\($0)'" }.joined(separator: " or "))?"))
        }
        return (AudioUnitEffect(type), parts.count > 1 ? parts[1] : nil)
    }

    /// Returns the effect of a plug-in by its URI. A URI contains colons, so the text after the last colon is a preset only if
    /// the whole text is not the URI of a plug-in.
    private static func plugIn(_ words: String) throws -> (AudioUnitEffect, preset: String?) {
        let name = String(words.dropFirst("lv2:".count))
        do throws(PlugInError) {
            return (effect(try PlugInCatalog.installed.plugIn(name)), nil)
        } catch {
            if let colon = name.lastIndex(of: ":"), colon != name.startIndex,
                let plugIn = try? PlugInCatalog.installed.plugIn(String(name[..<colon]))
            {
                return (effect(plugIn), String(name[name.index(after: colon)...]))
            }
            throw ValidationError("--effect: \(ErrorText.text(error))")
        }
    }

    private static func effect(_ plugIn: PlugIn) -> AudioUnitEffect {
        AudioUnitEffect(unit: plugIn.description) { try plugIn.makeUnit(sampleRate: $0, channelCount: $1) }
    }

    /// Returns the parameter's value that a text states; nil if the text is invalid for the parameter.
    private static func value(_ word: String, _ parameter: UnitParameter) -> Float? {
        switch parameter.unit {
        case .toggle where ["on", "off", "true", "false"].contains(word): return ["on", "true"].contains(word) ? 1 : 0
        case .choice(let names): if let index = names.firstIndex(of: word) { return Float(index) }
        default: break
        }
        guard let value = Float(word), value.isFinite, parameter.range.contains(value) else { return nil }
        return value
    }

    private static func range(_ parameter: UnitParameter) -> String {
        switch parameter.unit {
        case .toggle: return "on or off"
        case .choice(let names): return names.joined(separator: ", ")
        default:
            func words(_ value: Float) -> String { value == value.rounded() ? "\(Int(value))" : "\(value)" }
            let symbol = parameter.unit.symbol.isEmpty ? "" : " \(parameter.unit.symbol)"
            return "\(words(parameter.range.lowerBound)) to \(words(parameter.range.upperBound))\(symbol)"
        }
    }
}
