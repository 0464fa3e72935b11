// SPDX-License-Identifier: Apache-2.0

/// A machine's identity: a key pair on P-256, and a certificate that this key has signed for itself.
///
/// The key is made once and kept. The certificate is made anew for other addresses and dates (``reissued(hostNames:addresses:at:)``);
/// whoever has pinned ``fingerprint`` notices nothing of it. The same pair serves HTTPS, DTLS and signatures. Neither
/// descriptions nor errors have the private key in them; only ``privateKeyPEM`` has.
/// Immutable; any thread.
public final class Identity: Sendable {
    private let key: KeyHandle
    private let certificate: CertificateHandle
    /// The key that others see.
    public let publicKey: PublicKey

    /// Names and addresses that a certificate may have.
    package static let maximumNames = 64

    init(key: KeyHandle, certificate: CertificateHandle) throws(IdentityError) {
        self.key = key
        self.certificate = certificate
        publicKey = try PublicKey(spki: certificate.spki)
    }

    /// Makes a new key, from the system's randomness, and its certificate.
    /// - Parameters:
    ///   - hostNames: the machine's names, in ASCII; at most 253 bytes each.
    ///   - addresses: where it can be reached.
    ///   - date: now, in seconds since 1970. The certificate is valid from a day before to 397 days after.
    /// - Throws: ``IdentityError/badHostName(_:)``, ``IdentityError/tooManyNames(_:)``, ``IdentityError/badDate(_:)``.
    public static func generate(
        hostNames: [String] = [], addresses: [IPAddress] = [], at date: Int64
    ) throws(IdentityError) -> Identity {
        let key = try KeyHandle.generate()
        return try Identity(
            key: key,
            certificate: .issue(for: key, hostNames: hostNames, addresses: addresses, at: date))
    }

    /// Reads what ``privateKeyPEM`` and ``certificatePEM`` have written. Dates are not looked at.
    public convenience init(privateKeyPEM: String, certificatePEM: String) throws(IdentityError) {
        let key = try KeyHandle(privateKeyPEM: privateKeyPEM)
        let certificate = try CertificateHandle(pem: certificatePEM)
        try certificate.requireSignature(by: key)
        try self.init(key: key, certificate: certificate)
    }

    /// The same key with a certificate for other names and from another date; see ``generate(hostNames:addresses:at:)``.
    package func reissued(
        hostNames: [String] = [], addresses: [IPAddress] = [], at date: Int64
    ) throws(IdentityError) -> Identity {
        try Identity(
            key: key,
            certificate: .issue(for: key, hostNames: hostNames, addresses: addresses, at: date))
    }

    /// The private key as PKCS #8 in PEM, without a passphrase. A secret: into a file of mode 0600, and nowhere else.
    public var privateKeyPEM: String { key.privateKeyPEM }
    /// The certificate in PEM.
    public var certificatePEM: String { certificate.pem }
    /// The certificate in DER.
    public var certificateDER: [UInt8] { certificate.der }
    /// The fingerprint that others pin.
    public var fingerprint: KeyFingerprint { publicKey.fingerprint }
    /// The fingerprint for session descriptions.
    public var certificateFingerprint: CertificateFingerprint {
        CertificateFingerprint(ofCertificateDER: certificate.der)
    }

    /// Signs these bytes: ECDSA with SHA-256, in DER; another signature each time.
    public func sign(_ message: [UInt8]) -> [UInt8] { key.sign(message) }

    /// For OpenSSL, which takes references of its own; valid during the call.
    func withHandles<R>(_ body: (_ certificate: OpaquePointer, _ key: OpaquePointer) -> R) -> R {
        withExtendedLifetime(self) { unsafe body(certificate.pointer, key.pointer) }
    }
}

extension Identity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The fingerprint, for people.
    public var description: String { "identity \(fingerprint)" }
    /// The same.
    public var debugDescription: String { description }
    /// The fingerprint alone.
    public var customMirror: Mirror { Mirror(self, children: ["fingerprint": fingerprint.hex]) }
}
