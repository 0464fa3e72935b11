/// RFC 4648 §6, in lower case and without padding; read in either case.
enum Base32 {
    private static let digits = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        var bits = 0
        var held: UInt32 = 0
        for byte in bytes {
            held = held << 8 | UInt32(byte)
            bits += 8
            while bits >= 5 {
                bits -= 5
                text.append(digits[Int(held >> UInt32(bits)) & 31])
            }
        }
        if bits > 0 { text.append(digits[Int(held << UInt32(5 - bits)) & 31]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// nil where a character is no digit, or what is left over at the end is not 0.
    static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits = 0
        var held: UInt32 = 0
        for character in text.utf8 {
            let lower = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(character) ? character + 32 : character
            guard let digit = digits.firstIndex(of: lower) else { return nil }
            held = (held << 5 | UInt32(digit)) & 0xFFFF
            bits += 5
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: held >> UInt32(bits)))
            }
        }
        guard bits < 5, held & (1 << UInt32(bits) - 1) == 0 else { return nil }
        return bytes
    }
}
