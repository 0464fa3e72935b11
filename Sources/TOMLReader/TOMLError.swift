// SPDX-License-Identifier: Apache-2.0

/// The reason that a text is not valid TOML, and its position.
package struct TOMLError: Error, Hashable, CustomStringConvertible {
    package enum Reason: Hashable, Sendable {
        /// The bytes are not valid UTF-8.
        case encoding
        /// The text violates TOML's grammar.
        case syntax
        /// A key or table is defined twice, or a key is used as a table.
        case duplicate
        /// A number or date is out of range.
        case range
        /// The text exceeds a limit of this reader, such as ``TOMLValue/maximumDepth``.
        case limit
    }
    package var reason: Reason
    package var place: SourcePlace
    /// The fault, and the correct form unless that is obvious.
    package var problem: String

    package var description: String { "\(place.line):\(place.column): \(problem)" }
}
