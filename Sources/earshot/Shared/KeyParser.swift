// SPDX-License-Identifier: Apache-2.0

/// A key of a terminal.
enum Key: Equatable, Sendable {
    case character(Character)
    case enter, tab, backspace, delete, escape
    /// Ctrl-U, which clears the line.
    case clear
    case up, down, left, right, home, end, pageUp, pageDown
}

/// Parses the keys that a terminal sends, in any pieces: UTF-8, and the sequences of ECMA-48 and xterm. Unknown sequences are
/// skipped.
struct KeyParser {
    private var bytes: [UInt8] = []

    /// True if the stored bytes are the beginning of a longer sequence or character.
    var isWaiting: Bool { !bytes.isEmpty }

    /// Adds bytes.
    mutating func take(_ more: some Sequence<UInt8>) { bytes += more }

    /// Returns the next key; nil if the added bytes contain no further key.
    /// - Parameter isComplete: true if no byte has come for a while, so that a pending Escape byte is the Escape key.
    mutating func next(isComplete: Bool = false) -> Key? {
        while let first = bytes.first {
            let found: (length: Int, key: Key?)? =
                first == 0x1B ? escaped(isComplete) : first < 0x80 ? (1, Self.plain(first)) : character(first)
            guard let found else {
                if isComplete { bytes = [] }
                return nil
            }
            bytes.removeFirst(found.length)
            if let key = found.key { return key }
        }
        return nil
    }

    private static func plain(_ byte: UInt8) -> Key? {
        switch byte {
        case 0x0A, 0x0D: .enter
        case 0x09: .tab
        case 0x08, 0x7F: .backspace
        case 0x15: .clear
        case 0x20...: .character(Character(Unicode.Scalar(byte)))
        default: nil
        }
    }

    private func character(_ first: UInt8) -> (Int, Key?)? {
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 1
        guard bytes.count >= length else { return nil }
        guard length > 1, let text = String(validating: bytes[..<length], as: UTF8.self), let one = text.first else {
            return (1, nil)
        }
        return (length, .character(one))
    }

    private func escaped(_ isComplete: Bool) -> (Int, Key?)? {
        guard bytes.count > 1 else { return isComplete ? (1, .escape) : nil }
        switch bytes[1] {
        case UInt8(ascii: "["):
            guard let end = bytes.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else {
                return bytes.count > 32 ? (bytes.count, nil) : nil
            }
            return (end + 1, Self.sequence(parameters: bytes[2..<end], final: bytes[end]))
        case UInt8(ascii: "O"):
            guard bytes.count > 2 else { return nil }
            return (3, Self.sequence(parameters: [], final: bytes[2]))
        default: return (1, .escape)
        }
    }

    private static func sequence(parameters: ArraySlice<UInt8>, final: UInt8) -> Key? {
        switch final {
        case UInt8(ascii: "A"): .up
        case UInt8(ascii: "B"): .down
        case UInt8(ascii: "C"): .right
        case UInt8(ascii: "D"): .left
        case UInt8(ascii: "H"): .home
        case UInt8(ascii: "F"): .end
        case UInt8(ascii: "M"): .enter  // of the number pad
        case UInt8(ascii: "~"):
            switch String(decoding: parameters.prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self) {
            case "1", "7": .home
            case "4", "8": .end
            case "3": .delete
            case "5": .pageUp
            case "6": .pageDown
            default: nil
            }
        default: nil
        }
    }
}
