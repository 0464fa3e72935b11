// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The help of a command. `--help` shows all of it, `-h` the everyday options.
struct HelpPage {
    /// The program's name and those of its subcommands, down to this command.
    let path: [String]
    let command: CommandInfo
    let examples: [CommandExample]
    /// Titled lists of subcommands; used for the program's own page.
    var groups: [(title: String, commands: [String])] = []

    /// The long names of the options that `-h` shows.
    static let everyday: Set<String> = [
        "name", "accept", "pin", "device", "microphone", "speaker", "dial", "codec", "duration", "receive", "timeout",
        "output", "to", "bitrate", "normalize", "overwrite", "record", "effect", "json", "list", "room", "input",
        "graph",
        "mic", "reference", "picture", "measure", "watch", "shuffle", "loop", "volume", "profile", "host", "pid",
        "help",
    ]

    /// - Parameters:
    ///   - columns: the width of the page.
    ///   - isShort: true to leave out the discussion and all but the everyday options.
    ///   - hasColour: true to print headings in bold.
    func text(columns: Int, isShort: Bool, hasColour: Bool) -> String {
        let layout = HelpLayout(columns: columns, hasColour: hasColour)
        var parts = [layout.paragraph(command.abstract ?? ""), usage(layout)]
        if !isShort, let discussion = command.discussion, !discussion.isEmpty {
            parts.append(discussion.split(separator: "\n").map { layout.paragraph(String($0)) }.joined(separator: "\n"))
        }
        parts += subcommandSections(layout)
        parts += argumentSections(layout, isShort: isShort)
        if !examples.isEmpty {
            let lines = examples.flatMap { [layout.paragraph("\($0.purpose):", indent: 2), "    \($0.line)"] }
            parts.append(([layout.heading("Examples")] + lines).joined(separator: "\n"))
        }
        if isShort { parts.append(layout.paragraph("All options: \(path.joined(separator: " ")) --help")) }
        return parts.joined(separator: "\n\n") + "\n"
    }

    private func usage(_ layout: HelpLayout) -> String {
        var words = path
        if !command.allSubcommands.isEmpty {
            words.append(command.defaultSubcommand == nil ? "<command>" : "[<command>]")
        }
        for argument in command.allArguments where argument.isPositional || !argument.isOptional {
            let value = "<\(argument.valueName ?? "value")>" + (argument.isRepeating ? "..." : "")
            let word = argument.isPositional ? value : "\(argument.names?.first?.text ?? "") \(value)"
            words.append(argument.isOptional ? "[\(word)]" : word)
        }
        words.append("[<options>]")
        return layout.usage(words.joined(separator: " "))
    }

    private func subcommandSections(_ layout: HelpLayout) -> [String] {
        let all = command.allSubcommands
        let titled = groups.isEmpty && !all.isEmpty ? [(title: "Commands", commands: all.map(\.commandName))] : groups
        return titled.map { group in
            let rows = group.commands.compactMap { name in
                command.subcommand(name).map { (label: name, text: $0.abstract ?? "") }
            }
            return layout.list(group.title, rows)
        }
    }

    private func argumentSections(_ layout: HelpLayout, isShort: Bool) -> [String] {
        let names = Set(command.allArguments.flatMap(\.longNames))
        // The opposite of a flag, such as --no-adapt, is listed on the flag's own line.
        let arguments = command.allArguments.filter { argument in
            !argument.longNames.contains { $0.hasPrefix("no-") && names.contains(String($0.dropFirst(3))) }
        }
        var sections = [("Arguments", arguments.filter(\.isPositional))]
        let options = arguments.filter { !$0.isPositional }
        if isShort {
            sections.append(("Options", options.filter { !Self.everyday.isDisjoint(with: $0.longNames) }))
        } else {
            var titles: [String] = []
            for option in options where !titles.contains(title(of: option)) { titles.append(title(of: option)) }
            let sectionRanks = ["Options": 0, "General": 2]
            titles = titles.enumerated().sorted { a, b in
                (sectionRanks[a.element] ?? 1, a.offset) < (sectionRanks[b.element] ?? 1, b.offset)
            }.map(\.element)
            sections += titles.map { name in (name, options.filter { title(of: $0) == name }) }
        }
        return sections.filter { !$0.1.isEmpty }.map { title, rows in
            layout.list(title, rows.map { (label: $0.label(among: names), text: $0.helpText) })
        }
    }

    private func title(of option: CommandInfo.Argument) -> String {
        if let title = option.sectionTitle, !title.isEmpty { return title }
        return ["help", "version"].contains(option.longNames.first) ? "General" : "Options"
    }
}

extension CommandInfo.Argument {
    /// Returns the label in the list of arguments: `-n, --name <name>`, or `--adapt/--no-adapt` for a flag with its opposite.
    /// - Parameter all: the long names of all options of the command.
    func label(among all: Set<String>) -> String {
        let value = valueName ?? "value"
        if isPositional { return "<\(value)>" }
        let short = (names ?? []).filter { $0.kind != "long" }.map(\.text)
        let long = longNames.map { all.contains("no-\($0)") ? "--\($0)/--no-\($0)" : "--\($0)" }
        let label = (short + long).joined(separator: ", ")
        return kind == "option" ? "\(label) <\(value)>" : label
    }

    /// The argument's abstract, followed by its default value in brackets.
    var helpText: String {
        let text = longNames.first == "help" ? "Show this help; -h shows the everyday options." : abstract ?? ""
        guard let defaultValue, !defaultValue.isEmpty, !text.contains("[default:") else { return text }
        return "\(text) [default: \(shown(defaultValue))]"
    }

    private func shown(_ value: String) -> String {
        guard kind == "flag" else { return value.hasSuffix(".0") ? String(value.dropLast(2)) : value }
        return value.hasPrefix("--no-") ? "off" : "on"
    }
}
