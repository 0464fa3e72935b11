// SPDX-License-Identifier: Apache-2.0

import Foundation

extension Encodable {
    /// Returns JSON with sorted keys and a final line break.
    /// - Parameter isPretty: false for a single line.
    func json(isPretty: Bool = true) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
        return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
    }
}

/// The result of a command, as text and as JSON.
protocol CommandReport: Encodable {
    /// Returns one or more lines of text.
    func summary(_ ending: EndReason) -> String
}

extension CommandReport {
    /// Prints the report: JSON to standard output, text to standard error.
    func notify(_ ending: EndReason, asJSON: Bool) throws {
        if asJSON { try Terminal.output(json()) } else { Terminal.say(summary(ending)) }
    }
}
