// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import earshot

@Suite struct ConfigCommandTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func earshot(_ arguments: [String]) throws -> ChildProcess {
        try Earshot.start(arguments, environment: ["XDG_CONFIG_HOME": scratch.path])
    }

    private func write(_ text: String) throws -> String {
        let path = scratch("earshot/config.toml")
        try FileManager.default.createDirectory(atPath: scratch("earshot"), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    @Test func `a setting is stored, shown and removed`() throws {
        for (key, value) in [
            ("name", "Ann \"x\" \\ é"), ("dial", "0.25"), ("accept", "known"), ("allow-recording", "yes"),
            ("monitor", "off"),
        ] {
            #expect(try earshot(["config", "set", key, value]).wait() == .exit(0))
        }
        let shown = try earshot(["config", "--json"])
        #expect(shown.wait() == .exit(0))
        let document = try JSONSerialization.jsonObject(with: Data(shown.output.utf8)) as? [String: Any]
        let settings = document?["settings"] as? [String: String]
        #expect(
            settings == [
                "name": "Ann \"x\" \\ é", "dial": "0.25", "accept": "known", "allow-recording": "yes", "monitor": "off",
            ])
        #expect(try earshot(["config", "unset", "name"]).wait() == .exit(0))
        let rest = try earshot(["config"])
        #expect(rest.wait() == .exit(0))
        #expect(!rest.output.contains("Ann") && rest.output.contains("dial = 0.25"))
    }

    @Test func `comments and a symbolic link to the file survive a change`() throws {
        let target = scratch("dotfile.toml")
        try Data("# mine\nname = \"Ann\"  # me\ndial = \"sing\"\n".utf8).write(to: URL(fileURLWithPath: target))
        try FileManager.default.createDirectory(atPath: scratch("earshot"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: scratch("earshot/config.toml"), withDestinationPath: target)
        #expect(try earshot(["config", "set", "name", "Bob"]).wait() == .exit(0))
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "# mine\ndial = \"sing\"\nname = \"Bob\"\n")
    }

    @Test func `a file with a setting of a later version is not changed`() throws {
        let text = "name = \"Ann\"\nharmony = \"third\"\n"
        let path = try write(text)
        let program = try earshot(["config", "set", "dial", "sing"])
        #expect(
            program.wait() == .exit(65) && program.errors.contains("unknown setting 'harmony'"), "\(program.errors)")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    }

    @Test func `two programs that change settings at the same time lose none`() throws {
        let settings = ["name=Ann", "dial=sing", "accept=known", "device=simulated", "allow-recording=yes"]
        let programs = try settings.map { setting in
            try earshot(["config", "set"] + setting.split(separator: "=").map(String.init))
        }
        for program in programs { #expect(program.wait() == .exit(0), "\(program.errors)") }
        let text = try String(contentsOfFile: scratch("earshot/config.toml"), encoding: .utf8)
        for setting in settings { #expect(text.contains(setting.replacing("=", with: " = \"")), "\(text)") }
    }

    @Test func `a setting is the default for its option, and the option overrides it`() throws {
        let path = try write(
            "name = \"Ann\"\ndial = 0.5\ndevice = \"jack\"\nmicrophone = \"mic\"\nallow-recording = \"yes\"\n")
        let file = try ConfigurationFile(path: path)
        func join(_ options: String...) throws -> JoinCommand {
            var arguments = ArgumentList(["join"] + options)
            file.apply(to: &arguments, in: .program)
            return try #require(try EarshotCommand.parseAsRoot(arguments.arguments) as? JoinCommand)
        }
        let settings = try join()
        #expect(settings.options.own.name == "Ann")
        #expect(settings.call.card.device == .jack && settings.call.card.input == "mic")
        #expect(settings.call.recording.allowRecording == .yes)
        #expect(try join("--allow-recording", "no").call.recording.allowRecording == .no)
        let options = try join("-n", "Bob", "--device=simulated")
        #expect(options.options.own.name == "Bob")
        #expect(options.call.card.device == .simulated && options.call.card.input == nil)
    }

    @Test func `a command uses only the settings for options that it has`() throws {
        let file = try ConfigurationFile(path: try write("name = \"Ann\"\ndevice = \"simulated\"\n"))
        var arguments = ArgumentList(["record", "x.wav"])
        file.apply(to: &arguments, in: .program)
        #expect(arguments.arguments == ["record", "--device=simulated", "x.wav"])
    }

    @Test(arguments: [
        ("name = 1979-05-27", "config.toml:1: name needs a string or a number, not a date or time."),
        ("\nnme = \"Ann\"", "config.toml:2: unknown setting 'nme'; settings are name, device"),
        ("dial = 9", "config.toml:1: dial cannot be '9'; use sing, talk, listen or a number from 0 to 1."),
        ("name = ", "config.toml:1: "),
    ]) func `an error in the configuration file is reported, and --no-config ignores the file`(
        text: String, words: String
    ) throws {
        _ = try write(text)
        let program = try earshot(["effects"])
        #expect(program.wait() == .exit(65))
        #expect(theFailure(program).contains(words), "\(program.errors)")
        #expect(theFailure(program).hasSuffix("Correct the file, or use --no-config."))
        #expect(try earshot(["effects", "--no-config"]).wait() == .exit(0))
    }

    @Test(arguments: [
        ("dial", "9"), ("name", ""), ("device", "x"), ("accept", "some"), ("speaker", ""), ("allow-recording", "maybe"),
    ]) func `an invalid value is rejected and the file stays unchanged`(key: String, value: String) throws {
        let path = try write("name = \"Ann\"\n")
        let program = try earshot(["config", "set", key, value])
        #expect(program.wait() == .exit(64))
        #expect(theFailure(program).contains("\(key) cannot be "))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "name = \"Ann\"\n")
    }

    @Test func `a folder in place of the configuration file is reported`() throws {
        try FileManager.default.createDirectory(
            atPath: scratch("earshot/config.toml"), withIntermediateDirectories: true)
        let program = try earshot(["effects"])
        #expect(program.wait() == .exit(66))
        #expect(theFailure(program).contains("Cannot read"))
    }
}
