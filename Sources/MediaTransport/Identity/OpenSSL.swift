// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL

/// Helpers for all calls of OpenSSL.
enum OpenSSL {
    /// Returns OpenSSL's text for the last failure and clears the thread's error queue, so that the next caller does not find it.
    static func takeReason() -> String {
        let code = ERR_peek_last_error()
        ERR_clear_error()
        return unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) } ?? "no reason given"
    }

    /// Returns the output of one of OpenSSL's `i2d` functions, after asking for the output's size; nil if that fails.
    static func encoded(_ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> CInt) -> [UInt8]? {
        let size = write(nil)
        guard size > 0 else { return nil }
        return unsafe [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
            var end = buffer.baseAddress
            count = unsafe max(0, Int(write(&end)))
        }
    }

    /// Returns the output of a `PEM_write_bio` function, as text; nil if it fails.
    static func text(_ write: (OpaquePointer) -> CInt) -> String? {
        guard let bio = unsafe BIO_new(BIO_s_mem()) else { return nil }
        defer { unsafe BIO_free(bio) }
        var bytes: UnsafeMutableRawPointer?
        guard unsafe write(bio) == 1 else { return nil }
        let count = unsafe BIO_ctrl(bio, BIO_CTRL_INFO, 0, &bytes)
        guard let bytes = unsafe bytes, count > 0 else { return nil }
        return unsafe String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// Passes text to a `PEM_read_bio` function and returns the function's result; nil if that fails.
    static func reading<R>(_ text: String, _ read: (OpaquePointer) -> R?) -> R? {
        var text = text
        return text.withUTF8 { bytes in
            guard let bio = unsafe BIO_new_mem_buf(bytes.baseAddress, CInt(clamping: bytes.count)) else { return nil }
            defer { unsafe BIO_free(bio) }
            return unsafe read(bio)
        }
    }
}
