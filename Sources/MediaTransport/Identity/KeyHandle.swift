// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL

/// An `EVP_PKEY` of OpenSSL. It is immutable, so threads may share it.
@safe final class KeyHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    private init(_ pointer: OpaquePointer) { unsafe self.pointer = unsafe pointer }

    deinit { unsafe EVP_PKEY_free(pointer) }

    /// Creates a key pair on P-256.
    static func generate() throws(IdentityError) -> KeyHandle {
        guard let pointer = unsafe earshot_new_p256_key() else { throw .system(OpenSSL.takeReason()) }
        return unsafe KeyHandle(pointer)
    }

    /// Reads a key pair from PKCS #8 (or SEC 1) in PEM and checks that both keys match.
    convenience init(privateKeyPEM text: String) throws(IdentityError) {
        var wantsPassphrase = false
        // Without a callback OpenSSL would prompt on the terminal.
        let pointer = unsafe withUnsafeMutablePointer(to: &wantsPassphrase) { flag in
            unsafe OpenSSL.reading(text) { bio in
                unsafe PEM_read_bio_PrivateKey(
                    bio, nil,
                    { _, _, _, flag in
                        unsafe flag?.assumingMemoryBound(to: Bool.self).pointee = true
                        return -1
                    }, unsafe flag)
            }
        }
        ERR_clear_error()
        guard let pointer = unsafe pointer else { throw wantsPassphrase ? .encryptedKey : .notAPrivateKey }
        unsafe self.init(pointer)
        try requireP256()
        try requireHalvesThatMatch()
    }

    /// Reads a public key from SubjectPublicKeyInfo in DER, without trailing bytes.
    convenience init(spki: [UInt8]) throws(IdentityError) {
        guard !spki.isEmpty else { throw .notAPublicKey }
        let (pointer, used) = unsafe spki.withUnsafeBufferPointer { bytes in
            var end = bytes.baseAddress
            let pointer = unsafe d2i_PUBKEY(nil, &end, bytes.count)
            return unsafe (pointer, end.map { unsafe $0 - bytes.baseAddress! } ?? 0)
        }
        ERR_clear_error()
        guard let pointer = unsafe pointer else { throw .notAPublicKey }
        unsafe self.init(pointer)
        guard used == spki.count else { throw .notAPublicKey }
    }

    func requireP256() throws(IdentityError) {
        guard unsafe EVP_PKEY_is_a(pointer, "EC") == 1 else {
            throw unsafe .wrongKind(
                EVP_PKEY_get0_type_name(pointer).map { unsafe String(cString: $0) } ?? "of an unknown kind")
        }
        var name = [CChar](repeating: 0, count: 80)
        var count = 0
        guard unsafe EVP_PKEY_get_group_name(pointer, &name, name.count, &count) == 1 else {
            ERR_clear_error()
            throw .wrongKind("elliptic on a curve without a name")
        }
        let curve = String(decoding: name.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard curve == "prime256v1" else { throw .wrongKind("elliptic on \(curve)") }
    }

    private func requireHalvesThatMatch() throws(IdentityError) {
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, pointer, nil) else {
            throw .system(OpenSSL.takeReason())
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        let matches = unsafe EVP_PKEY_pairwise_check(context) == 1
        ERR_clear_error()
        guard matches else { throw .damagedKey }
    }

    /// The key pair as PKCS #8 in PEM, without a passphrase.
    /// - Precondition: the handle has a private key.
    var privateKeyPEM: String {
        guard
            let text = unsafe OpenSSL.text({ unsafe PEM_write_bio_PKCS8PrivateKey($0, pointer, nil, nil, 0, nil, nil) })
        else {
            preconditionFailure("a key that was read cannot be written: \(OpenSSL.takeReason())")
        }
        return text
    }

    /// - Precondition: the handle has a private key.
    func sign(_ message: [UInt8]) -> [UInt8] {
        let context = unsafe EVP_MD_CTX_new()
        defer { unsafe EVP_MD_CTX_free(context) }
        var count = 0
        guard unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, pointer) == 1,
            unsafe EVP_DigestSign(context, nil, &count, message, message.count) == 1
        else { preconditionFailure("signing with the private key failed: \(OpenSSL.takeReason())") }
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
            guard unsafe EVP_DigestSign(context, buffer.baseAddress, &count, message, message.count) == 1 else {
                preconditionFailure("signing with the private key failed: \(OpenSSL.takeReason())")
            }
            used = count
        }
    }

    func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        let context = unsafe EVP_MD_CTX_new()
        defer {
            unsafe EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        return unsafe EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, pointer) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
}
