// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioPlugIns

struct EffectsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "effects", abstract: "List the effects, or one with its parameters and presets.",
        discussion: """
            The names are what graph files of `earshot render` take. With the name of one its parameters are listed with their
            ranges, units, defaults and choices, and its presets.
            """)

    @Argument(
        help: ArgumentHelp("The effect; or a plug-in by its URI, with --plugins also by its name.", valueName: "name"),
        completion: .list(UnitType.all.compactMap(\.description.component.subtype)))
    var name: String?

    @Flag(help: "Look at the LV2 plug-ins that are installed, too.")
    var plugins = false

    @Flag(help: "Print JSON, with all parameters and presets.")
    var json = false

    func run() throws {
        try Failure.reporting {
            let table = EffectsTable(hasColour: Terminal.outputHasColour)
            let own = UnitType.all.map(\.description)
            guard let name else {
                let others = plugins ? PlugInCatalog.installed.units : nil
                return try Terminal.output(
                    json ? EffectsReport(own + (others ?? [])).json() : table.list(own, plugIns: others))
            }
            let unit = try find(name, among: own)
            try Terminal.output(json ? EffectsReport([unit]).json() : table.details(unit))
        }
    }

    private func find(_ name: String, among units: [UnitDescription]) throws -> UnitDescription {
        let wanted = name.lowercased()
        if let unit = units.first(where: {
            $0.component.subtype?.lowercased() == wanted || $0.name.lowercased() == wanted
        }) {
            return unit
        }
        if plugins || name.contains(":") {
            do {
                return try PlugInCatalog.installed.plugIn(name).description
            } catch { throw Failure(error, Failure.usage) }
        }
        let near = suggestion(name, in: units.compactMap(\.component.subtype))
        throw Failure(
            "there is no effect '\(name)'"
                + (near.isEmpty ? "; 'earshot effects' lists them, with --plugins those of others too" : near),
            status: Failure.usage)
    }
}
