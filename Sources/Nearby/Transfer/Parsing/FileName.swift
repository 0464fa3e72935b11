// SPDX-License-Identifier: Apache-2.0

/// Names of files chosen by others on the network.
package enum FileName {
    /// The maximum bytes of UTF-8 in a name. File systems allow 255, which leaves room for a number or the marks of a partial
    /// file.
    static let maximumSize = 160

    /// Returns a valid file name for any folder: one component, not hidden, without control characters or changes of writing
    /// direction. The extension is kept if the name is too long.
    package static func safe(_ text: String) -> String {
        // A very long name need not be read.
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

    /// Returns a name without its extension, and the extension with its dot; empty if there is none, or if it exceeds 20 bytes.
    static func parts(_ name: String) -> (stem: String, ending: String) {
        let scalars = name.unicodeScalars
        guard let dot = scalars.lastIndex(of: "."), dot != scalars.startIndex,
            name.utf8.distance(from: dot, to: name.utf8.endIndex) <= 20
        else { return (name, "") }
        return (String(scalars[..<dot]), String(scalars[dot...]))
    }

    /// Returns the name with a number: `name.wav` for 1, `name (2).wav` for 2.
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

    /// Returns the text without trailing blanks.
    private static func withoutBlanks(_ scalars: String.UnicodeScalarView) -> String {
        var scalars = scalars
        while let last = scalars.last, last.properties.isWhitespace { scalars.removeLast() }
        return String(scalars)
    }
}
