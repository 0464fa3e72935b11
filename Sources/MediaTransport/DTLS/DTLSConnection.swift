// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL

/// An `SSL` object of OpenSSL, with the link from which it reads records and to which it writes datagrams. It has no clock.
/// For one thread at a time.
@safe final class DTLSConnection {
    /// The result of passing a record to OpenSSL or resending a flight.
    enum Step {
        /// OpenSSL waits for more data from the peer.
        case waiting
        /// The handshake is done.
        case established
        /// The peer has closed the session.
        case closed
        case failed(DTLSError)
    }

    /// The maximum bytes of a record's content. Larger datagrams are dropped unread.
    static let recordCapacity = 4_096

    private let ssl: OpaquePointer
    private let link: DTLSLink
    private let expected: CertificateFingerprint
    private let content: UnsafeMutableRawBufferPointer
    /// The peer's public key; nil until the peer's certificate was verified.
    private(set) var peerKey: PublicKey?
    private var certificateError: DTLSError?

    /// - Parameter profiles: the SRTP profiles to negotiate, the most preferred first.
    init(
        role: DTLSRole, identity: Identity, expecting expected: CertificateFingerprint, profiles: [SRTPProfile]
    ) throws(DTLSError) {
        let context = unsafe try DTLSContext.shared.get()
        ERR_clear_error()
        let link = DTLSLink()
        guard let ssl = unsafe SSL_new(context) else { throw .system(OpenSSL.takeReason()) }
        unsafe (self.ssl, self.link, self.expected) = unsafe (ssl, link, expected)
        unsafe content = .allocate(byteCount: Self.recordCapacity, alignment: 16)
        guard let bio = unsafe link.makeBIO() else { throw .system(OpenSSL.takeReason()) }
        unsafe SSL_set_bio(ssl, bio, bio)
        unsafe SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
        unsafe DTLS_set_timer_cb(ssl) { OpenSSLTimer.interval(after: $1) }
        _ = unsafe SSL_ctrl(ssl, SSL_CTRL_SET_MAX_CERT_LIST, CLong(Self.recordCapacity), nil)
        let names = profiles.map(\.name).joined(separator: ":")
        guard unsafe SSL_ctrl(ssl, SSL_CTRL_SET_MTU, CLong(DTLSSession.maximumDatagramSize), nil) > 0,
            unsafe SSL_set_tlsext_use_srtp(ssl, names) == 0,
            unsafe identity.withHandles({ unsafe SSL_use_certificate(ssl, $0) == 1 && SSL_use_PrivateKey(ssl, $1) == 1 }
            )
        else { throw .system(OpenSSL.takeReason()) }
        if role == .client { unsafe SSL_set_connect_state(ssl) } else { unsafe SSL_set_accept_state(ssl) }
    }

    deinit {
        unsafe SSL_free(ssl)
        unsafe OPENSSL_cleanse(content.baseAddress, content.count)
        unsafe content.deallocate()
    }

    /// The number of flights sent that need an answer, and true if the last of them still awaits it.
    var flight: (isUnanswered: Bool, number: Int) { (link.timer.isRunning, link.timer.flights) }

    /// Passes the datagrams that OpenSSL wrote to `transmit`, in order, and then forgets them.
    func drain(_ transmit: (UnsafeRawBufferPointer) -> Void) { unsafe link.drain(transmit) }

    /// Begins the handshake if `record` is empty; otherwise continues it with a received record.
    func handshake(_ record: UnsafeRawBufferPointer = unsafe .init(start: nil, count: 0)) -> Step {
        unsafe withRecord(record) {
            let result = unsafe SSL_do_handshake(ssl)
            unsafe link.timer.examine(ssl)
            return result == 1 ? .established : outcome(result)
        }
    }

    /// Makes OpenSSL send the last flight again. OpenSSL after 3.1 does so only if its own wall-clock timer has expired.
    func resend() -> Step {
        link.timer.expire()
        ERR_clear_error()
        return unsafe SSL_ctrl(ssl, DTLS_CTRL_HANDLE_TIMEOUT, 0, nil) < 0 ? .failed(takeFailure()) : .waiting
    }

    /// Reads a record of an established session.
    /// - Parameter message: receives each message that OpenSSL has decrypted; valid during the call.
    func receiveRecord(_ record: UnsafeRawBufferPointer, message: (UnsafeRawBufferPointer) -> Void) -> Step {
        unsafe withRecord(record) {
            while true {
                var count = 0
                let result = unsafe SSL_read_ex(ssl, content.baseAddress, content.count, &count)
                guard result == 1 else { return outcome(result) }
                if count > 0 { unsafe message(UnsafeRawBufferPointer(rebasing: content[..<count])) }
            }
        }
    }

    /// Writes a message. Returns false if OpenSSL refuses it.
    func write(_ message: UnsafeRawBufferPointer) -> Bool {
        ERR_clear_error()
        var count = 0
        return unsafe SSL_write_ex(ssl, message.baseAddress, message.count, &count) == 1
    }

    /// Writes the alert close_notify, which ends the session.
    func shutDown() {
        ERR_clear_error()
        unsafe SSL_shutdown(ssl)
        ERR_clear_error()
    }

    /// The SRTP profile that the handshake has selected; nil if there is none.
    var profile: SRTPProfile? {
        unsafe SSL_get_selected_srtp_profile(ssl).flatMap {
            unsafe SRTPProfile(rawValue: UInt16(truncatingIfNeeded: $0.pointee.id))
        }
    }

    /// Returns true if the session's keys depend on the whole handshake (extended master secret, RFC 7627).
    var hasExtendedMasterSecret: Bool { unsafe SSL_ctrl(ssl, SSL_CTRL_GET_EXTMS_SUPPORT, 0, nil) == 1 }

    /// Fills `buffer` with keying material (RFC 5705). Returns false if OpenSSL has none.
    func export(_ label: String, into buffer: UnsafeMutableRawBufferPointer) -> Bool {
        ERR_clear_error()
        return unsafe SSL_export_keying_material(
            ssl, buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), buffer.count, label, label.utf8.count, nil, 0,
            0) == 1
    }

    private func withRecord(_ record: UnsafeRawBufferPointer, _ body: () -> Step) -> Step {
        ERR_clear_error()
        unsafe link.incoming = unsafe record
        defer { unsafe link.incoming = unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
        return body()
    }

    private func outcome(_ result: CInt) -> Step {
        switch unsafe SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: .waiting
        case SSL_ERROR_ZERO_RETURN: .closed
        default: .failed(takeFailure())
        }
    }

    private func takeFailure() -> DTLSError {
        let reason = ERR_GET_REASON(ERR_peek_error())
        let problem = OpenSSL.takeReason()
        if let certificateError { return certificateError }
        switch reason {
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE: return .noCertificate
        case SSL_AD_REASON_OFFSET..<SSL_AD_REASON_OFFSET + 256:
            return .refused(DTLSAlert(rawValue: UInt8(reason - SSL_AD_REASON_OFFSET)))
        default: return .protocolViolation(problem)
        }
    }
}

extension DTLSConnection {
    /// Verifies the peer's certificate, as OpenSSL's callback. Returns false if the connection does not accept it.
    static func verify(_ store: OpaquePointer?) -> Bool {
        guard let ssl = unsafe X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()),
            let connection = unsafe SSL_get_ex_data(OpaquePointer(ssl), 0),
            let shown = unsafe X509_STORE_CTX_get0_cert(store),
            unsafe Unmanaged<DTLSConnection>.fromOpaque(connection).takeUnretainedValue().accepts(shown)
        else {
            unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED)
            return false
        }
        return true
    }

    private func accepts(_ certificate: OpaquePointer) -> Bool {
        guard let der = unsafe OpenSSL.encoded({ unsafe i2d_X509(certificate, $0) }) else { return false }
        let shown = CertificateFingerprint(ofCertificateDER: der)
        guard shown == expected else {
            certificateError = .certificateMismatch(expected: expected, received: shown)
            return false
        }
        do {
            peerKey = try PublicKey(ofCertificateDER: der)
        } catch {
            certificateError = .protocolViolation(error.description)
            return false
        }
        return true
    }
}
