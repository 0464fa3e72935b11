// SPDX-License-Identifier: Apache-2.0

/// The reason that a text is not TOML, and the position.
package struct TOMLError: Error, Hashable, CustomStringConvertible {
    package enum Reason: Hashable, Sendable {
        /// Bytes that are no UTF-8.
        case encoding
        /// TOML's grammar.
        case syntax
        /// A key or table that is there already, or is no table.
        case duplicate
        /// A number or date that cannot be.
        case range
        /// TOML, perhaps, but more of it than is read: ``TOMLValue/maximumDepth`` and the like.
        case limit
    }
    package var reason: Reason
    package var place: SourcePlace
    /// The fault and, if it is not plain, the correct form.
    package var problem: String

    package var description: String { "\(place.line):\(place.column): \(problem)" }
}
