// SPDX-License-Identifier: Apache-2.0

/// The reason that an identity, key or certificate cannot be read or created. No value contains part of a key.
public enum IdentityError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text is no private key in PEM.
    case notAPrivateKey
    /// The private key has a passphrase.
    case encryptedKey
    /// The key is not EC on P-256; the value names its kind.
    case wrongKind(String)
    /// The private key does not match its public key.
    case damagedKey
    /// The bytes are no certificate, or more than one.
    case notACertificate
    /// The bytes are no public key (SubjectPublicKeyInfo), or more than one.
    case notAPublicKey
    /// The certificate is that of another key.
    case otherKeysCertificate
    /// The certificate was not signed by its own key, or was modified.
    case badSignature
    /// The name is not allowed in a certificate.
    case badHostName(String)
    /// There are more names and addresses than ``Identity/maximumNames``; the value is their number.
    case tooManyNames(Int)
    /// The date is not possible in a certificate; the value is in seconds since 1970.
    case badDate(Int64)
    /// Another error of OpenSSL; the value is OpenSSL's text.
    case system(String)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .notAPrivateKey: "this is not a private key in PEM"
        case .encryptedKey: "the private key has a passphrase"
        case .wrongKind(let kind): "the key is \(kind), not elliptic on the curve P-256"
        case .damagedKey: "the private key does not go with its public half"
        case .notACertificate: "this is not an X.509 certificate"
        case .notAPublicKey: "this is not a public key"
        case .otherKeysCertificate: "the certificate is that of another key"
        case .badSignature: "the certificate was changed after it was signed"
        case .badHostName(let name):
            "'\(name)' cannot be in a certificate; a host name has letters, digits, hyphens and dots"
        case .tooManyNames(let count):
            "\(count) names and addresses are too many for a certificate; \(Identity.maximumNames) fit"
        case .badDate(let seconds): "the date, \(seconds) s since 1970, is outside the range of a certificate"
        case .system(let reason): "OpenSSL: \(reason)"
        }
    }
}
