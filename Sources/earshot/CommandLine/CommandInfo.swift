// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A command, its arguments and its subcommands, as ArgumentParser describes them.
struct CommandInfo: Decodable {
    struct Argument: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String

            var text: String { kind == "long" ? "--\(name)" : "-\(name)" }
        }

        /// `positional`, `option` or `flag`.
        let kind: String
        let shouldDisplay: Bool
        let sectionTitle: String?
        let isOptional: Bool
        let isRepeating: Bool
        let names: [Name]?
        let valueName: String?
        let defaultValue: String?
        let abstract: String?

        var isPositional: Bool { kind == "positional" }
        var longNames: [String] { (names ?? []).filter { $0.kind == "long" }.map(\.name) }
    }

    private struct Document: Decodable { let command: CommandInfo }

    let commandName: String
    let abstract: String?
    let discussion: String?
    let defaultSubcommand: String?
    private let subcommands: [CommandInfo]?
    private let arguments: [Argument]?

    /// The description of the program.
    static let program: CommandInfo = {
        do {
            return try JSONDecoder().decode(Document.self, from: Data(EarshotCommand._dumpHelp().utf8)).command
        } catch {
            preconditionFailure("ArgumentParser's description has another form: \(error)")
        }
    }()

    /// The arguments listed in the help; a flag and its opposite are two.
    var allArguments: [Argument] { (arguments ?? []).filter(\.shouldDisplay) }
    var allSubcommands: [CommandInfo] { (subcommands ?? []).filter { $0.commandName != "help" } }

    func subcommand(_ name: String) -> CommandInfo? { allSubcommands.first { $0.commandName == name } }

    /// Returns true if the command has the long option.
    func takes(_ option: String) -> Bool { allArguments.contains { $0.longNames.contains(option) } }
}
