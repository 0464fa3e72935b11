// SPDX-License-Identifier: Apache-2.0

/// Crockford's base 32: digits and letters without I, L, O and U.
enum Crockford {
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")

    /// The character of a value below 32.
    static func character(_ value: UInt8) -> Character { alphabet[Int(value)] }

    /// Returns the value of a character in either case; O is read as 0, I and L as 1.
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

    /// Returns bytes as text, with zero bits in the last character.
    static func text(_ bytes: [UInt8]) -> String {
        var bits = BitString()
        for byte in bytes { bits.append(UInt128(byte), count: 8) }
        return String(bits.symbols.map(character))
    }

    /// Returns the bytes of a text from ``text(_:)``; nil for another length or superfluous bits.
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
    private var next = 0

    init() {}

    /// Creates the bits of symbols of five bits.
    init(symbols: [UInt8]) {
        for symbol in symbols { append(UInt128(symbol), count: 5) }
    }

    /// The number of bits not read yet.
    var count: Int { bits.count - next }

    /// Returns true if the remaining bits are zero.
    var isZero: Bool { !bits[next...].contains(true) }

    /// The symbols of five bits, the last one padded with zeros.
    var symbols: [UInt8] {
        stride(from: 0, to: bits.count, by: 5).map { start in
            (start..<start + 5).reduce(0) { $0 << 1 | ($1 < bits.count && bits[$1] ? 1 : 0) }
        }
    }

    mutating func append(_ value: UInt128, count: Int) {
        for place in (0..<count).reversed() { bits.append(value >> UInt128(place) & 1 == 1) }
    }

    /// - Precondition: that many bits remain.
    mutating func readBits(_ count: Int) -> UInt128 {
        defer { next += count }
        return bits[next..<next + count].reduce(0) { $0 << 1 | ($1 ? 1 : 0) }
    }
}
