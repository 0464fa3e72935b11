// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

struct CompletionCommand: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "completion", abstract: "Print a completion script for a shell.",
        discussion: "scripts/install installs these scripts; a package has them, too.")

    static let examples = [
        CommandExample("Complete in this bash", "source <(earshot completion bash)"),
        CommandExample(
            "Complete in each fish", "earshot completion fish > ~/.config/fish/completions/earshot.fish"),
    ]

    enum Shell: String, ExpressibleByArgument, CaseIterable {
        case bash, zsh, fish

        var completionShell: CompletionShell {
            switch self {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        }
    }

    @Argument(help: "bash, zsh or fish.")
    var shell: Shell

    @OptionGroup(title: "General") var general: GeneralOptions

    func run() throws {
        try Failure.reporting {
            try Terminal.output(EarshotCommand.completionScript(for: shell.completionShell) + "\n")
        }
    }
}
