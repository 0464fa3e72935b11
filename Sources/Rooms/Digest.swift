// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL

/// Hashes, and keys derived from passwords, by libcrypto.
enum Digest {
    /// SHA-256 (FIPS 180-4): 32 bytes.
    static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        // Unsafe in this file: OpenSSL reads and writes within the counts that it is given.
        var result = [UInt8](repeating: 0, count: 32)
        unsafe precondition(SHA256(bytes, bytes.count, &result) != nil)
        return result
    }

    /// HMAC-SHA256 (RFC 2104): 32 bytes.
    static func hmacSHA256(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: 32)
        var size: UInt32 = 32
        unsafe precondition(
            HMAC(EVP_sha256(), key, Int32(key.count), bytes, bytes.count, &result, &size) != nil && size == 32)
        return result
    }

    /// PBKDF2 with HMAC-SHA256 (RFC 8018): 32 bytes. Takes about 50 ms for 200,000 rounds.
    static func pbkdf2(_ password: String, salt: [UInt8], rounds: Int) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: 32)
        let status = unsafe password.withCString {
            unsafe PKCS5_PBKDF2_HMAC(
                $0, Int32(password.utf8.count), salt, Int32(salt.count), Int32(rounds), EVP_sha256(), 32, &result)
        }
        precondition(status == 1)
        return result
    }

    /// Returns true if two byte arrays are equal, in constant time.
    static func isEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        unsafe a.count == b.count && CRYPTO_memcmp(a, b, a.count) == 0
    }
}
