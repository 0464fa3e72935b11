// SPDX-License-Identifier: Apache-2.0

extension TOMLParser {
    /// Reads a string of any kind: basic or literal, on one line or on several.
    mutating func string() throws(TOMLError) -> String {
        let opening = text.place
        let isLiteral = text.next == .apostrophe
        let quote = isLiteral ? UInt8.apostrophe : .quote
        let isLong = text.isNext(isLiteral ? "'''" : "\"\"\"")
        text.advance(isLong ? 3 : 1)
        if isLong, text.next == .lineFeed || text.isNext("\r\n") { _ = try skipLineEnd() }
        var result: [UInt8] = []
        while let next = text.next {
            switch next {
            case quote:
                if closes(isLong, quote, into: &result) { return String(decoding: result, as: UTF8.self) }
            case UInt8(ascii: "\\") where !isLiteral:
                try escape(isLong, into: &result)
            case .lineFeed where isLong, .carriageReturn where isLong:
                let start = text.at
                _ = try skipLineEnd()
                result += text.bytes(since: start)
            case .lineFeed, .carriageReturn: throw unterminated(isLong, quote, opening)
            default:
                try refuseControl(next)
                result.append(next)
                text.advance()
            }
        }
        throw unterminated(isLong, quote, opening)
    }

    /// Reads the quotes at the current position. Returns true if they end the string. In a multi-line string, up to two quotes
    /// may belong to the content.
    private mutating func closes(_ isLong: Bool, _ quote: UInt8, into result: inout [UInt8]) -> Bool {
        var count = 1
        while isLong, count < 5, text.peek(count) == quote { count += 1 }
        text.advance(count)
        guard isLong else { return true }
        for _ in 0..<(count < 3 ? count : count - 3) { result.append(quote) }
        return count >= 3
    }

    private func unterminated(_ isLong: Bool, _ quote: UInt8, _ opening: SourcePlace) -> TOMLError {
        let end = String(repeating: Character(Unicode.Scalar(quote)), count: isLong ? 3 : 1)
        return text.error(.syntax, "this string has no end; end it with \(end)", at: opening)
    }

    private mutating func escape(_ isLong: Bool, into result: inout [UInt8]) throws(TOMLError) {
        let place = text.place
        text.advance()
        guard let letter = text.next else { return }
        if isLong, try skipFolded() { return }
        let escapedByte: UInt8
        switch letter {
        case UInt8(ascii: "b"): escapedByte = 0x08
        case UInt8(ascii: "t"): escapedByte = .tab
        case UInt8(ascii: "n"): escapedByte = .lineFeed
        case UInt8(ascii: "f"): escapedByte = 0x0C
        case UInt8(ascii: "r"): escapedByte = .carriageReturn
        case .quote, UInt8(ascii: "\\"): escapedByte = letter
        case UInt8(ascii: "u"), UInt8(ascii: "U"):
            text.advance()
            result += try scalar(letter == UInt8(ascii: "u") ? 4 : 8, place)
            return
        default:
            throw text.error(
                .syntax, "unknown escape; write a backslash as \\\\, or put the string in single quotes '",
                at: place)
        }
        text.advance()
        result.append(escapedByte)
    }

    /// Skips the line end and all following blanks after a backslash that ends a line. Returns false if no line end follows.
    private mutating func skipFolded() throws(TOMLError) -> Bool {
        var count = 0
        while text.peek(count) == .space || text.peek(count) == .tab { count += 1 }
        guard text.peek(count) == .lineFeed || text.peek(count) == .carriageReturn else { return false }
        repeat { skipSpace() } while try skipLineEnd()
        return true
    }

    private mutating func scalar(_ digits: Int, _ place: SourcePlace) throws(TOMLError) -> [UInt8] {
        let start = text.at
        while text.at - start < digits, let next = text.next, Character(Unicode.Scalar(next)).isHexDigit {
            text.advance()
        }
        guard text.at - start == digits else {
            throw text.error(.syntax, "this escape takes \(digits) hexadecimal digits", at: place)
        }
        guard let code = UInt32(text.text(since: start), radix: 16), let scalar = Unicode.Scalar(code) else {
            throw text.error(
                .range, "this escape is not a Unicode scalar; the range is 0 to 10FFFF, without D800 to DFFF", at: place
            )
        }
        return Array(String(scalar).utf8)
    }
}
