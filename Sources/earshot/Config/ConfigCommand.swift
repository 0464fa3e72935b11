// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

struct ConfigCommand: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Show or change the default settings.",
        discussion: """
            Settings are default values of options: \(ConfigurationKey.allCases.map(\.rawValue).joined(separator: ", ")). They are in ~/.config/earshot/config.toml. An option on the command line overrides its setting; --no-config ignores the file.
            """,
        subcommands: [ShowConfig.self, SetConfig.self, UnsetConfig.self], defaultSubcommand: ShowConfig.self)

    static let examples = [
        CommandExample("Use the same name in every room", "earshot config set name Ann"),
        CommandExample(
            "Use JACK and the shortest delay", "earshot config set device jack && earshot config set dial sing"),
        CommandExample("Show the settings", "earshot config"),
    ]
}

struct ShowConfig: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Show the settings and their file.")

    @Flag(name: .lettered("json"), help: "Print one JSON document.")
    var json = false

    @OptionGroup(title: "General") var general: GeneralOptions

    private struct Document: Encodable {
        let file: String
        let settings: [String: String]
    }

    func run() throws {
        try Failure.reporting {
            let file = try ConfigurationFile()
            let settings = Dictionary(uniqueKeysWithValues: file.values.map { ($0.key.rawValue, $0.value) })
            if json { return try Terminal.output(Document(file: file.path, settings: settings).json()) }
            let lines = ConfigurationKey.allCases.compactMap { key in
                file.values[key].map { "\(key.rawValue) = \(TerminalText.sanitized($0))\n" }
            }
            try Terminal.output("File: \(file.path)\n" + (lines.isEmpty ? "No settings.\n" : lines.joined()))
        }
    }
}

struct SetConfig: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change a setting.",
        discussion: ConfigurationKey.allCases.map { "\($0.rawValue): \($0.values)." }.joined(separator: "\n"))

    @Argument(help: "The setting.")
    var setting: ConfigurationKey

    @Argument(help: "Its value.")
    var value: String

    @OptionGroup(title: "General") var general: GeneralOptions

    func run() throws {
        try Failure.reporting { try ConfigurationFile.set(setting, to: value) }
    }
}

struct UnsetConfig: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "unset", abstract: "Remove a setting.")

    @Argument(help: "The setting.")
    var setting: ConfigurationKey

    @OptionGroup(title: "General") var general: GeneralOptions

    func run() throws {
        try Failure.reporting { try ConfigurationFile.set(setting, to: nil) }
    }
}

extension ConfigurationKey: ExpressibleByArgument {}
