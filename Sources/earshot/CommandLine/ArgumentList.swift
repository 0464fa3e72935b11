// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The program's arguments before they are parsed.
struct ArgumentList {
    private(set) var arguments: [String]

    /// - Parameter raw: the arguments after the program's name.
    init(_ raw: [String]) {
        arguments = Self.joiningNegativeNumbers(raw)
        // A negative volume or value is an argument, which ArgumentParser would take for an option.
        let commands = ["volume", "effects", "accompany", "duet"]
        guard raw.first == "call", raw.count > 1, commands.contains(raw[1]) else { return }
        arguments = arguments.map { Self.negativeNumber($0).map { "\u{2212}" + $0.dropFirst() } ?? $0 }
    }

    /// Writes `--gain -6` as `--gain=-6`, since no option is a number. A minus sign U+2212, as in text copied from a web page,
    /// becomes an ASCII minus.
    private static func joiningNegativeNumbers(_ raw: [String]) -> [String] {
        var joined: [String] = []
        var isBehindEnd = false
        for argument in raw {
            isBehindEnd = isBehindEnd || argument == "--"
            if !isBehindEnd, let number = negativeNumber(argument), let option = joined.last, option.hasPrefix("--"),
                !option.contains("=")
            {
                joined[joined.count - 1] = "\(option)=\(number)"
            } else {
                joined.append(argument)
            }
        }
        return joined
    }

    private static func negativeNumber(_ text: String) -> String? {
        guard let sign = text.first, "-\u{2212}".contains(sign), let next = text.dropFirst().first,
            next.isASCII, next.isNumber || next == "."
        else { return nil }
        return "-" + text.dropFirst()
    }

    /// The arguments before `--`.
    private var options: ArraySlice<String> { arguments.prefix { $0 != "--" } }

    func contains(_ option: String) -> Bool { options.contains(option) }

    /// Returns true if the user gives the long option or its short form.
    func gives(_ option: String) -> Bool {
        options.contains { $0 == "--\(option)" || $0.hasPrefix("--\(option)=") } || hasShortForm(of: option)
    }

    private func hasShortForm(of option: String) -> Bool {
        guard let short = ShortOptions.letters[option] else { return false }
        return options.contains { $0.hasPrefix("-\(short)") }
    }

    /// Returns the names of the commands at the beginning of the arguments.
    func commandPath(in program: CommandInfo) -> [String] {
        var (path, command) = ([String](), program)
        for argument in options {
            guard let next = command.subcommand(argument) else { break }
            path.append(argument)
            command = next
        }
        return path
    }

    /// Returns the command path of the requested help page, and true for the short page (`-h`); nil if no help is requested.
    /// Without arguments, the program's page is requested.
    func helpRequest(in program: CommandInfo) throws(UsageError) -> (path: [String], isShort: Bool)? {
        if arguments.first == "help" {
            let names = Array(options.dropFirst())
            let path = ArgumentList(names).commandPath(in: program)
            if path.count < names.count, let name = names.first(where: { !path.contains($0) && !$0.hasPrefix("-") }) {
                throw UsageError(unknownCommand: name, in: program)
            }
            return (path, false)
        }
        guard !arguments.isEmpty else { return ([], false) }
        guard contains("--help") || contains("-h") else { return nil }
        return (commandPath(in: program), !contains("--help"))
    }

    /// Throws if the first argument is neither a command nor an option.
    func checkCommand(in program: CommandInfo) throws(UsageError) {
        guard let first = arguments.first, !first.hasPrefix("-"), program.subcommand(first) == nil else { return }
        throw UsageError(unknownCommand: first, in: program)
    }

    /// Inserts options after the command's name, so that the user's options override them.
    mutating func insert(_ options: [String], behind path: [String]) {
        arguments.insert(contentsOf: options, at: path.count)
    }
}
