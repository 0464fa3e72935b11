// SPDX-License-Identifier: Apache-2.0

/// A position in a text: line and column, counted from 1. A column is a Unicode scalar.
package struct SourcePlace: Hashable, Sendable, Comparable {
    package var line: Int
    package var column: Int

    package static let start = SourcePlace(line: 1, column: 1)

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    package static func < (a: Self, b: Self) -> Bool { (a.line, a.column) < (b.line, b.column) }
}
