// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL

/// A peer's public key on the elliptic curve P-256.
public struct PublicKey: Hashable, Sendable {
    /// The key as SubjectPublicKeyInfo in DER (RFC 5280 §4.1).
    public let spki: [UInt8]

    /// Reads a key from SubjectPublicKeyInfo in DER.
    public init(spki: [UInt8]) throws(IdentityError) {
        let key = try KeyHandle(spki: spki)
        try key.requireP256()
        self.spki = spki
    }

    /// Reads the key of a certificate, without verifying the certificate.
    public init(ofCertificateDER der: [UInt8]) throws(IdentityError) {
        try self.init(spki: CertificateHandle(der: der).spki)
    }

    /// The key's fingerprint.
    public var fingerprint: KeyFingerprint { KeyFingerprint(SHA256Digest(of: spki)) }

    /// Returns true if the signature, ECDSA with SHA-256 in DER, was made for the message by the private key.
    public func isValid(signature: [UInt8], for message: [UInt8]) -> Bool {
        guard let key = try? KeyHandle(spki: spki) else { return false }
        return key.isValid(signature, for: message)
    }
}

extension PublicKey: CustomStringConvertible {
    /// The fingerprint of the key, as text.
    public var description: String { fingerprint.description }
}
