// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL

/// The reason that a TLS connection failed or ended.
enum TLSError: Error, Hashable, Sendable {
    /// The peer's first bytes are no record of TLS.
    case notTLS
    /// The two sides could not agree; OpenSSL's words.
    case handshakeFailed(String)
    /// The connection ended before the handshake did.
    case endedInHandshake
    /// The connection ended without the peer's close_notify: what it sent may not be all of it (RFC 8446 §6.1).
    case truncated
    /// After the handshake the peer sent an alert, or what is no record of this connection; OpenSSL's words.
    case broken(String)
    /// The peer makes us answer again and again, and sends no content.
    case flooded
    /// Certificate or key cannot be read or used, or OpenSSL has no memory; OpenSSL's words.
    case system(String)

    /// OpenSSL's words for the first error that this thread's last call left, which are then forgotten. The first is the cause,
    /// later ones follow from it.
    static func takeReason() -> String {
        // Unsafe in this file: OpenSSL's words are constants.
        let code = ERR_peek_error()
        ERR_clear_error()
        return unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) } ?? "no reason given"
    }
}
