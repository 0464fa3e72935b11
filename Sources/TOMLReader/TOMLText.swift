// SPDX-License-Identifier: Apache-2.0

/// The bytes of a document, and the current position in them.
struct TOMLText {
    private let bytes: [UInt8]
    /// The index of the current byte.
    private(set) var at: Int
    private(set) var place = SourcePlace.start

    /// - Throws: ``TOMLError`` if the bytes are not valid UTF-8, or too many.
    init(_ bytes: [UInt8]) throws(TOMLError) {
        self.bytes = bytes
        at = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        guard bytes.count <= TOMLValue.maximumByteCount else {
            throw error(.limit, "this is larger than \(TOMLValue.maximumByteCount >> 20) MiB")
        }
        try checkEncoding()
    }

    /// The byte at the current position; nil at the end of the document.
    var next: UInt8? { at < bytes.count ? bytes[at] : nil }

    /// Returns the byte `count` bytes after the current position; nil beyond the end.
    func peek(_ count: Int) -> UInt8? { at + count < bytes.count ? bytes[at + count] : nil }

    func isNext(_ word: StaticString) -> Bool {
        // Unsafe: the buffer of the word's bytes does not leave the closure.
        word.withUTF8Buffer { unsafe bytes[at...].starts(with: $0) }
    }

    /// Advances by `count` bytes. Line and column are exact at the start of a scalar.
    mutating func advance(_ count: Int = 1) {
        for _ in 0..<count where at < bytes.count {
            if bytes[at] == .lineFeed {
                place.line += 1
                place.column = 1
            } else if bytes[at] & 0xC0 != 0x80 {
                place.column += 1
            }
            at += 1
        }
    }

    /// Returns the text from the byte index `start` to the current position.
    func text(since start: Int) -> String { String(decoding: bytes[start..<at], as: UTF8.self) }

    func bytes(since start: Int) -> ArraySlice<UInt8> { bytes[start..<at] }

    func error(_ reason: TOMLError.Reason, _ problem: String, at place: SourcePlace? = nil) -> TOMLError {
        TOMLError(reason: reason, place: place ?? self.place, problem: problem)
    }

    /// The character at the current position, described for messages.
    var found: String {
        guard let next else { return "unexpected end of the file" }
        switch next {
        case .lineFeed, .carriageReturn: return "unexpected end of the line"
        case 0..<0x20, 0x7F:
            return
                "unexpected control character (U+00\(next < 16 ? "0" : "")\(String(next, radix: 16, uppercase: true)))"
        default:
            let scalar = String(decoding: bytes[at..<min(bytes.count, at + 4)], as: UTF8.self).unicodeScalars.first
            return "unexpected '\(scalar.map(Character.init) ?? "?")'"
        }
    }

    private mutating func checkEncoding() throws(TOMLError) {
        guard !validate(bytes) else { return }
        while at < bytes.count {
            let count = min(bytes.count - at, Self.scalarByteCount(bytes[at]))
            guard validate(bytes[at..<at + count]) else {
                throw error(.encoding, "this is not UTF-8 text; name a text file or save this one as UTF-8")
            }
            advance(count)
        }
    }

    private func validate(_ part: some Collection<UInt8>) -> Bool { String(validating: part, as: UTF8.self) != nil }

    /// Returns the number of bytes of a scalar that begins with this byte.
    private static func scalarByteCount(_ first: UInt8) -> Int {
        switch first {
        case 0xF0...: 4
        case 0xE0...: 3
        case 0xC0...: 2
        default: 1
        }
    }
}

extension UInt8 {
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let tab = UInt8(ascii: "\t")
    static let space = UInt8(ascii: " ")
    static let quote = UInt8(ascii: "\"")
    static let apostrophe = UInt8(ascii: "'")

    var isDigit: Bool { (0x30...0x39).contains(self) }

    /// True if the byte is allowed in a key without quotes.
    var isBareKey: Bool {
        isDigit || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) || self == 0x2D || self == 0x5F
    }
}
