// SPDX-License-Identifier: Apache-2.0

/// Makes names safe to show, since others on the network have chosen them.
enum AnnouncedText {
    /// The maximum bytes of a DNS label.
    static let maximumSize = 63

    /// Returns a name that is safe for a terminal and a list: one line without control characters or changes of writing
    /// direction, at most `limit` bytes of UTF-8. U+FFFD replaces such characters. Joiners stay, because emoji and several
    /// scripts need them.
    static func printable(_ text: String, limit: Int = maximumSize) -> String {
        var result = String.UnicodeScalarView()
        var size = 0
        for scalar in text.unicodeScalars {
            let kept = isPrintable(scalar) ? scalar : "\u{FFFD}"
            size += UTF8.width(kept)
            guard size <= limit else { break }
            result.append(kept)
        }
        let name = String(result)
        return name.allSatisfy(\.isWhitespace) ? "\u{FFFD}" : name
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse: false
        case .format: scalar == "\u{200C}" || scalar == "\u{200D}"
        default: true
        }
    }
}
