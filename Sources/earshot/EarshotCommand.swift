// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

@main
struct EarshotCommand: ParsableCommand {
    /// Runs the program as ArgumentParser does, but tells a wrong option in one line.
    static func main() {
        // If standard input is closed, a socket would be opened in its place, and read for the person's keys.
        if fcntl(STDIN_FILENO, F_GETFD) < 0 { _ = open("/dev/null", O_RDONLY) }
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch {
            // A command that has said itself what is wrong throws its status alone.
            guard exitCode(for: error) == .validationFailure, !(error is ExitCode) else { exit(withError: error) }
            let message = message(for: error).split(separator: "\n").joined(separator: " ")
            let names = configuration.subcommands.compactMap { $0.configuration.commandName }
            let command = CommandLine.arguments.dropFirst().first.flatMap { names.contains($0) ? " \($0)" : nil } ?? ""
            Terminal.say("earshot: " + ErrorText.usage(message, command: command))
            exit(withError: ExitCode.validationFailure)
        }
    }

    static let configuration = CommandConfiguration(
        commandName: "earshot",
        abstract: "Talk and sing with people near you, live, over the network you share.",
        discussion: """
            Two machines on one network: `earshot host` on one, `earshot join` on the other. Up to eight can be in a room.
            Without sound hardware: `--device simulated --speak FILE --hear FILE`.
            """,
        version: CallReport.version,
        subcommands: [
            HostCommand.self, JoinCommand.self, ForecastCommand.self, ChatCommand.self, SendCommand.self,
            PeersCommand.self,
            DevicesCommand.self, LoopbackCommand.self,
            MonitorCommand.self,
            EffectsCommand.self, RenderCommand.self, ProcessVoiceCommand.self, RecordCommand.self, PlayCommand.self,
            ConvertCommand.self, InfoCommand.self, AnalyzeCommand.self, SimulateCommand.self,
        ])
}
