// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// A command line in the help.
struct CommandExample {
    /// The purpose of the example: an imperative sentence without its full stop.
    let purpose: String
    /// The command line as typed.
    let line: String

    init(_ purpose: String, _ line: String) {
        self.purpose = purpose
        self.line = line
    }
}

/// A command whose help shows examples.
protocol ExampledCommand: ParsableCommand {
    static var examples: [CommandExample] { get }
}
