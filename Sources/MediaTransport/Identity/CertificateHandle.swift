// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL

/// An `X509` of OpenSSL. It is immutable, so threads may share it.
@safe final class CertificateHandle: @unchecked Sendable {
    let pointer: OpaquePointer
    /// The certificate in DER.
    let der: [UInt8]

    /// Takes ownership of a certificate, whose DER must not change.
    init(taking pointer: OpaquePointer) throws(IdentityError) {
        guard let der = unsafe OpenSSL.encoded({ unsafe i2d_X509(pointer, $0) }) else {
            unsafe X509_free(pointer)
            throw .system(OpenSSL.takeReason())
        }
        unsafe self.pointer = unsafe pointer
        self.der = der
    }

    deinit { unsafe X509_free(pointer) }

    /// Reads a certificate in PEM.
    convenience init(pem text: String) throws(IdentityError) {
        let pointer = unsafe OpenSSL.reading(text) { unsafe PEM_read_bio_X509($0, nil, { _, _, _, _ in -1 }, nil) }
        ERR_clear_error()
        guard let pointer = unsafe pointer else { throw .notACertificate }
        unsafe try self.init(taking: pointer)
    }

    /// Reads a certificate in DER, without trailing bytes.
    convenience init(der: [UInt8]) throws(IdentityError) {
        guard !der.isEmpty else { throw .notACertificate }
        let (pointer, used) = unsafe der.withUnsafeBufferPointer { bytes in
            var end = bytes.baseAddress
            let pointer = unsafe d2i_X509(nil, &end, bytes.count)
            return unsafe (pointer, end.map { unsafe $0 - bytes.baseAddress! } ?? 0)
        }
        ERR_clear_error()
        guard let pointer = unsafe pointer else { throw .notACertificate }
        unsafe try self.init(taking: pointer)
        guard used == der.count else { throw .notACertificate }
    }

    var pem: String {
        guard let text = unsafe OpenSSL.text({ unsafe PEM_write_bio_X509($0, pointer) }) else {
            preconditionFailure("a certificate that was read cannot be written: \(OpenSSL.takeReason())")
        }
        return text
    }

    /// The certificate's public key as SubjectPublicKeyInfo in DER; empty if OpenSSL cannot read it.
    var spki: [UInt8] { unsafe Self.spki(of: pointer) ?? [] }

    static func spki(of certificate: OpaquePointer) -> [UInt8]? {
        guard let key = unsafe X509_get_X509_PUBKEY(certificate) else { return nil }
        return unsafe OpenSSL.encoded { unsafe i2d_X509_PUBKEY(key, $0) }
    }

    /// Throws unless the certificate contains the public half of `key` and was signed with `key`.
    func requireSignature(by key: KeyHandle) throws(IdentityError) {
        defer { ERR_clear_error() }
        guard unsafe X509_check_private_key(pointer, key.pointer) == 1 else { throw .otherKeysCertificate }
        guard unsafe X509_verify(pointer, key.pointer) == 1 else { throw .badSignature }
    }
}
