// SPDX-License-Identifier: Apache-2.0

/// Names that somebody on the network chose.
enum AnnouncedText {
    /// Bytes of a DNS label.
    static let maximumSize = 63

    /// A name as it may go to a terminal and into a list: one line, nothing that commands a terminal or turns the direction of
    /// writing, at most 63 bytes of UTF-8, or `limit`. Joiners stay: emoji and several scripts need them.
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
