// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioEngine
import EarshotAudioPlugIns

struct EffectsCommand: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "effects", abstract: "List effects, or show one effect's parameters and presets.",
        discussion: """
            --effect and the graph files of 'earshot render' take these names.
            """)

    static let examples = [
        CommandExample("List all effects", "earshot effects"),
        CommandExample("Show the parameters of one", "earshot effects reverb"),
    ]

    @Argument(
        help: ArgumentHelp(
            "Effect to show; an LV2 plug-in's URI, or with --plugins its name. [default: list all]", valueName: "name"),
        completion: .list(UnitType.all.compactMap(\.description.component.subtype)))
    var name: String?

    @Flag(help: "Include installed LV2 plug-ins.")
    var plugins = false

    @Flag(name: .lettered("json"), help: "Print JSON with all parameters and presets.")
    var json = false

    @OptionGroup(title: "General") var general: GeneralOptions

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
        if let unit = units.first(where: { $0.isNamed(name) }) { return unit }
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
