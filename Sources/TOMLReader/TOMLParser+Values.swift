// SPDX-License-Identifier: Apache-2.0

extension TOMLParser {
    /// Reads a value after an equals sign or in an array. `depth` is the value's depth of nesting.
    mutating func value(_ depth: Int) throws(TOMLError) -> TOMLValue {
        let place = text.place
        guard depth <= TOMLValue.maximumDepth else { throw tooDeep(place) }
        switch text.next {
        case .quote?, .apostrophe?: return TOMLValue(.string(try string()), place)
        case UInt8(ascii: "[")?: return TOMLValue(.array(try elements(depth)), place)
        case UInt8(ascii: "{")?: return try inlineTable(depth)
        default: return TOMLValue(try word(), place)
        }
    }

    private mutating func elements(_ depth: Int) throws(TOMLError) -> [TOMLValue] {
        let opening = text.place
        text.advance()
        var elements: [TOMLValue] = []
        while true {
            try skipLines()
            if text.next == UInt8(ascii: "]") { break }
            if text.next == nil { throw text.error(.syntax, "this list has no end; end it with ]", at: opening) }
            elements.append(try value(depth + 1))
            try skipLines()
            if text.next == UInt8(ascii: ",") {
                text.advance()
            } else if text.next != nil, text.next != UInt8(ascii: "]") {
                throw text.error(.syntax, "\(text.found); put commas between list entries and end the list with ]")
            }
        }
        text.advance()
        return elements
    }

    private mutating func inlineTable(_ depth: Int) throws(TOMLError) -> TOMLValue {
        let place = text.place
        var tables = TOMLTables(at: place)
        text.advance()
        skipSpace()
        guard text.next != UInt8(ascii: "}") else {
            text.advance()
            return tables.value()
        }
        while true {
            let pair = try pair(depth)
            try tables.set(pair.path, to: pair.value, in: 0)
            skipSpace()
            guard text.next == UInt8(ascii: ",") else { break }
            text.advance()
            skipSpace()
        }
        guard text.next == UInt8(ascii: "}") else {
            throw text.error(
                .syntax,
                "\(text.found); a table in braces is one line: { key = value, key = value }")
        }
        text.advance()
        return tables.value()
    }

    /// Reads true, false, a number, a date or a time.
    private mutating func word() throws(TOMLError) -> TOMLValue.Content {
        let place = text.place
        let start = text.at
        while let next = text.next, next.isBareKey || next == 0x2B || next == 0x2E || next == 0x3A || next >= 0x80 {
            text.advance()
        }
        // A date and its time may be separated by a space.
        if isDate(text.bytes(since: start)), text.next == .space, text.peek(1)?.isDigit == true {
            text.advance()
            while let next = text.next, next.isDigit || ":.+-Zz".utf8.contains(next) { text.advance() }
        }
        let word = text.bytes(since: start)
        switch String(decoding: word, as: UTF8.self) {
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "":
            throw text.error(
                .syntax, "\(text.found); write a value: a number, true, false, a \"string\", a [list]")
        default: break
        }
        do throws(TOMLRangeError) {
            if let number = try TOMLNumber.content(word) { return number }
            if let time = try TOMLTime.content(word) { return time }
        } catch {
            throw text.error(.range, "'\(Self.shown(word))' \(error.problem)", at: place)
        }
        let isNumeric = word.first.map { $0.isDigit || "+-.".utf8.contains($0) } ?? false
        throw text.error(
            .syntax,
            "'\(Self.shown(word))' is not \(isNumeric ? "a number; write it as 3, -0.5 or 1e3" : "a number, true or false; a string needs quotes")",
            at: place)
    }

    private func isDate(_ word: ArraySlice<UInt8>) -> Bool {
        word.count == 10 && word.dropFirst(4).first == 0x2D && word.first?.isDigit == true
    }

    private static func shown(_ word: ArraySlice<UInt8>) -> String {
        let text = String(decoding: word.prefix(44), as: UTF8.self)
        return text.count > 40 ? "\(text.prefix(40))…" : text
    }
}

/// A number or date that has the right form but is out of range.
struct TOMLRangeError: Error {
    /// The part of the message that follows the faulty word.
    var problem: String
}
