// SPDX-License-Identifier: Apache-2.0

/// The SHA-256 of a public key (its SubjectPublicKeyInfo, RFC 5280 §4.1), which identifies a peer and is pinned.
///
/// It does not change when a certificate is reissued.
public struct KeyFingerprint: Hashable, Sendable {
    private let digest: SHA256Digest

    /// The number of bytes in a fingerprint.
    package static let size = SHA256Digest.size

    init(_ digest: SHA256Digest) { self.digest = digest }

    /// Creates a fingerprint from its bytes; nil unless there are 32.
    public init?(bytes: [UInt8]) {
        guard let digest = SHA256Digest(bytes: bytes) else { return nil }
        self.digest = digest
    }

    /// Reads 64 hexadecimal digits in either case; nil for anything else.
    public init?(hex: String) {
        guard let digest = SHA256Digest(hex: hex) else { return nil }
        self.digest = digest
    }

    /// The fingerprint's 32 bytes.
    public var bytes: [UInt8] { digest.bytes }
    /// The fingerprint as 64 hexadecimal digits, lower case.
    public var hex: String { digest.hex() }
}

extension KeyFingerprint: CustomStringConvertible {
    /// The first 16 hexadecimal digits in groups of four, for people to compare: `1a2b 3c4d 5e6f 7a8b`.
    public var description: String {
        let digits = Array(hex.prefix(16))
        return stride(from: 0, to: 16, by: 4).map { String(digits[$0..<$0 + 4]) }.joined(separator: " ")
    }
}

extension KeyFingerprint: Codable {
    /// Reads a fingerprint that was written as ``hex``.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let fingerprint = KeyFingerprint(hex: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "a key's fingerprint is 64 hexadecimal digits")
        }
        self = fingerprint
    }

    /// Writes the fingerprint as ``hex``.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(hex)
    }
}
