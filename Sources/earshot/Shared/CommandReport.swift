// SPDX-License-Identifier: Apache-2.0

import Foundation

extension Encodable {
    /// JSON with its keys in alphabetical order, and a line break at the end.
    /// - Parameter isPretty: false for a single line.
    func json(isPretty: Bool = true) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
        return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
    }
}

/// The outcome of a command, for a person or a program.
protocol CommandReport: Encodable {
    /// One or more lines for a person.
    var summary: String { get }
}

extension CommandReport {
    /// Prints it: JSON to standard output, a summary to standard error.
    func tell(asJSON: Bool) throws {
        if asJSON { try Terminal.output(json()) } else { Terminal.say(summary) }
    }
}
