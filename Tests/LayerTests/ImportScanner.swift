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

    /// `source` without comments and string literals. A literal's interpolations go with it: none holds an import.
    static func code(_ source: String) -> String {
        var text = Array(source.utf8)[...]
        var code: [UInt8] = []
        var depth = 0  // of nested comments
        while !text.isEmpty {
            if text.starts(with: "/*".utf8) {
                depth += 1
                text = text.dropFirst(2)
            } else if depth > 0 {
                let ends = text.starts(with: "*/".utf8)
                depth -= ends ? 1 : 0
                text = text.dropFirst(ends ? 2 : 1)
            } else if text.starts(with: "//".utf8) {
                text = text.drop { $0 != UInt8(ascii: "\n") }
            } else if let after = literal(text) {
                text = after
            } else {
                code.append(text[text.startIndex])
                text = text.dropFirst()
            }
        }
        return String(decoding: code, as: UTF8.self)
    }

    /// What follows the string literal at the start of `text`, or nil where none begins there.
    private static func literal(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let hashes = text.prefix { $0 == UInt8(ascii: "#") }
        let quotes = text.dropFirst(hashes.count).prefix { $0 == UInt8(ascii: "\"") }
        guard !quotes.isEmpty else { return nil }
        let delimiter = (quotes.count >= 3 ? quotes.prefix(3) : quotes.prefix(1)) + hashes
        var rest = text.dropFirst(delimiter.count)
        while !rest.isEmpty, !rest.starts(with: delimiter) {
            let escape = hashes.isEmpty && rest.first == UInt8(ascii: "\\")
            rest = rest.dropFirst(escape ? 2 : 1)
        }
        return rest.dropFirst(delimiter.count)
    }
}
