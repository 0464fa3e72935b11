// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL

/// The `SSL_CTX` of OpenSSL that all DTLS sessions of the process share. It is immutable, so threads may share it.
enum DTLSContext {
    nonisolated(unsafe) static let shared: Result<OpaquePointer, DTLSError> = {
        ERR_clear_error()
        guard let context = unsafe SSL_CTX_new(DTLS_method()) else {
            return unsafe .failure(.system(OpenSSL.takeReason()))
        }
        guard unsafe isSetUp(context) else {
            unsafe SSL_CTX_free(context)
            return unsafe .failure(.system(OpenSSL.takeReason()))
        }
        return unsafe .success(context)
    }()

    private static func isSetUp(_ context: OpaquePointer) -> Bool {
        unsafe SSL_CTX_set_options(context, earshot_dtls_options)
        _ = unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, CLong(SSL_SESS_CACHE_OFF), nil)
        // The callback below verifies the peer's certificate by its fingerprint, not by its issuer.
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        unsafe SSL_CTX_set_cert_verify_callback(
            context, { store, _ in unsafe DTLSConnection.verify(store) ? 1 : 0 }, nil)
        return unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, CLong(DTLS1_2_VERSION), nil) == 1
            && SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, CLong(DTLS1_2_VERSION), nil) == 1
            && SSL_CTX_set_cipher_list(context, "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384") == 1
            && set(context, SSL_CTRL_SET_GROUPS_LIST, "X25519:P-256")
            && set(context, SSL_CTRL_SET_SIGALGS_LIST, "ECDSA+SHA256")
            && set(context, SSL_CTRL_SET_CLIENT_SIGALGS_LIST, "ECDSA+SHA256")
    }

    private static func set(_ context: OpaquePointer, _ command: CInt, _ list: String) -> Bool {
        unsafe list.withCString { unsafe SSL_CTX_ctrl(context, command, 0, UnsafeMutableRawPointer(mutating: $0)) == 1 }
    }
}
