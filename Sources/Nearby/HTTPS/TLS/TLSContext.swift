// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL

/// The settings shared by all connections of a server or a client: an `SSL_CTX`. TLS 1.2 and 1.3.
///
/// Sendable since OpenSSL lets threads share an unchanged `SSL_CTX`. Safe since it owns the `SSL_CTX` from `init` to `deinit`;
/// the functions of OpenSSL check their arguments.
@safe final class TLSContext: @unchecked Sendable {
    enum Role { case client, server }

    let role: Role
    let pointer: OpaquePointer

    /// The cipher suites of TLS 1.2; those of 1.3, and the groups of both, are OpenSSL's defaults, which the distribution keeps
    /// up to date. In order of preference: forward secrecy, then authenticated encryption.
    private static let cipherSuites = [
        "ECDHE+AESGCM", "ECDHE+CHACHA20", "ECDHE+AES256", "ECDHE+AES128", "RSA+AESGCM", "RSA+AES", "!aNULL", "!eNULL",
        "!MD5",
    ].joined(separator: ":")
    /// The maximum bytes of the peer's certificate chain.
    private static let chainCapacity = 32_768
    /// The context in which sessions can be resumed (SSL_CTX_set_session_id_context).
    private static let sessionContext = Array("earshot".utf8)

    /// - Parameter credentials: the local certificate; required for a server, presented by a client on request.
    init(_ role: Role, _ credentials: TLSCredentials?) throws(TLSError) {
        ERR_clear_error()
        guard let pointer = unsafe SSL_CTX_new(role == .client ? TLS_client_method() : TLS_server_method()) else {
            throw .system(TLSError.takeReason())
        }
        unsafe (self.role, self.pointer) = unsafe (role, pointer)
        // From here on `deinit` frees the `SSL_CTX`.
        guard setUp(), credentials.map(use) ?? true else { throw .system(TLSError.takeReason()) }
    }

    deinit { unsafe SSL_CTX_free(pointer) }

    private func setUp() -> Bool {
        unsafe SSL_CTX_set_options(pointer, earshot_tls_options)
        // Idle connections release their record buffers.
        _ = unsafe SSL_CTX_ctrl(pointer, SSL_CTRL_MODE, CLong(SSL_MODE_RELEASE_BUFFERS), nil)
        // The client keeps its session, in a ticket; the server stores nothing.
        _ = unsafe SSL_CTX_ctrl(pointer, SSL_CTRL_SET_SESS_CACHE_MODE, CLong(SSL_SESS_CACHE_OFF), nil)
        _ = unsafe SSL_CTX_ctrl(pointer, SSL_CTRL_SET_MAX_CERT_LIST, CLong(Self.chainCapacity), nil)
        // A certificate is verified by its key, not by its issuer. A server requests one without requiring it.
        unsafe SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil)
        unsafe SSL_CTX_set_cert_verify_callback(pointer, { store, _ in unsafe TLSEngine.verify(store) ? 1 : 0 }, nil)
        guard unsafe SSL_CTX_ctrl(pointer, SSL_CTRL_SET_MIN_PROTO_VERSION, CLong(TLS1_2_VERSION), nil) == 1,
            unsafe SSL_CTX_set_cipher_list(pointer, Self.cipherSuites) == 1,
            unsafe SSL_CTX_set_session_id_context(pointer, Self.sessionContext, CUnsignedInt(Self.sessionContext.count))
                == 1
        else { return false }
        switch role {
        case .server: unsafe SSL_CTX_set_alpn_select_cb(pointer, earshot_select_http11, nil)
        // Zero means success.
        case .client: guard unsafe earshot_offer_http11(pointer) == 0 else { return false }
        }
        return true
    }

    private func use(_ credentials: TLSCredentials) -> Bool {
        guard unsafe SSL_CTX_use_certificate(pointer, credentials.certificates[0]) == 1 else { return false }
        // The argument 1 makes the context retain the certificate.
        let isChained = unsafe credentials.certificates.dropFirst().allSatisfy { certificate in
            unsafe SSL_CTX_ctrl(pointer, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer(certificate)) == 1
        }
        guard isChained else { return false }
        guard unsafe SSL_CTX_use_PrivateKey(pointer, credentials.key) == 1,
            unsafe SSL_CTX_check_private_key(pointer) == 1
        else {
            return false
        }
        // A server names its own certificate as the only issuer, so that a browser does not ask its user for a certificate.
        return unsafe role == .client || SSL_CTX_add_client_CA(pointer, credentials.certificates[0]) == 1
    }
}
