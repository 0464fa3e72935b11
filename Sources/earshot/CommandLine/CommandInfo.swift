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
        private(set) var abstract: String?

        /// Replaces the default that the abstract ends with.
        fileprivate mutating func setDefault(_ value: String) {
            guard let text = abstract, let start = text.range(of: "[default: ", options: .backwards) else { return }
            abstract = "\(text[..<start.lowerBound])[default: \(value)]"
        }

        var isPositional: Bool { kind == "positional" }
        var longNames: [String] { (names ?? []).filter { $0.kind == "long" }.map(\.name) }
    }

    private struct Document: Decodable { let command: CommandInfo }

    let commandName: String
    let abstract: String?
    let discussion: String?
    let defaultSubcommand: String?
    private var subcommands: [CommandInfo]?
    private var arguments: [Argument]?

    /// The description of the program.
    static let program: CommandInfo = {
        do {
            let dump = Data(EarshotCommand._dumpHelp().utf8)
            var program = try JSONDecoder().decode(Document.self, from: dump).command
            program.adapt("duet", without: DuetOptions.refused, defaults: DuetOptions.defaults)
            return program
        } catch {
            preconditionFailure("ArgumentParser's description has another form: \(error)")
        }
    }()

    /// The arguments listed in the help; a flag and its opposite are two.
    var allArguments: [Argument] { (arguments ?? []).filter(\.shouldDisplay) }
    var allSubcommands: [CommandInfo] { (subcommands ?? []).filter { $0.commandName != "help" } }

    /// Removes options of shared groups that a command and its subcommands refuse, and shows their own defaults of others.
    private mutating func adapt(_ name: String, without refused: Set<String>, defaults: [String: String]) {
        guard let index = subcommands?.firstIndex(where: { $0.commandName == name }) else { return }
        subcommands?[index].adapt(without: refused, defaults: defaults)
    }

    private mutating func adapt(without refused: Set<String>, defaults: [String: String]) {
        arguments?.removeAll { !refused.isDisjoint(with: $0.longNames) }
        for index in arguments?.indices ?? 0..<0 {
            for name in arguments?[index].longNames ?? [] {
                if let value = defaults[name] { arguments?[index].setDefault(value) }
            }
        }
        for index in subcommands?.indices ?? 0..<0 {
            subcommands?[index].adapt(without: refused, defaults: defaults)
        }
    }

    func subcommand(_ name: String) -> CommandInfo? { allSubcommands.first { $0.commandName == name } }

    /// Returns true if the command has the long option.
    func takes(_ option: String) -> Bool { allArguments.contains { $0.longNames.contains(option) } }
}
