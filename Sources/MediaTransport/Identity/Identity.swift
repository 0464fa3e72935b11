// SPDX-License-Identifier: Apache-2.0

/// A machine's identity: a key pair on P-256, and a self-signed certificate.
///
/// The key is created once and stored. The certificate is reissued for other addresses and dates
/// (``reissued(hostNames:addresses:at:)``), which does not change the pinned ``fingerprint``. The same pair serves HTTPS, DTLS
/// and signatures. Only ``privateKeyPEM`` contains the private key, never a description or error. Immutable; any thread.
public final class Identity: Sendable {
    private let key: KeyHandle
    private let certificate: CertificateHandle
    /// The public key.
    public let publicKey: PublicKey

    /// The maximum names and addresses together in a certificate.
    package static let maximumNames = 64

    init(key: KeyHandle, certificate: CertificateHandle) throws(IdentityError) {
        self.key = key
        self.certificate = certificate
        publicKey = try PublicKey(spki: certificate.spki)
    }

    /// Creates a new random key and its certificate.
    /// - Parameters:
    ///   - hostNames: the machine's names, in ASCII; at most 253 bytes each.
    ///   - addresses: the machine's addresses.
    ///   - date: the current time in seconds since 1970. The certificate is valid from a day before to 397 days after.
    /// - Throws: ``IdentityError/badHostName(_:)``, ``IdentityError/tooManyNames(_:)``, ``IdentityError/badDate(_:)``.
    public static func generate(
        hostNames: [String] = [], addresses: [IPAddress] = [], at date: Int64
    ) throws(IdentityError) -> Identity {
        let key = try KeyHandle.generate()
        return try Identity(
            key: key,
            certificate: .issue(for: key, hostNames: hostNames, addresses: addresses, at: date))
    }

    /// Reads an identity from its ``privateKeyPEM`` and ``certificatePEM``. Does not check the certificate's dates.
    public convenience init(privateKeyPEM: String, certificatePEM: String) throws(IdentityError) {
        let key = try KeyHandle(privateKeyPEM: privateKeyPEM)
        let certificate = try CertificateHandle(pem: certificatePEM)
        try certificate.requireSignature(by: key)
        try self.init(key: key, certificate: certificate)
    }

    /// Returns the identity with the same key and a new certificate, for other names and another date; see
    /// ``generate(hostNames:addresses:at:)``.
    package func reissued(
        hostNames: [String] = [], addresses: [IPAddress] = [], at date: Int64
    ) throws(IdentityError) -> Identity {
        try Identity(
            key: key,
            certificate: .issue(for: key, hostNames: hostNames, addresses: addresses, at: date))
    }

    /// The private key as PKCS #8 in PEM, without a passphrase. Secret: store it only in a file of mode 0600.
    public var privateKeyPEM: String { key.privateKeyPEM }
    /// The certificate in PEM.
    public var certificatePEM: String { certificate.pem }
    /// The certificate in DER.
    public var certificateDER: [UInt8] { certificate.der }
    /// The fingerprint of the public key, which peers pin.
    public var fingerprint: KeyFingerprint { publicKey.fingerprint }
    /// The fingerprint of the certificate, for session descriptions.
    public var certificateFingerprint: CertificateFingerprint {
        CertificateFingerprint(ofCertificateDER: certificate.der)
    }

    /// Returns a signature of these bytes: ECDSA with SHA-256, in DER. Each signature of the same bytes is different.
    public func sign(_ message: [UInt8]) -> [UInt8] { key.sign(message) }

    /// Passes OpenSSL's pointers to the certificate and the key to `body`; they are valid during the call.
    func withHandles<R>(_ body: (_ certificate: OpaquePointer, _ key: OpaquePointer) -> R) -> R {
        withExtendedLifetime(self) { unsafe body(certificate.pointer, key.pointer) }
    }
}

extension Identity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The public key's fingerprint, without the private key.
    public var description: String { "identity \(fingerprint)" }
    /// The public key's fingerprint, without the private key.
    public var debugDescription: String { description }
    /// The public key's fingerprint, for `dump`.
    public var customMirror: Mirror { Mirror(self, children: ["fingerprint": fingerprint.hex]) }
}
