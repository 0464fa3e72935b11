// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation

/// A command line that cannot be run: what is wrong, then what to do.
struct UsageError: Error {
    let text: String

    init(_ text: String) { self.text = text }

    init(unknownCommand name: String, in program: CommandInfo) {
        let near = nearestNames(name, in: program.allSubcommands.map(\.commandName), count: 1)
        text =
            "Unknown command '\(name)'. "
            + (near.first.map { "Did you mean '\($0)'?" } ?? "List commands: earshot help")
    }

    /// Rewords a message of ArgumentParser.
    /// - Parameter path: the names of the commands at the beginning of the arguments.
    init(parserMessage message: String, path: [String], in program: CommandInfo) {
        let command = path.reduce(program) { $0.subcommand($1) ?? $0 }
        let line = message.split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " } }.joined(separator: " ")
        let help = "See: earshot \(path.map { "\($0) " }.joined())--help"
        if let match = line.prefixMatch(of: /Unknown option '([^']*)'/) {
            text = Self.unknownOption(String(match.1), command, help)
        } else if let match = line.prefixMatch(of: /Missing expected argument '(.*?)( \.\.\.)?'/) {
            text = "Missing argument \(match.1). \(help)"
        } else if let match = line.prefixMatch(of: /Missing value for '(\S+)/) {
            text = "\(match.1) needs a value. \(help)"
        } else if path == ["duet"], let match = line.prefixMatch(of: /(\d+ u|U)nexpected arguments?:? '(.*?)'.*/) {
            text = "Unexpected: '\(match.2)'. \(Self.duetAdvice(String(match.2)))"
        } else if let match = line.prefixMatch(of: /(\d+ u|U)nexpected arguments?:? (.*)/) {
            text = "Unexpected: \(match.2). \(help)"
        } else if let match = line.prefixMatch(of: /The value '(.*)' is invalid for '(\S+?)( <.*?>)?'(.*)/) {
            text = "\(match.2) cannot be '\(match.1)'" + Self.reason(String(match.4))
        } else {
            text = line.hasSuffix(".") || line.hasSuffix("?") ? line : "\(line)."
        }
    }

    /// Names the command that takes an argument of `earshot duet`: a song or a room.
    private static func duetAdvice(_ argument: String) -> String {
        let quoted = HostCommand.quoted(argument)
        let ending = (argument as NSString).pathExtension.lowercased()
        guard FileSources.endings.contains(ending) || PathText.status(argument) != nil else {
            return "Begin a duet: earshot duet host SONG. Join one: earshot duet join \(quoted)"
        }
        return "Sing it: earshot duet host \(quoted)"
    }

    /// Rewords ArgumentParser's choices or explanation for a refused value.
    private static func reason(_ words: String) -> String {
        if let match = words.wholeMatch(of: /\. Please provide one of the following: - (.*)/) {
            return ". Choose one of: \(match.1.replacing(" - ", with: ", "))."
        }
        if let match = words.wholeMatch(of: /\. Please provide one of (.*)\./) {
            // ArgumentParser joins two values by "and".
            return ". Choose \(match.1.replacing("'", with: "").replacing(" and ", with: " or "))."
        }
        return words.hasPrefix(":") ? "\(words)." : "."
    }

    private static func unknownOption(_ option: String, _ command: CommandInfo, _ help: String) -> String {
        let name = String(option.drop { $0 == "-" }.prefix { $0 != "=" })
        if let new = RenamedOptions.newName(of: name, command: command.commandName), command.takes(new) {
            return "--\(name) is now --\(new)."
        }
        let near = option.hasPrefix("--") ? nearest(name, command) : nil
        return "Unknown option '\(option)'. " + (near.map { "Did you mean '--\($0)'?" } ?? help)
    }

    /// Returns the option that the user perhaps meant: its name begins with `name`, or differs by at most two typing errors (one
    /// if `name` has fewer than five characters). Returns nil if there is none.
    private static func nearest(_ name: String, _ command: CommandInfo) -> String? {
        let names = command.allArguments.flatMap(\.longNames)
        return nearestNames(name, in: names, count: 1).first {
            editDistance(Array(name), Array($0)) <= (name.count < 5 ? 1 : 2) || $0.hasPrefix(name) && name.count > 2
        }
    }
}
