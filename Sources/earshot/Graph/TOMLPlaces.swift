/// Where something stands in a text: line and column from 1, a column being a Unicode scalar.
struct SourcePlace: Hashable, Sendable, Comparable {
    var line: Int
    var column: Int

    static let start = SourcePlace(line: 1, column: 1)

    static func < (a: Self, b: Self) -> Bool { (a.line, a.column) < (b.line, b.column) }
}

/// Where keys and values of a TOML document stand, which TOMLKit does not tell.
///
/// A scan of text that TOMLKit has already accepted: it follows headers, keys, strings, arrays and inline tables (TOML 1.0,
/// toml.io/en/v1.0.0) and looks at nothing else. Of text that is no TOML it gives some places or none, and ends.
struct TOMLPlaces {
    /// One step of the way to a value.
    enum Step: Hashable {
        case key(String)
        case index(Int)
    }

    /// Of keys, and of array elements.
    private(set) var keys: [[Step]: SourcePlace] = [:]
    /// Of what stands behind a key's equals sign; of tables with a header, the header.
    private(set) var values: [[Step]: SourcePlace] = [:]

    private let text: [Unicode.Scalar]
    private var at = 0
    private var here = SourcePlace.start
    private var lengths: [[Step]: Int] = [:]  // of arrays of tables

    init(_ source: String) {
        text = Array(source.unicodeScalars)
        var prefix: [Step] = []
        while skipBlank(acrossLines: true) {
            let before = at
            if next == "[" { prefix = header() } else { pair(below: prefix) }
            if at == before { advance() }
        }
    }

    private var next: Unicode.Scalar? { at < text.count ? text[at] : nil }

    private func isNext(_ scalar: Unicode.Scalar, after count: Int) -> Bool {
        at + count < text.count && text[at + count] == scalar
    }

    private mutating func advance(_ count: Int = 1) {
        for _ in 0..<count where at < text.count {
            if text[at] == "\n" {
                here = SourcePlace(line: here.line + 1, column: 1)
            } else {
                here.column += 1
            }
            at += 1
        }
    }

    /// Spaces; across lines, comments and line ends too. Returns whether anything is left.
    @discardableResult
    private mutating func skipBlank(acrossLines: Bool) -> Bool {
        while let scalar = next {
            switch scalar {
            case " ", "\t": advance()
            case "\n" where acrossLines, "\r" where acrossLines: advance()
            case "#" where acrossLines: while let scalar = next, scalar != "\n" { advance() }
            default: return true
            }
        }
        return false
    }

    private mutating func header() -> [Step] {
        advance()
        let isArray = next == "["
        if isArray { advance() }
        let parts = dottedKey()
        var path: [Step] = []
        for (i, part) in parts.enumerated() {
            path.append(.key(part.name))
            if keys[path] == nil { keys[path] = part.place }
            if isArray, i == parts.count - 1 {
                lengths[path, default: 0] += 1
                path.append(.index(lengths[path, default: 1] - 1))
            } else if let length = lengths[path] {
                path.append(.index(length - 1))
            }
        }
        if let first = parts.first {
            keys[path] = keys[path] ?? first.place
            values[path] = first.place
        }
        while next == "]" { advance() }
        return path
    }

    private mutating func pair(below prefix: [Step]) {
        var path = prefix
        for part in dottedKey() {
            path.append(.key(part.name))
            if keys[path] == nil {
                keys[path] = part.place
                values[path] = part.place
            }
        }
        skipBlank(acrossLines: false)
        guard next == "=" else { return }
        advance()
        skipBlank(acrossLines: false)
        value(path)
    }

    private mutating func value(_ path: [Step]) {
        values[path] = here
        switch next {
        case "\"", "'": _ = string()
        case "[": elements(until: "]") { $0.value(path + [.index($1)]) }
        case "{": elements(until: "}") { scan, _ in scan.pair(below: path) }
        default: while let scalar = next, !",]}#\r\n".unicodeScalars.contains(scalar) { advance() }
        }
    }

    private mutating func elements(until end: Unicode.Scalar, _ element: (inout Self, Int) -> Void) {
        advance()
        var index = 0
        while skipBlank(acrossLines: true) {
            if next == end { return advance() }
            let before = at
            element(&self, index)
            index += 1
            skipBlank(acrossLines: true)
            if next == "," { advance() }
            if at == before { advance() }
        }
    }

    private mutating func dottedKey() -> [(name: String, place: SourcePlace)] {
        var parts: [(name: String, place: SourcePlace)] = []
        while true {
            skipBlank(acrossLines: false)
            let place = here
            if next == "\"" || next == "'" {
                parts.append((string(), place))
            } else {
                var name = String.UnicodeScalarView()
                while let scalar = next, !" \t.=[]{},#\r\n".unicodeScalars.contains(scalar) {
                    name.append(scalar)
                    advance()
                }
                if name.isEmpty { return parts }
                parts.append((String(name), place))
            }
            skipBlank(acrossLines: false)
            guard next == "." else { return parts }
            advance()
        }
    }

    /// The string that begins here; escapes only as far as keys need them.
    private mutating func string() -> String {
        guard let quote = next else { return "" }
        let isLong = isNext(quote, after: 1) && isNext(quote, after: 2)
        advance(isLong ? 3 : 1)
        var result = String.UnicodeScalarView()
        while let scalar = next {
            if scalar == quote, !isLong || (isNext(quote, after: 1) && isNext(quote, after: 2)) {
                advance(isLong ? 3 : 1)
                if isLong { for _ in 0..<2 where next == quote { advance() } }
                break
            }
            if scalar == "\n", !isLong { break }
            advance()
            if scalar == "\\", quote == "\"" { escape(into: &result) } else { result.append(scalar) }
        }
        return String(result)
    }

    private mutating func escape(into result: inout String.UnicodeScalarView) {
        guard let scalar = next else { return }
        advance()
        let simple: [Unicode.Scalar: Unicode.Scalar] = ["b": "\u{8}", "t": "\t", "n": "\n", "f": "\u{C}", "r": "\r"]
        guard let digits = ["u": 4, "U": 8][scalar] else { return result.append(simple[scalar] ?? scalar) }
        var code = ""
        while code.count < digits, let digit = next, digit.properties.isASCIIHexDigit {
            code.unicodeScalars.append(digit)
            advance()
        }
        if let number = UInt32(code, radix: 16), let scalar = Unicode.Scalar(number) { result.append(scalar) }
    }
}
