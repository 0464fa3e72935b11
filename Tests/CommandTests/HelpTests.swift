// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import earshot

@Suite struct HelpTests {
    static let commands = EarshotCommand.commandGroups.flatMap(\.commands).compactMap { $0.configuration.commandName }

    /// The paths of all pages of help.
    static let pages: [[String]] =
        [[]] + commands.map { [$0] }
        + [["peers", "forget"], ["config", "set"], ["config", "unset"], ["duet", "host"], ["duet", "join"]]
        + CallCommand.configuration.subcommands.compactMap { $0.configuration.commandName }.map { ["call", $0] }

    @Test(arguments: pages) func `every command has a full and a short help page`(path: [String]) throws {
        let full = try Earshot.start(path + ["--help"])
        let short = try Earshot.start(path + ["-h"])
        #expect(full.wait() == .exit(0) && short.wait() == .exit(0))
        for page in [full, short] {
            #expect(page.output.contains("Usage: earshot\(path.map { " \($0)" }.joined())") && page.errors.isEmpty)
            #expect(page.output.split(separator: "\n").allSatisfy { $0.count <= 80 || $0.hasPrefix("    earshot") })
        }
        #expect(full.output.contains("General:") && (path.isEmpty || !short.output.contains("General:")))
        let named = try Earshot.start(["help"] + path)
        #expect(named.wait() == .exit(0) && named.output == full.output)
    }

    @Test func `the short help of a call lists everyday options only`() {
        let page = EarshotCommand.helpPage(["join"])
        let short = page.text(columns: 80, isShort: true, hasColour: false)
        #expect(short.contains("--dial") && short.contains("-n, --name") && !short.contains("--jack-server"))
        #expect(page.text(columns: 80, isShort: false, hasColour: false).contains("--jack-server"))
    }

    @Test(arguments: ["host", "join", "start"]) func `the help of a duet has its own defaults, and no refused option`(
        name: String
    ) {
        func help(_ path: [String], _ option: String) -> String? {
            EarshotCommand.helpPage(path).command.allArguments.first { $0.longNames.contains(option) }?.helpText
        }
        for (option, value) in DuetOptions.defaults {
            let text = help(["duet", name], option)
            #expect(text?.hasSuffix(" [default: \(value)]") == true, "\(text ?? "")")
        }
        for refused in DuetOptions.refused { #expect(help(["duet", name], refused) == nil, "\(refused)") }
        #expect(help(["duet", name], "record-format") != nil && help(["duet", name], "folder") != nil)
        #expect(help(["host"], "codec")?.hasSuffix("aac. [default: opus]") == true && help(["host"], "record") != nil)
        let page = EarshotCommand.helpPage(["duet", name]).text(columns: 80, isShort: false, hasColour: false)
        #expect(page.contains("[default: pcm]") && !page.contains("--accompany"))
    }

    @Test func `defaults come last in an option's description, in brackets`() {
        let page = EarshotCommand.helpPage(["host"]).text(columns: 1_000, isShort: false, hasColour: false)
        #expect(page.contains("8. [default: 8]") && page.contains("[default: on]") && !page.contains("(default:"))
    }

    @Test func `on a narrow terminal descriptions are below their options`() {
        let page = EarshotCommand.helpPage(["info"]).text(columns: 40, isShort: true, hasColour: false)
        #expect(page.split(separator: "\n").allSatisfy { $0.count <= 40 || $0.hasPrefix("    earshot") })
        #expect(page.contains("\n  <file>\n      Audio files"))
    }

    @Test(arguments: commands) func `the examples of every command can be parsed`(command: String) throws {
        let examples = EarshotCommand.helpPage([command]).examples
        #expect(examples.count >= 2)
        let lines = examples.flatMap { $0.line.components(separatedBy: " && ") }
            .map { $0.hasPrefix("source <(") ? String($0.dropFirst(9).dropLast()) : $0 }
        for line in lines {
            let words = Self.words(line)
            #expect(words.first == "earshot", "\(line)")
            #expect(throws: Never.self, "\(line)") {
                _ = try EarshotCommand.parseAsRoot(ArgumentList(Array(words.dropFirst())).arguments)
            }
        }
    }

    /// Returns the words of a command line up to a pipe or a redirection.
    static func words(_ line: String) -> [String] {
        let command = line.prefix { $0 != "|" && $0 != ">" }
        var words: [String] = []
        for (index, part) in command.split(separator: "'", omittingEmptySubsequences: false).enumerated() {
            if index % 2 == 1 {
                words.append(String(part))
            } else {
                words += part.split(separator: " ").map(String.init)
            }
        }
        return words
    }

    @Test func `the version is one line that begins with the program's name`() throws {
        let program = try Earshot.start(["--version"])
        #expect(program.wait() == .exit(0))
        #expect(program.output.hasPrefix("earshot ") && program.output.split(separator: "\n").count == 1)
    }

    @Test(arguments: ["bash", "zsh", "fish"]) func `completion scripts contain every command and its options`(
        shell: String
    ) throws {
        let program = try Earshot.start(["completion", shell])
        #expect(program.wait() == .exit(0))
        let words = ["trim-silence", "wifi-congested", "pipewire", "simulated", "no-adapt", "plain", "no-config"]
        for word in Self.commands + words { #expect(program.output.contains(word), "\(word)") }
    }
}
