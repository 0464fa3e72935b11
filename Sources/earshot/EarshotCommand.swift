// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioFiles
import Foundation

@main
struct EarshotCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "earshot",
        abstract: "Talk and make music with people on your network, live.",
        discussion: """
            Two machines on one network: `earshot host` on one, `earshot join` on the other. Up to eight can be in a room. Without sound hardware: `--device simulated --speak FILE --hear FILE`.
            """,
        version: "earshot \(CallReport.version)",
        subcommands: commandGroups.flatMap(\.commands))

    /// The commands in the groups of the program's help.
    static let commandGroups: [(title: String, commands: [any ExampledCommand.Type])] = [
        (
            "Rooms",
            [
                HostCommand.self, JoinCommand.self, DuetCommand.self, CallCommand.self, ChatCommand.self,
                SendCommand.self,
                PeersCommand.self,
            ]
        ),
        (
            "Audio files",
            [RecordCommand.self, PlayCommand.self, ConvertCommand.self, MixCommand.self, InfoCommand.self]
        ),
        (
            "Devices and effects",
            [
                CheckCommand.self, CalibrateCommand.self, DevicesCommand.self, LoopbackCommand.self,
                MonitorCommand.self, EffectsCommand.self, RenderCommand.self, ProcessVoiceCommand.self,
            ]
        ),
        ("Measurements", [ForecastCommand.self, AnalyzeCommand.self, SimulateCommand.self]),
        ("Settings", [ConfigCommand.self, CompletionCommand.self]),
    ]

    static let examples = [
        CommandExample("Host a call", "earshot host 'Blue Room'"),
        CommandExample("Join it on another machine", "earshot join"),
        CommandExample(
            "Record the microphone and convert it", "earshot record take.wav && earshot convert take.wav take.mp3"),
    ]

    static func main() {
        // A closed standard input is replaced by /dev/null. Otherwise a socket could take its place and be read for keys.
        if fcntl(STDIN_FILENO, F_GETFD) < 0 { _ = open("/dev/null", O_RDONLY) }
        var arguments = ArgumentList(Self.commandLine)
        let program = CommandInfo.program
        do {
            if let request = try arguments.helpRequest(in: program) { return try show(request.path, request.isShort) }
            try arguments.checkCommand(in: program)
            Terminal.isPlain = arguments.contains("--plain")
            try ConfigurationFile.apply(to: &arguments, in: program)
            try runCommand(arguments.arguments)
        } catch {
            Terminal.error((error as? UsageError)?.text ?? ErrorText.text(error))
            exit(withError: ExitCode((error as? Failure)?.status ?? Failure.usage))
        }
    }

    /// The command line, with paths that are not UTF-8 as ``PathText``.
    private static var commandLine: [String] {
        (1..<max(1, Int(CommandLine.argc))).compactMap { i in CommandLine.unsafeArgv[i].map { PathText.text($0) } }
    }

    /// Runs a command. Ends the program if the command fails; throws a ``UsageError`` if the arguments are wrong.
    private static func runCommand(_ arguments: [String]) throws {
        do {
            var command = try parseAsRoot(arguments)
            try command.run()
        } catch {
            // A command throws an ExitCode if it has already printed its error.
            guard exitCode(for: error) == .validationFailure, !(error is ExitCode) else { exit(withError: error) }
            let program = CommandInfo.program
            throw UsageError(
                parserMessage: message(for: error), path: ArgumentList(arguments).commandPath(in: program), in: program)
        }
    }

    /// Prints the help of the command at a path.
    private static func show(_ path: [String], _ isShort: Bool) throws {
        try Terminal.output(
            helpPage(path).text(columns: Terminal.outputWidth, isShort: isShort, hasColour: Terminal.outputHasColour))
    }

    static func helpPage(_ path: [String]) -> HelpPage {
        let program = CommandInfo.program
        let groups = commandGroups.map { group in
            (title: group.title, commands: group.commands.compactMap { $0.configuration.commandName })
        }
        return HelpPage(
            path: ["earshot"] + path, command: path.reduce(program) { $0.subcommand($1) ?? $0 },
            examples: examples(at: path), groups: path.isEmpty ? groups : [])
    }

    /// Returns the examples of the command at a path.
    private static func examples(at path: [String]) -> [CommandExample] {
        guard !path.isEmpty else { return examples }
        var command: (any ParsableCommand.Type)? = Self.self
        for name in path { command = command?.configuration.subcommands.first { $0.configuration.commandName == name } }
        return (command as? any ExampledCommand.Type)?.examples ?? []
    }
}
