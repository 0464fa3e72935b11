/// Which room it is, whatever its name and whoever admits to it: 16 random bytes.
public struct RoomID: Hashable, Sendable, CustomStringConvertible {
    /// 16 of them.
    public let bytes: [UInt8]

    private static let digits = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    /// Of these bytes; nil where they are not 16.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Reads 26 characters of Crockford's base 32, in either case.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 26 else { return nil }
        var bits: UInt128 = 0
        for (place, character) in text.uppercased().utf8.enumerated() {
            let read =
                switch character {
                case UInt8(ascii: "O"): UInt8(ascii: "0")
                case UInt8(ascii: "I"), UInt8(ascii: "L"): UInt8(ascii: "1")
                default: character
                }
            guard let digit = Self.digits.firstIndex(of: read) else { return nil }
            // The last character has three bits, and two that are zero.
            guard place < 25 || digit & 3 == 0 else { return nil }
            bits = place < 25 ? bits << 5 | UInt128(digit) : bits << 3 | UInt128(digit >> 2)
        }
        bytes = withUnsafeBytes(of: bits.bigEndian) { Array($0) }
    }

    /// 26 characters of Crockford's base 32.
    public var description: String {
        var bits: UInt128 = 0
        for byte in bytes { bits = bits << 8 | UInt128(byte) }
        var text: [UInt8] = []
        for place in 0..<25 { text.append(Self.digits[Int(truncatingIfNeeded: bits >> UInt128(123 - 5 * place)) & 31]) }
        text.append(Self.digits[Int(bits & 7) << 2])
        return String(decoding: text, as: UTF8.self)
    }
}
