// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL

/// HMAC-SHA1 (RFC 2104), for MESSAGE-INTEGRITY.
enum HMACSHA1 {
    /// The number of bytes in a code.
    static let size = 20
    typealias Code = InlineArray<20, UInt8>

    static func code(of message: RawSpan, key: RawSpan) -> Code {
        var code = Code(repeating: 0)
        var bytes = code.mutableSpan
        var writtenSize: UInt32 = 0
        let isDone = unsafe message.withUnsafeBytes { message in
            unsafe key.withUnsafeBytes { key in
                unsafe bytes.withUnsafeMutableBufferPointer { code in
                    unsafe HMAC(
                        EVP_sha1(), key.baseAddress, CInt(key.count),
                        message.baseAddress?.assumingMemoryBound(to: UInt8.self),
                        message.count, code.baseAddress, &writtenSize) != nil
                }
            }
        }
        precondition(isDone && writtenSize == size, "libcrypto has no HMAC-SHA1")
        return code
    }

    /// Returns true if two codes are equal. Takes constant time.
    static func isEqual(_ code: Code, _ other: RawSpan) -> Bool {
        guard other.byteCount == size else { return false }
        return unsafe code.span.withUnsafeBytes { code in
            unsafe other.withUnsafeBytes { unsafe CRYPTO_memcmp(code.baseAddress, $0.baseAddress, size) == 0 }
        }
    }
}
