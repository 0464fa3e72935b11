// SPDX-License-Identifier: Apache-2.0

/// Finds the modules that Swift source imports.
enum ImportScanner {
    /// Understands attributes, access levels, `import struct M.T` and `import M.Sub`; skips comments and string literals.
    static func modules(in source: String) -> Set<String> {
        var modules: Set<String> = []
        for statement in code(source).split(whereSeparator: { $0.isNewline || $0 == ";" }) {
            var words = statement.split(whereSeparator: \.isWhitespace)[...]
            while let word = words.first, word.hasPrefix("@") || prefixes.contains(word) { words.removeFirst() }
            guard words.first == "import" else { continue }
            words.removeFirst()
            if let kind = words.first, kinds.contains(kind) { words.removeFirst() }
            if let path = words.first, let module = path.split(separator: ".").first {
                modules.insert(module.filter { $0 != "`" })
            }
        }
        return modules
    }

    private static let prefixes: Set<Substring> = ["public", "package", "internal", "fileprivate", "private", "open"]
    private static let kinds: Set<Substring> = [
        "struct", "class", "enum", "protocol", "func", "var", "let", "typealias", "actor",
    ]

    /// Returns `source` without comments and string literals. Interpolations are removed with them, since none contains an
    /// import.
    static func code(_ source: String) -> String {
        var code: [UInt8] = []
        scan(source, code: { code.append($0) }, literal: { _, _ in })
        return String(decoding: code, as: UTF8.self)
    }

    /// Returns the string literals outside comments, without their delimiters, each with its first line, from 1. Interpolations
    /// stay in the text.
    static func literals(_ source: String) -> [(line: Int, text: String)] {
        var literals: [(line: Int, text: String)] = []
        scan(
            source, code: { _ in }, literal: { literals.append((line: $0, text: String(decoding: $1, as: UTF8.self))) })
        return literals
    }

    private static func scan(_ source: String, code: (UInt8) -> Void, literal: (Int, ArraySlice<UInt8>) -> Void) {
        var text = Array(source.utf8)[...]
        var depth = 0  // of nested comments
        var line = 1
        func drop(to rest: ArraySlice<UInt8>) {
            line += text[text.startIndex..<rest.startIndex].count { $0 == UInt8(ascii: "\n") }
            text = rest
        }
        while !text.isEmpty {
            if text.starts(with: "/*".utf8) {
                depth += 1
                drop(to: text.dropFirst(2))
            } else if depth > 0 {
                let ends = text.starts(with: "*/".utf8)
                depth -= ends ? 1 : 0
                drop(to: text.dropFirst(ends ? 2 : 1))
            } else if text.starts(with: "//".utf8) {
                drop(to: text.drop { $0 != UInt8(ascii: "\n") })
            } else if let (content, rest) = literalParts(text) {
                literal(line, content)
                drop(to: rest)
            } else {
                code(text[text.startIndex])
                drop(to: text.dropFirst())
            }
        }
    }

    /// Returns the string literal at the start of `text` without its delimiters, and the text after it; nil if there is none.
    /// Interpolations stay in it, with their own literals.
    private static func literalParts(_ text: ArraySlice<UInt8>) -> (ArraySlice<UInt8>, ArraySlice<UInt8>)? {
        let hashes = text.prefix { $0 == UInt8(ascii: "#") }
        let quotes = text.dropFirst(hashes.count).prefix { $0 == UInt8(ascii: "\"") }
        guard !quotes.isEmpty else { return nil }
        let delimiter = (quotes.count >= 3 ? quotes.prefix(3) : quotes.prefix(1)) + hashes
        let escape = [UInt8(ascii: "\\")] + hashes
        let content = text.dropFirst(delimiter.count)
        var rest = content
        while !rest.isEmpty, !rest.starts(with: delimiter) {
            if rest.starts(with: escape + [UInt8(ascii: "(")]) {
                rest = afterInterpolation(rest.dropFirst(escape.count + 1))
            } else {
                rest = rest.dropFirst(rest.starts(with: escape) ? escape.count + 1 : 1)
            }
        }
        return (content[..<rest.startIndex], rest.dropFirst(delimiter.count))
    }

    /// Returns the text after the parenthesis that ends an interpolation.
    private static func afterInterpolation(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = text
        var depth = 1
        while !rest.isEmpty, depth > 0 {
            if let (_, after) = literalParts(rest) {
                rest = after
                continue
            }
            depth += rest.first == UInt8(ascii: "(") ? 1 : rest.first == UInt8(ascii: ")") ? -1 : 0
            rest = rest.dropFirst()
        }
        return rest
    }
}
