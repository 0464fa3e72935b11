// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP

/// Prints docs/units.md: every built-in unit with its parameters and presets, as the units describe themselves.
@main struct Example {
    static func main() {
        print(head)
        for type in UnitType.all {
            let unit = type.description
            let made = type.makeUnit(sampleRate: 48_000, channelCount: 2)
            let subtype = unit.component.subtype ?? ""
            print("\n## \(unit.name)\n\n\(unit.summary)\n")
            let kind = unit.component.type?.rawValue ?? "any"
            print("`\(subtype)` (\(kind)); \(sound(made)). \(measured[subtype] ?? "")")
            print("\n| Parameter | | Range | At first |\n| --- | --- | --- | --- |")
            for parameter in unit.parameters { print(row(parameter)) }
            if unit.presets.isEmpty { continue }
            print("\n| Preset | |\n| --- | --- |")
            for preset in unit.presets { print("| `\(preset.name)` | \(words(preset, unit)) |") }
        }
    }

    static let head = """
        # Units

        What each unit does, its parameters and presets. This page is printed by the units themselves
        (`scripts/examples --write`); `scripts/examples` fails where it is not true. Plug-ins of others come beside these:
        [plugins.md](plugins.md). How a unit is put into a graph: [engine.md](engine.md).

        Delay is at 48 kHz. What is measured of a unit, with its limits and what it is compared with, is printed by
        `scripts/bench units`; a topic alone by `scripts/bench units TOPIC`.
        """

    static let measured = [
        "equalizer": topic("equalizer"), "compressor": topic("compressor"), "limiter": topic("limiter"),
        "delay": topic("delay"), "reverb": topic("reverb"), "spatializer": topic("spatial"),
        "generator": topic("generator"), "voice-changer": topic("voice-changer"), "gain": topic("kernels"),
    ]
    static func topic(_ name: String) -> String { "Measured by `scripts/bench units \(name)`." }

    static func sound(_ unit: UnitInstance) -> String {
        let delay = unit.latency == 0 ? "no delay" : "\(unit.latency) frames of delay"
        return unit.outputChannelCount == unit.inputChannelCount ? delay : "two channels out, \(delay)"
    }

    static func row(_ parameter: UnitParameter) -> String {
        let range =
            switch parameter.unit {
            case .toggle: "off or on"
            case .choice(let names): names.joined(separator: ", ")
            default: "\(number(parameter.range.lowerBound)) to \(with(parameter.range.upperBound, parameter.unit))"
            }
        let first = with(parameter.defaultValue, parameter.unit)
        return "| `\(parameter.identifier)` | \(parameter.name) | \(range) | \(first) |"
    }

    static func words(_ preset: UnitPreset, _ unit: UnitDescription) -> String {
        let changed = zip(unit.parameters, unit.values(of: preset)).filter { $0.defaultValue != $1 }
        let values = changed.map { "`\($0.identifier)` \(with($1, $0.unit))" }
        return values.isEmpty ? "as at first" : values.joined(separator: ", ")
    }

    static func with(_ value: Float, _ unit: UnitParameter.Unit) -> String {
        switch unit {
        case .toggle: value == 0 ? "off" : "on"
        case .choice(let names): names[Int(value)]
        case .degrees: "\(number(value))°"
        default: unit.symbol.isEmpty ? number(value) : "\(number(value)) \(unit.symbol)"
        }
    }

    static func number(_ value: Float) -> String {
        let rounded = (value * 10_000).rounded() / 10_000
        let text = rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
        return text.hasPrefix("-") ? "−\(text.dropFirst())" : text
    }
}
