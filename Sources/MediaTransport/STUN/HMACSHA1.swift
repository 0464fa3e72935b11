import CEarshotOpenSSL

/// HMAC-SHA1 (RFC 2104), which MESSAGE-INTEGRITY is.
enum HMACSHA1 {
    /// Bytes of a code.
    static let size = 20

    /// Writes the code of `message` to the first ``size`` bytes of `code`.
    static func write(
        of message: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, into code: UnsafeMutableRawBufferPointer
    ) {
        precondition(code.count >= size)
        var written: UInt32 = 0
        let result = HMAC(
            EVP_sha1(), key.baseAddress, CInt(key.count), message.baseAddress?.assumingMemoryBound(to: UInt8.self),
            message.count, code.baseAddress?.assumingMemoryBound(to: UInt8.self), &written)
        precondition(result != nil && written == size, "libcrypto has no HMAC-SHA1")
    }

    /// Whether two codes are the same; takes as long whichever byte differs.
    static func equal(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        a.count == size && b.count == size && CRYPTO_memcmp(a.baseAddress, b.baseAddress, size) == 0
    }
}
