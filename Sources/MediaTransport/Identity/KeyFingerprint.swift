/// The SHA-256 of a public key's SubjectPublicKeyInfo: who a peer is, and what is pinned.
public struct KeyFingerprint: Hashable, Sendable, CustomStringConvertible {
    /// Bytes of a fingerprint.
    public static let size = 32

    /// The hash; 32 bytes.
    public let bytes: [UInt8]

    /// nil unless there are 32 bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }

    /// Reads 64 hexadecimal digits, of either case.
    public init?(hex: String) {
        let digits = hex.utf8.map(Self.value(ofDigit:))
        guard digits.count == 2 * Self.size, !digits.contains(nil) else { return nil }
        bytes = stride(from: 0, to: digits.count, by: 2).map { (digits[$0] ?? 0) << 4 | (digits[$0 + 1] ?? 0) }
    }

    /// All 64 digits, in lower case.
    public var hex: String {
        String(decoding: bytes.flatMap { [Self.digit($0 >> 4), Self.digit($0 & 15)] }, as: UTF8.self)
    }

    /// For people: the first 16 digits in groups of four, `01ab 23cd 45ef 6789`.
    public var description: String {
        let digits = Array(hex.prefix(16))
        return stride(from: 0, to: digits.count, by: 4).map { String(digits[$0..<$0 + 4]) }.joined(separator: " ")
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value + (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
    }

    private static func value(ofDigit byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension KeyFingerprint: Codable {
    /// From 64 hexadecimal digits.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let read = try KeyFingerprint(hex: container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not 64 hexadecimal digits")
        }
        self = read
    }

    /// As 64 hexadecimal digits in lower case.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(hex)
    }
}
