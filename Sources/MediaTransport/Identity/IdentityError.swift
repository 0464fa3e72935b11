// SPDX-License-Identifier: Apache-2.0

/// The reason that an identity, key or certificate cannot be read or made. No value contains part of a key.
public enum IdentityError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Not a private key in PEM.
    case notAPrivateKey
    /// A private key that needs a passphrase.
    case encryptedKey
    /// A key of another kind than EC on P-256; the value names it.
    case wrongKind(String)
    /// A private key that does not go with its public half.
    case damagedKey
    /// Not a certificate, or with something behind it.
    case notACertificate
    /// Not a public key (SubjectPublicKeyInfo), or with something behind it.
    case notAPublicKey
    /// A certificate of another key.
    case otherKeysCertificate
    /// A certificate that its own key has not signed, or that was changed afterwards.
    case badSignature
    /// A name that no certificate may have.
    case badHostName(String)
    /// More names and addresses than ``Identity/maximumNames``.
    case tooManyNames(Int)
    /// A time, in seconds since 1970, that no certificate can be dated with.
    case badDate(Int64)
    /// Another error of OpenSSL.
    case system(String)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .notAPrivateKey: "this is no private key in PEM"
        case .encryptedKey: "the private key has a passphrase"
        case .wrongKind(let kind): "the key is \(kind), not elliptic on the curve P-256"
        case .damagedKey: "the private key does not go with its public half"
        case .notACertificate: "this is no X.509 certificate"
        case .notAPublicKey: "this is no public key"
        case .otherKeysCertificate: "the certificate is that of another key"
        case .badSignature: "the certificate was changed after it was signed"
        case .badHostName(let name):
            "'\(name)' cannot stand in a certificate; a host name has letters, digits, hyphens and dots"
        case .tooManyNames(let count):
            "\(count) names and addresses are too many for a certificate; \(Identity.maximumNames) fit"
        case .badDate(let seconds): "\(seconds) s since 1970 is no date for a certificate"
        case .system(let reason): "OpenSSL: \(reason)"
        }
    }
}
