// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles

/// Makes text from outside safe for a terminal.
///
/// Names of devices, files, rooms and people may contain any character. None may reach the terminal as a control sequence.
enum TerminalText {
    /// Replaces control characters, formatting characters, line breaks and bytes that are not UTF-8 by question marks.
    ///
    /// Zero-width joiners stay, since emoji and several scripts need them.
    static func sanitized(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .format where scalar == "\u{200C}" || scalar == "\u{200D}": result.append(scalar)
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: result.append("?")
            case .privateUse where PathText.isEscape(scalar): result.append("?")
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    /// Returns the text with each line sanitized; the line breaks stay.
    static func sanitizedLines(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { sanitized(String($0)) }
            .joined(separator: "\n")
    }

    /// Returns the first 300 characters, sanitized and with spaces for line breaks; `…` follows if the text is longer.
    static func sanitizedLine(_ text: String) -> String {
        let flat = String(text.prefix(300).map { $0.isNewline ? " " : $0 })
        return sanitized(flat) + (text.count > 300 ? "…" : "")
    }
}
