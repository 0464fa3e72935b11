// SPDX-License-Identifier: Apache-2.0

/// The SHA-256 of a certificate's DER, as in `a=fingerprint` of a session description (RFC 8122 §5).
public struct CertificateFingerprint: Hashable, Sendable {
    private let digest: SHA256Digest

    init(_ digest: SHA256Digest) { self.digest = digest }

    /// Creates a fingerprint from its bytes; nil unless there are 32.
    package init?(bytes: [UInt8]) {
        guard let digest = SHA256Digest(bytes: bytes) else { return nil }
        self.digest = digest
    }

    /// Computes the fingerprint of a certificate in DER.
    package init(ofCertificateDER der: [UInt8]) { digest = SHA256Digest(of: der) }

    /// Reads the value of `a=fingerprint`: `sha-256 AB:CD:…`; nil for another hash function or invalid text. Case-insensitive.
    package init?(attribute text: some StringProtocol) {
        let words = text.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "sha-256",
            let digest = SHA256Digest(hex: words[1], separator: UInt8(ascii: ":"))
        else { return nil }
        self.digest = digest
    }

    /// The fingerprint's 32 bytes.
    public var bytes: [UInt8] { digest.bytes }
    /// The value of `a=fingerprint`: `sha-256 AB:CD:…`.
    package var attribute: String { "sha-256 \(digest.hex(uppercase: true, separator: ":"))" }
}

extension CertificateFingerprint: CustomStringConvertible {
    /// The same text as ``attribute``.
    public var description: String { attribute }
}
