// SPDX-License-Identifier: Apache-2.0

/// Reads TOML 1.0 (toml.io/en/v1.0.0), strictly, by recursive descent.
///
/// The parser recurses into arrays and inline tables only, at most ``TOMLValue/maximumDepth`` deep.
struct TOMLParser {
    var text: TOMLText

    init(_ bytes: [UInt8]) throws(TOMLError) { text = try TOMLText(bytes) }

    mutating func document() throws(TOMLError) -> TOMLValue {
        var tables = TOMLTables(at: .start)
        var table = 0
        var depth = 0
        while true {
            try skipLines()
            guard let next = text.next else { return tables.value() }
            if next == UInt8(ascii: "[") {
                let header = try header()
                table = try tables.open(header.path, isList: header.isList)
                depth = header.path.count + (header.isList ? 1 : 0)
            } else {
                let pair = try pair(depth)
                try tables.set(pair.path, to: pair.value, in: table)
            }
            try endLine()
        }
    }

    private mutating func header() throws(TOMLError) -> (path: [TOMLKey], isList: Bool) {
        let isList = text.isNext("[[")
        text.advance(isList ? 2 : 1)
        skipSpace()
        let path = try key(0)
        guard text.isNext(isList ? "]]" : "]") else {
            throw text.error(.syntax, "\(text.found); end the header with \(isList ? "]]" : "]")")
        }
        text.advance(isList ? 2 : 1)
        return (path, isList)
    }

    /// Reads `key = value` in a table. `depth` is the table's depth of nesting.
    mutating func pair(_ depth: Int) throws(TOMLError) -> (path: [TOMLKey], value: TOMLValue) {
        let path = try key(depth)
        guard text.next == UInt8(ascii: "=") else {
            throw text.error(.syntax, "\(text.found); write = and a value after the key, such as gain = 3")
        }
        text.advance()
        skipSpace()
        return (path, try value(depth + path.count))
    }

    /// Reads a dotted key and the whitespace after it.
    private mutating func key(_ depth: Int) throws(TOMLError) -> [TOMLKey] {
        var path: [TOMLKey] = []
        while true {
            let place = text.place
            path.append(TOMLKey(name: try keyPart(), place: place))
            guard depth + path.count <= TOMLValue.maximumDepth else { throw tooDeep(place) }
            skipSpace()
            guard text.next == UInt8(ascii: ".") else { return path }
            text.advance()
            skipSpace()
        }
    }

    private mutating func keyPart() throws(TOMLError) -> String {
        switch text.next {
        case .quote?, .apostrophe?:
            guard !text.isNext("\"\"\""), !text.isNext("'''") else {
                throw text.error(.syntax, "a key is on one line; put it in single quotes \" or '")
            }
            return try string()
        default:
            let start = text.at
            while let next = text.next, next.isBareKey { text.advance() }
            guard text.at > start else {
                throw text.error(
                    .syntax,
                    "\(text.found); write a name: letters, digits, _ and -, or anything in quotes")
            }
            return text.text(since: start)
        }
    }

    func tooDeep(_ place: SourcePlace) -> TOMLError {
        text.error(.limit, "this is more than \(TOMLValue.maximumDepth) tables and lists deep", at: place)
    }

    mutating func skipSpace() {
        while text.next == .space || text.next == .tab { text.advance() }
    }

    /// Skips empty lines and comments.
    mutating func skipLines() throws(TOMLError) {
        while true {
            skipSpace()
            try skipComment()
            guard try skipLineEnd() else { return }
        }
    }

    private mutating func endLine() throws(TOMLError) {
        skipSpace()
        try skipComment()
        guard text.next != nil, try !skipLineEnd() else { return }
        throw text.error(.syntax, "\(text.found); write one key = value or header per line")
    }

    private mutating func skipComment() throws(TOMLError) {
        guard text.next == UInt8(ascii: "#") else { return }
        while let next = text.next, next != .lineFeed, !text.isNext("\r\n") {
            try refuseControl(next)
            text.advance()
        }
    }

    /// Skips a line end. Returns true if there was one.
    mutating func skipLineEnd() throws(TOMLError) -> Bool {
        switch text.next {
        case .lineFeed?:
            text.advance()
            return true
        case .carriageReturn?:
            guard text.isNext("\r\n") else {
                throw text.error(
                    .syntax, "a carriage return alone does not end a line; save the file with Unix line endings")
            }
            text.advance(2)
            return true
        default: return false
        }
    }

    func refuseControl(_ byte: UInt8) throws(TOMLError) {
        guard (0..<0x20).contains(byte) && byte != .tab || byte == 0x7F else { return }
        if byte == 0 { throw text.error(.syntax, "a zero byte; save the file as plain text") }
        throw text.error(.syntax, "\(text.found); in a string write it as an escape, such as \\n or \\u0007")
    }
}
