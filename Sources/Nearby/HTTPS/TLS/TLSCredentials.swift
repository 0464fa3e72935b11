// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL

/// A certificate with its chain, and its private key. A ``TLSContext`` checks whether they match.
///
/// Sendable because threads may share an unchanged `X509` and `EVP_PKEY`. Safe since it owns certificates and key from `init` to
/// `deinit`.
@safe final class TLSCredentials: @unchecked Sendable {
    /// The local certificate, followed by its issuers; at least one.
    let certificates: [OpaquePointer]
    let key: OpaquePointer

    /// Reads the certificate with its chain, and the private key, both in PEM. The key must have no passphrase.
    init(certificatePEM: [UInt8], privateKeyPEM: [UInt8]) throws(TLSError) {
        let certificates = try unsafe Self.certificates(certificatePEM)
        // Without a callback OpenSSL would prompt for a passphrase on the terminal.
        let key = unsafe Self.reading(privateKeyPEM) {
            unsafe PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in -1 }, nil)
        }
        guard let key = unsafe key else {
            unsafe certificates.forEach(X509_free)
            throw .system(TLSError.takeReason())
        }
        unsafe (self.certificates, self.key) = unsafe (certificates, key)
    }

    deinit {
        unsafe certificates.forEach(X509_free)
        unsafe EVP_PKEY_free(key)
    }

    private static func certificates(_ pem: [UInt8]) throws(TLSError) -> [OpaquePointer] {
        var found: [OpaquePointer] = unsafe []
        unsafe reading(pem) { bio in
            while let certificate = unsafe PEM_read_bio_X509(bio, nil, { _, _, _, _ in -1 }, nil) {
                unsafe found.append(certificate)
            }
        }
        // Reading past the last certificate gives this error.
        let hasReadAll = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE
        guard hasReadAll, unsafe !found.isEmpty else {
            unsafe found.forEach(X509_free)
            throw .system(TLSError.takeReason())
        }
        ERR_clear_error()
        return unsafe found
    }

    @discardableResult
    private static func reading<Result>(_ pem: [UInt8], _ read: (OpaquePointer) -> Result?) -> Result? {
        ERR_clear_error()
        return unsafe pem.withUnsafeBytes { bytes in
            guard let bio = unsafe BIO_new_mem_buf(bytes.baseAddress, CInt(clamping: bytes.count)) else { return nil }
            defer { unsafe BIO_free(bio) }
            return unsafe read(bio)
        }
    }
}
