// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL

/// Computes the SHA-256 of input that comes in pieces. For one task at a time.
@safe package struct SHA256Hasher: ~Copyable {
    private let context: OpaquePointer

    /// Creates a hasher without input.
    package init() {
        guard let context = unsafe EVP_MD_CTX_new(), unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            preconditionFailure("no memory for a hash")
        }
        unsafe self.context = unsafe context
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    /// Adds bytes to the input.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        unsafe precondition(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1)
    }

    /// Returns the digest of all input so far, and starts again without input.
    package mutating func finish() -> SHA256Digest {
        var bytes = [UInt8](repeating: 0, count: SHA256Digest.size)
        unsafe precondition(EVP_DigestFinal_ex(context, &bytes, nil) == 1)
        unsafe precondition(EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1)
        guard let digest = SHA256Digest(bytes: bytes) else { preconditionFailure("a SHA-256 digest is 32 bytes long") }
        return digest
    }
}
