// SPDX-License-Identifier: Apache-2.0

import EarshotTOMLReader

/// An error in a graph file, and its place.
struct GraphFileError: Error, Hashable, CustomStringConvertible {
    var file: String
    var place: SourcePlace
    /// The problem and, unless it is obvious, what to do.
    var problem: String

    /// The file, line, column and problem in one line of text, even if a name in the file contains a line break.
    var description: String {
        let words = TerminalText.sanitized(String(problem.unicodeScalars.prefix(1_000)))
        return "\(file):\(place.line):\(place.column): \(words)\(problem.unicodeScalars.count > 1_000 ? "…" : "")"
    }
}

extension GraphFileError {
    init(_ error: TOMLError, file: String) {
        self.file = file
        place = error.place
        switch error.reason {
        case .encoding, .limit: problem = error.problem
        case .syntax, .duplicate, .range: problem = "not valid TOML: \(error.problem)"
        }
    }
}
