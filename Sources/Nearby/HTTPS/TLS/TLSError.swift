// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL

/// The reason that a TLS connection failed or ended.
enum TLSError: Error, Hashable, Sendable {
    /// The peer's first bytes are not TLS.
    case notTLS
    /// The handshake failed; the value is OpenSSL's message.
    case handshakeFailed(String)
    /// The connection ended during the handshake.
    case endedInHandshake
    /// The connection ended without the peer's close_notify, so its content may be incomplete (RFC 8446 §6.1).
    case truncated
    /// After the handshake the peer sent an alert or an invalid record; the value is OpenSSL's message.
    case broken(String)
    /// The peer causes many replies without sending content.
    case flooded
    /// The certificate or key is unusable, or OpenSSL has no memory; the value is OpenSSL's message.
    case system(String)

    /// Returns OpenSSL's message for this thread's first error, the cause of later ones, and clears all of them.
    static func takeReason() -> String {
        // Unsafe in this file: OpenSSL's messages are constants.
        let code = ERR_peek_error()
        ERR_clear_error()
        return unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) } ?? "no reason given"
    }
}
