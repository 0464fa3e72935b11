// SPDX-License-Identifier: Apache-2.0

/// The SHA-256 of a public key (its SubjectPublicKeyInfo, RFC 5280 §4.1): what a peer is known by, and what is pinned.
///
/// It stays the same when a certificate is made anew for other addresses or dates.
public struct KeyFingerprint: Hashable, Sendable {
    private let digest: SHA256Digest

    /// Bytes of a fingerprint.
    package static let size = SHA256Digest.size

    init(_ digest: SHA256Digest) { self.digest = digest }

    /// A fingerprint of these 32 bytes; nil if they are not 32.
    public init?(bytes: [UInt8]) {
        guard let digest = SHA256Digest(bytes: bytes) else { return nil }
        self.digest = digest
    }

    /// A fingerprint of 64 hexadecimal digits in either case; nil for anything else.
    public init?(hex: String) {
        guard let digest = SHA256Digest(hex: hex) else { return nil }
        self.digest = digest
    }

    /// The 32 bytes.
    public var bytes: [UInt8] { digest.bytes }
    /// 64 hexadecimal digits, lower case.
    public var hex: String { digest.hex() }
}

extension KeyFingerprint: CustomStringConvertible {
    /// For people to compare: the first 16 digits in groups of four, `1a2b 3c4d 5e6f 7a8b`.
    public var description: String {
        let digits = Array(hex.prefix(16))
        return stride(from: 0, to: 16, by: 4).map { String(digits[$0..<$0 + 4]) }.joined(separator: " ")
    }
}

extension KeyFingerprint: Codable {
    /// Reads ``hex``.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let fingerprint = KeyFingerprint(hex: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "a key's fingerprint is 64 hexadecimal digits")
        }
        self = fingerprint
    }

    /// Writes ``hex``.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(hex)
    }
}
