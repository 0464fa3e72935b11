/// The SHA-256 of a public key in the form that certificates hold it in (SubjectPublicKeyInfo, DER): what is pinned.
///
/// It stays when a certificate is reissued for other addresses or dates.
public struct KeyFingerprint: Hashable, Sendable, CustomStringConvertible {
    /// 32 of them.
    public let bytes: [UInt8]

    /// Nil unless there are 32 bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// Reads 64 hexadecimal digits of either case.
    public init?(hex: String) {
        let digits = hex.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == 64, !digits.contains(nil) else { return nil }
        let values = digits.compactMap { $0 }
        bytes = stride(from: 0, to: 64, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }

    /// 64 lower-case digits.
    public var hex: String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// For people: the first 16 digits in groups of four.
    public var description: String {
        let digits = Array(hex)
        return stride(from: 0, to: 16, by: 4).map { String(digits[$0..<$0 + 4]) }.joined(separator: " ")
    }
}

extension KeyFingerprint: Codable {
    /// From 64 hexadecimal digits.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = Self(hex: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not 64 hexadecimal digits")
        }
        self = value
    }

    /// As 64 lower-case digits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(hex)
    }
}
