// SPDX-License-Identifier: Apache-2.0

/// Parses TOML's dates and times (RFC 3339). They are validated and kept as written.
enum TOMLTime {
    /// Parses a date or time; nil if the word is neither.
    static func content(_ word: ArraySlice<UInt8>) throws(TOMLRangeError) -> TOMLValue.Content? {
        var rest = word
        let isDate = rest.dropFirst(4).first == 0x2D
        if isDate {
            guard try date(&rest) else { return nil }
            if rest.isEmpty { return .time(String(decoding: word, as: UTF8.self)) }
            guard let separator = rest.popFirst(), "Tt ".utf8.contains(separator) else { return nil }
        }
        guard try time(&rest) else { return nil }
        if isDate, !rest.isEmpty {
            let sign = rest.removeFirst()
            if sign == 0x2B || sign == 0x2D {
                guard let hours = number(&rest, 2), skipByte(0x3A, &rest), let minutes = number(&rest, 2) else {
                    return nil
                }
                guard hours < 24, minutes < 60 else {
                    throw TOMLRangeError(problem: "does not have a valid UTC offset")
                }
            } else if sign != UInt8(ascii: "Z"), sign != UInt8(ascii: "z") {
                return nil
            }
        }
        return rest.isEmpty ? .time(String(decoding: word, as: UTF8.self)) : nil
    }

    private static func date(_ rest: inout ArraySlice<UInt8>) throws(TOMLRangeError) -> Bool {
        guard let year = number(&rest, 4), skipByte(0x2D, &rest), let month = number(&rest, 2), skipByte(0x2D, &rest),
            let day = number(&rest, 2)
        else { return false }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...12).contains(month), (1...days[month - 1]).contains(day) else {
            throw TOMLRangeError(problem: "is not a valid date")
        }
        return true
    }

    private static func time(_ rest: inout ArraySlice<UInt8>) throws(TOMLRangeError) -> Bool {
        guard let hour = number(&rest, 2), skipByte(0x3A, &rest), let minute = number(&rest, 2), skipByte(0x3A, &rest),
            let second = number(&rest, 2)
        else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            guard rest.first?.isDigit == true else { return false }
            rest = rest.drop { $0.isDigit }
        }
        // Second 60 is a leap second.
        guard hour < 24, minute < 60, second <= 60 else { throw TOMLRangeError(problem: "is not a valid time") }
        return true
    }

    private static func number(_ rest: inout ArraySlice<UInt8>, _ count: Int) -> Int? {
        guard rest.count >= count, rest.prefix(count).allSatisfy(\.isDigit) else { return nil }
        let number = rest.prefix(count).reduce(0) { $0 * 10 + Int($1 - 0x30) }
        rest.removeFirst(count)
        return number
    }

    private static func skipByte(_ byte: UInt8, _ rest: inout ArraySlice<UInt8>) -> Bool {
        guard rest.first == byte else { return false }
        rest.removeFirst()
        return true
    }
}
