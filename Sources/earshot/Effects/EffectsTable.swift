// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP

/// Formats effect units as text: one line for each unit, or one unit with all its parameters and presets.
struct EffectsTable {
    private let hasColour: Bool

    init(hasColour: Bool) { self.hasColour = hasColour }

    private func coloured(_ text: String, _ code: Int) -> String {
        hasColour ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }

    /// Returns a table with one line for each unit, and a second table of the plug-ins unless `plugIns` is nil.
    func list(_ units: [UnitDescription], plugIns: [UnitDescription]?) -> String {
        let own = rows(units.map { [$0.component.subtype ?? "", $0.summary] }, heads: ["UNIT", "WHAT IT DOES"])
        guard let plugIns else { return own.joined(separator: "\n") + "\n" }
        let others =
            plugIns.isEmpty
            ? ["No LV2 plug-ins are installed; on Debian swh-lv2 and mda-lv2 are collections of them."]
            : rows(plugIns.map { [$0.name, $0.component.subtype ?? ""] }, heads: ["LV2 PLUG-IN", "URI"])
        return (own + [""] + others).joined(separator: "\n") + "\n"
    }

    /// Returns a unit's description, parameters and presets as text.
    func details(_ unit: UnitDescription) -> String {
        var lines = [
            coloured(TerminalText.sanitized(unit.name), 1) + ": " + Self.source(unit),
            TerminalText.sanitized(unit.summary),
        ]
        if !unit.parameters.isEmpty {
            let cells = unit.parameters.map { parameter in
                [
                    parameter.identifier, parameter.name,
                    ParameterFormatting.value(parameter.defaultValue, of: parameter),
                    ParameterFormatting.range(parameter),
                ]
            }
            lines += [""] + rows(cells, heads: ["PARAMETER", "NAME", "DEFAULT", "VALUES"])
        }
        if !unit.presets.isEmpty {
            let cells = unit.presets.map { preset in
                [
                    preset.name,
                    preset.values.isEmpty
                        ? "the defaults"
                        : unit.parameters.compactMap { parameter in
                            preset.values[parameter.identifier].map {
                                "\(parameter.identifier) \(ParameterFormatting.value($0, of: parameter))"
                            }
                        }.joined(separator: ", "),
                ]
            }
            lines += [""] + rows(cells, heads: ["PRESET", "WHAT IT SETS"])
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns the fields that name a unit in a graph file.
    private static func source(_ unit: UnitDescription) -> String {
        let subtype = TerminalText.sanitized(unit.component.subtype ?? "")
        return unit.component.manufacturer == "earshot"
            ? "type = \"\(subtype)\"" : "type = \"plugin\", uri = \"\(subtype)\""
    }

    private func rows(_ rows: [[String]], heads: [String]) -> [String] {
        let rows = rows.map { $0.map(TerminalText.sanitized) }
        // A longer cell does not widen its column, so that one long name does not move the next columns off the screen.
        let limit = 40
        let widths = heads.indices.map { column in
            rows.map { $0[column].count }.filter { $0 <= limit }.reduce(heads[column].count) { max($0, $1) }
        }
        func line(_ cells: [String]) -> String {
            var line = zip(cells, widths).map { $0 + String(repeating: " ", count: max(0, $1 - $0.count)) }
                .joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }
        return [coloured(line(heads), 2)] + rows.map(line)
    }
}
