// SPDX-License-Identifier: Apache-2.0

/// Parses TOML's integers and floating-point numbers.
enum TOMLNumber {
    /// The maximum length of a number in bytes.
    private static let maximumByteCount = 1_000

    /// Parses a number; nil if the word is not one.
    static func content(_ word: ArraySlice<UInt8>) throws(TOMLRangeError) -> TOMLValue.Content? {
        var rest = word
        let isSigned = rest.first == 0x2B || rest.first == 0x2D
        if isSigned { rest.removeFirst() }
        switch String(decoding: rest.prefix(4), as: UTF8.self) {
        case "inf": return .number(word.first == 0x2D ? -.infinity : .infinity)
        case "nan": return .number(.nan)
        default: break
        }
        guard rest.first?.isDigit == true else { return nil }
        if !isSigned, let radix = radix(rest.prefix(2)) {
            rest.removeFirst(2)
            guard let digits = digits(&rest, radix), rest.isEmpty else { return nil }
            return .integer(try integer(digits, radix))
        }
        guard let integerDigits = digits(&rest, 10), integerDigits.count == 1 || integerDigits.first != "0" else {
            return nil
        }
        var text = (word.first == 0x2D ? "-" : "") + integerDigits
        if rest.isEmpty { return .integer(try integer(text, 10)) }
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            guard let fraction = digits(&rest, 10) else { return nil }
            text += "." + fraction
        }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest.removeFirst()
            text += "e"
            if rest.first == 0x2B || rest.first == 0x2D { text += rest.removeFirst() == 0x2D ? "-" : "+" }
            guard let exponent = digits(&rest, 10) else { return nil }
            text += exponent
        }
        guard rest.isEmpty else { return nil }
        guard text.utf8.count <= maximumByteCount, let number = Double(text), number.isFinite else {
            throw TOMLRangeError(problem: "does not fit in a 64-bit floating-point number")
        }
        return .number(number)
    }

    private static func integer(_ digits: String, _ radix: Int) throws(TOMLRangeError) -> Int {
        guard digits.utf8.count <= maximumByteCount, let number = Int(digits, radix: radix) else {
            throw TOMLRangeError(problem: "does not fit in a 64-bit integer")
        }
        return number
    }

    private static func radix(_ prefix: ArraySlice<UInt8>) -> Int? {
        ["0x": 16, "0o": 8, "0b": 2][String(decoding: prefix, as: UTF8.self)]
    }

    /// Reads digits with single underscores between them. Returns the digits alone; nil if there are none.
    private static func digits(_ rest: inout ArraySlice<UInt8>, _ radix: Int) -> String? {
        func isDigit(_ byte: UInt8?) -> Bool {
            guard let byte else { return false }
            switch byte {
            case 0x30...0x39: return Int(byte) - 0x30 < radix
            case 0x41...0x46, 0x61...0x66: return radix == 16
            default: return false
            }
        }
        var digits: [UInt8] = []
        while let next = rest.first {
            if isDigit(next) {
                digits.append(next)
            } else if next != 0x5F || digits.isEmpty || !isDigit(rest.dropFirst().first) {
                break
            }
            rest.removeFirst()
        }
        return digits.isEmpty ? nil : String(decoding: digits, as: UTF8.self)
    }
}
