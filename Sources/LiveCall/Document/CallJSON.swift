// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Documents as JSON, one on each line.
package enum CallJSON {
    /// Returns a document as a line without its end. Numbers that are not finite become strings.
    package static func line(_ document: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "infinity", negativeInfinity: "-infinity", nan: "nan")
        do {
            return Array(try encoder.encode(document))
        } catch {
            preconditionFailure("JSON encoding failed: \(error)")
        }
    }

    /// Decodes a line; nil if the line is not JSON, or not a document of this type. Unknown fields are ignored.
    package static func decoded<Document: Decodable>(_ type: Document.Type, from line: [UInt8]) -> Document? {
        try? JSONDecoder().decode(type, from: Data(line))
    }

    /// Converts seconds to milliseconds with three decimals; nil for nil and for a number that is not finite.
    static func milliseconds(_ seconds: Double?) -> Double? {
        guard let seconds, seconds.isFinite else { return nil }
        return (seconds * 1e6).rounded() / 1e3
    }
}
