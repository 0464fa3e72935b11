// SPDX-License-Identifier: Apache-2.0

/// Names of files that somebody on the network chose.
enum FileName {
    /// Bytes of UTF-8 at most, so that a number, or what marks a half-received file, can be added (255 are a name's limit).
    static let maximumSize = 160

    /// Returns a valid file name for any folder: one component, not hidden, nothing that commands a terminal or turns the direction
    /// of writing. What is after the last dot is kept if the name is too long.
    static func safe(_ text: String) -> String {
        // A gigabyte need not be looked at.
        let bounded = String(text.unicodeScalars.prefix(4_096))
        guard !bounded.allSatisfy(\.isWhitespace) else { return "file" }
        var scalars = AnnouncedText.printable(bounded, limit: 4 * 4_096).unicodeScalars
        for index in scalars.indices.reversed() where scalars[index] == "/" || scalars[index] == "\\" {
            scalars.replaceSubrange(index...index, with: CollectionOfOne("_"))
        }
        let kept = scalars.drop { $0 == "." || $0.properties.isWhitespace }
        let name = withoutBlanks(String(kept).unicodeScalars)
        return name.isEmpty ? "file" : shortened(name)
    }

    /// The name and its extension with the dot, or nothing in its place.
    static func parts(_ name: String) -> (stem: String, ending: String) {
        let scalars = name.unicodeScalars
        guard let dot = scalars.lastIndex(of: "."), dot != scalars.startIndex,
            name.utf8.distance(from: dot, to: name.utf8.endIndex) <= 20
        else { return (name, "") }
        return (String(scalars[..<dot]), String(scalars[dot...]))
    }

    /// `name.wav` for 1, `name (2).wav` for 2.
    static func numbered(_ name: String, _ number: Int) -> String {
        guard number > 1 else { return name }
        let (stem, ending) = parts(name)
        return "\(stem) (\(number))\(ending)"
    }

    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > maximumSize else { return name }
        let (stem, ending) = parts(name)
        var size = ending.utf8.count
        var scalars = String.UnicodeScalarView()
        for scalar in stem.unicodeScalars {
            size += UTF8.width(scalar)
            guard size <= maximumSize else { break }
            scalars.append(scalar)
        }
        return withoutBlanks(scalars) + ending
    }

    /// Returns the text without blanks at its end.
    private static func withoutBlanks(_ scalars: String.UnicodeScalarView) -> String {
        var scalars = scalars
        while let last = scalars.last, last.properties.isWhitespace { scalars.removeLast() }
        return String(scalars)
    }
}
