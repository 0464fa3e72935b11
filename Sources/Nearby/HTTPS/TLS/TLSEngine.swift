// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL

/// One side of a TLS connection: an `SSL` of OpenSSL between two memory BIOs. It receives and returns bytes; it knows no network
/// and no time. For one thread at a time.
///
/// After each call ``state`` has the state of the connection, and ``readOutput(into:)`` the bytes to send, including an alert for
/// the peer after a failure.
///
/// Safe since it owns the `SSL`, its BIOs and the buffer from `init` to `deinit`, and C writes within the given counts.
@safe final class TLSEngine {
    enum State: Hashable {
        /// The handshake is not finished.
        case handshaking
        case established
        /// The peer has sent its close_notify after all its content. Content can still be sent.
        case peerClosed
        /// The connection has failed.
        case failed(TLSError)
    }

    /// The maximum bytes that the peer may send in the handshake. A handshake with a chain of RSA certificates takes a tenth of
    /// that.
    static let handshakeCapacity = 65_536
    /// The maximum bytes of replies that the peer may cause between two pieces of content: some dozens of KeyUpdates, or of
    /// refused renegotiations.
    static let replyCapacity = 1_024
    /// The maximum bytes of a record's content (RFC 8446 §5.1), and of received bytes passed to OpenSSL at once.
    static let recordCapacity = 16_384

    private(set) var state = State.handshaking
    /// True once the handshake has completed.
    private(set) var hasEstablished = false
    /// The peer's public key as SPKI in DER, verified by the handshake; nil before, and if it has presented none.
    private(set) var peerKey: [UInt8]?
    /// True once the local close_notify is written.
    private(set) var hasClosed = false

    private let ssl: OpaquePointer
    /// The buffers of the received bytes, `input`, and of the bytes to send, `output`; the `SSL` owns both.
    private let input: OpaquePointer
    private let output: OpaquePointer
    private let accepts: ([UInt8]) -> Bool
    private let contentBuffer: UnsafeMutableRawBufferPointer
    private var headerBytesChecked = 0
    private var handshakeBytes = 0
    private var replyBytes = 0

    /// - Parameter accepts: returns true if the peer's public key, as SPKI in DER, is the right one. Called during the handshake,
    ///   before the peer has proven the key; it must not call the engine.
    init(_ context: TLSContext, accepts: @escaping ([UInt8]) -> Bool) throws(TLSError) {
        ERR_clear_error()
        guard let ssl = unsafe SSL_new(context.pointer) else { throw .system(TLSError.takeReason()) }
        guard let input = unsafe BIO_new(BIO_s_mem()), let output = unsafe BIO_new(BIO_s_mem()) else {
            unsafe SSL_free(ssl)
            throw .system(TLSError.takeReason())
        }
        unsafe SSL_set_bio(ssl, input, output)
        unsafe (self.ssl, self.input, self.output, self.accepts) = unsafe (ssl, input, output, accepts)
        unsafe contentBuffer = .allocate(byteCount: Self.recordCapacity, alignment: 16)
        unsafe SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
        if context.role == .client { unsafe SSL_set_connect_state(ssl) } else { unsafe SSL_set_accept_state(ssl) }
    }

    deinit {
        unsafe SSL_free(ssl)
        unsafe OPENSSL_cleanse(contentBuffer.baseAddress, contentBuffer.count)
        unsafe contentBuffer.deallocate()
    }

    // MARK: Network

    /// Begins the handshake: a client's first message is then in the output.
    func start() { shakeHands() }

    /// Receives the peer's bytes. Ignores bytes after the peer's close_notify, or after a failure.
    /// - Parameter deliver: receives the decrypted content, in order; valid during the call. It must not call the engine.
    func receive(_ bytes: UnsafeRawBufferPointer, content deliver: (UnsafeRawBufferPointer) -> Void) {
        var rest = unsafe bytes[...]
        while unsafe !rest.isEmpty, canRead {
            let piece = unsafe UnsafeRawBufferPointer(rebasing: rest.prefix(Self.recordCapacity))
            unsafe rest = unsafe rest.dropFirst(piece.count)
            guard unsafe isTLS(piece) else { return fail(.notTLS) }
            var count = 0
            ERR_clear_error()
            guard unsafe BIO_write_ex(input, piece.baseAddress, piece.count, &count) == 1, count == piece.count else {
                return fail(.system(TLSError.takeReason()))
            }
            if state == .handshaking {
                handshakeBytes += piece.count
                shakeHands()
            }
            if state == .established { unsafe readContent(deliver) }
        }
    }

    /// Handles the end of the connection.
    /// - Returns: the failure that the end means; nil after the peer's close_notify, or after an earlier failure.
    func end() -> TLSError? {
        let failure = endFailure
        if let failure { fail(failure) }
        return failure
    }

    /// The failure that the end of the connection would mean now; nil after the peer's close_notify, or after a failure.
    var endFailure: TLSError? {
        switch state {
        case .handshaking: .endedInHandshake
        case .established: .truncated
        case .peerClosed, .failed: nil
        }
    }

    /// The number of bytes to send.
    var outputSize: Int { unsafe BIO_ctrl_pending(output) }

    /// Moves bytes to send into a buffer.
    /// - Returns: the bytes moved.
    func readOutput(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        var count = 0
        ERR_clear_error()
        guard unsafe !buffer.isEmpty, unsafe BIO_read_ex(output, buffer.baseAddress, buffer.count, &count) == 1 else {
            return 0
        }
        return count
    }

    // MARK: Content

    /// Encrypts content into the output; does nothing after a failure.
    /// - Precondition: the handshake is done, and ``close()`` was not called.
    func write(_ content: UnsafeRawBufferPointer) {
        precondition(hasEstablished && !hasClosed)
        guard unsafe !content.isEmpty, canWrite else { return }
        var count = 0
        ERR_clear_error()
        // A memory BIO accepts everything: there are no partial writes.
        guard unsafe SSL_write_ex(ssl, content.baseAddress, content.count, &count) == 1, count == content.count else {
            return fail(.broken(TLSError.takeReason()))
        }
    }

    /// Writes the local close_notify, once; does nothing before the end of the handshake, or after a failure.
    func close() {
        guard canWrite, hasEstablished, !hasClosed else { return }
        hasClosed = true
        ERR_clear_error()
        unsafe SSL_shutdown(ssl)
        ERR_clear_error()
    }

    /// The application protocol that client and server have agreed on (ALPN, RFC 7301); nil if there is none.
    var applicationProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var count: CUnsignedInt = 0
        unsafe SSL_get0_alpn_selected(ssl, &name, &count)
        guard let name = unsafe name, count > 0 else { return nil }
        return unsafe String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
    }

    /// OpenSSL's name of the version, such as 'TLSv1.3'.
    var version: String { unsafe String(cString: SSL_get_version(ssl)) }
}

extension TLSEngine {
    private var canRead: Bool { state == .handshaking || state == .established }

    private var canWrite: Bool { state == .established || state == .peerClosed }

    private func fail(_ error: TLSError) { state = .failed(error) }

    /// Returns false if the connection's first bytes cannot be an alert or a handshake record: the type is another one, or the
    /// version does not begin with 3 (RFC 8446 §5.1). Checked here, as OpenSSL's error for such bytes depends on OpenSSL's
    /// version.
    private func isTLS(_ bytes: UnsafeRawBufferPointer) -> Bool {
        for byte in unsafe Array(bytes.prefix(2 - headerBytesChecked)) {
            guard headerBytesChecked == 0 ? (21...22).contains(byte) : byte == 3 else { return false }
            headerBytesChecked += 1
        }
        return true
    }

    private func shakeHands() {
        ERR_clear_error()
        let result = unsafe SSL_do_handshake(ssl)
        guard result == 1 else {
            switch unsafe SSL_get_error(ssl, result) {
            case SSL_ERROR_WANT_READ:
                if handshakeBytes > Self.handshakeCapacity { fail(.handshakeFailed("handshake too long")) }
            case SSL_ERROR_ZERO_RETURN: fail(.endedInHandshake)
            default: fail(.handshakeFailed(TLSError.takeReason()))
            }
            return
        }
        (state, hasEstablished) = (.established, true)
        peerKey = unsafe SSL_get0_peer_certificate(ssl).flatMap(unsafe Self.publicKey)
        ERR_clear_error()
    }

    /// Reads records until OpenSSL needs more bytes.
    private func readContent(_ deliver: (UnsafeRawBufferPointer) -> Void) {
        while true {
            let before = outputSize
            var count = 0
            ERR_clear_error()
            let result = unsafe SSL_read_ex(ssl, contentBuffer.baseAddress, contentBuffer.count, &count)
            replyBytes += outputSize - before
            guard result == 1 else {
                switch unsafe SSL_get_error(ssl, result) {
                case SSL_ERROR_WANT_READ: if replyBytes > Self.replyCapacity { fail(.flooded) }
                case SSL_ERROR_ZERO_RETURN: state = .peerClosed
                default: fail(.broken(TLSError.takeReason()))
                }
                return
            }
            replyBytes = 0
            if count > 0 { unsafe deliver(UnsafeRawBufferPointer(rebasing: contentBuffer[..<count])) }
        }
    }

    /// OpenSSL's callback to verify the peer's certificate. Returns true if ``accepts`` accepts the certificate's key.
    static func verify(_ store: OpaquePointer?) -> Bool {
        guard let ssl = unsafe X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()),
            let engine = unsafe SSL_get_ex_data(OpaquePointer(ssl), 0),
            let shown = unsafe X509_STORE_CTX_get0_cert(store),
            let key = unsafe publicKey(of: shown),
            unsafe Unmanaged<TLSEngine>.fromOpaque(engine).takeUnretainedValue().accepts(key)
        else {
            unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED)
            return false
        }
        return true
    }

    /// Returns a certificate's public key, as SPKI in DER; nil if it cannot be read.
    private static func publicKey(of certificate: OpaquePointer) -> [UInt8]? {
        guard let key = unsafe X509_get_X509_PUBKEY(certificate) else { return nil }
        let size = unsafe i2d_X509_PUBKEY(key, nil)
        guard size > 0 else { return nil }
        return unsafe [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
            var end = buffer.baseAddress
            count = unsafe max(0, Int(i2d_X509_PUBKEY(key, &end)))
        }
    }
}
