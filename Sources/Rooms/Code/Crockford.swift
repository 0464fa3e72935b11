// SPDX-License-Identifier: Apache-2.0

/// Crockford's base 32: digits and letters without I, L, O and U.
enum Crockford {
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")

    /// Returns the character of a value below 32.
    static func character(_ value: UInt8) -> Character { alphabet[Int(value)] }

    /// Returns the value of a character in upper or lower case; nil if it has none. O is read as 0, I and L as 1.
    static func value(_ character: Character) -> UInt8? {
        guard let ascii = character.asciiValue else { return nil }
        let upper = ascii >= 97 && ascii <= 122 ? ascii - 32 : ascii
        switch upper {
        case 48...57: return upper - 48
        case UInt8(ascii: "O"): return 0
        case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
        default: return alphabet.firstIndex(of: Character(Unicode.Scalar(upper))).map { UInt8($0) }
        }
    }

    /// Returns bytes as text; the unused bits of the last character are zero.
    static func text(_ bytes: [UInt8]) -> String {
        var bits = BitString()
        for byte in bytes { bits.append(UInt128(byte), count: 8) }
        return String(bits.symbols.map(character))
    }

    /// Returns the `count` bytes of a text made by ``text(_:)``; nil if the length, a character or an unused bit is wrong.
    static func bytes(_ text: some StringProtocol, count: Int) -> [UInt8]? {
        guard text.utf8.count == (count * 8 + 4) / 5 else { return nil }
        let values = text.compactMap(value)
        guard values.count == text.utf8.count else { return nil }
        var bits = BitString(symbols: values)
        let bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: bits.readBits(8)) }
        return bits.isZero ? bytes : nil
    }
}

/// A short sequence of bits, the most significant first.
struct BitString {
    private var bits: [Bool] = []
    private var readPosition = 0

    init() {}

    /// Creates a sequence from symbols of five bits each.
    init(symbols: [UInt8]) {
        for symbol in symbols { append(UInt128(symbol), count: 5) }
    }

    /// The number of bits not read yet.
    var count: Int { bits.count - readPosition }

    /// True if all bits not read yet are zero.
    var isZero: Bool { !bits[readPosition...].contains(true) }

    /// All bits as symbols of five bits each; the last symbol is padded with zeros.
    var symbols: [UInt8] {
        stride(from: 0, to: bits.count, by: 5).map { start in
            (start..<start + 5).reduce(0) { $0 << 1 | ($1 < bits.count && bits[$1] ? 1 : 0) }
        }
    }

    mutating func append(_ value: UInt128, count: Int) {
        for place in (0..<count).reversed() { bits.append(value >> UInt128(place) & 1 == 1) }
    }

    /// - Precondition: at least `count` bits are not read yet.
    mutating func readBits(_ count: Int) -> UInt128 {
        defer { readPosition += count }
        return bits[readPosition..<readPosition + count].reduce(0) { $0 << 1 | ($1 ? 1 : 0) }
    }
}
