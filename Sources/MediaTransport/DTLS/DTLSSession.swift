// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A DTLS 1.2 session with one peer (RFC 6347): it verifies the peer, negotiates the keys of SRTP (RFC 5764), and transports
/// messages. Datagrams and the time are arguments; it opens no socket and reads no clock.
///
/// Both sides present certificates, and each accepts only the one whose SHA-256 is in the other's session description (RFC 8122).
/// Ciphers are AES-GCM with ephemeral keys on X25519 or P-256. There is neither renegotiation nor resumption.
///
/// Unauthenticated datagrams have no effect: once established, an unencrypted datagram is dropped, as is a modified or repeated
/// one. During the handshake an unencrypted fatal alert is remembered; it ends the handshake if that makes no progress for 2 s.
/// An attacker who sees the handshake and sends from the peer's address can make it fail with forged messages, as DTLS allows,
/// but cannot impersonate the peer.
///
/// Read ``state`` after each call. Not thread-safe: one thread at a time.
package final class DTLSSession {
    /// The state of a session. It never goes back.
    package enum State: Hashable, Sendable {
        /// Not started.
        case new
        /// The handshake is in progress.
        case handshaking
        /// The peer is verified, and media is to be protected with this profile.
        case established(SRTPProfile)
        /// Either side has ended the session. Nothing is sent or read.
        case closed
        /// The handshake failed, or the session broke.
        case failed(DTLSError)
    }

    /// The maximum bytes of a message to send.
    package static let maximumMessageSize = 1_100
    /// The maximum bytes of a sent datagram.
    package static let maximumDatagramSize = 1_200

    /// The current state.
    package private(set) var state = State.new
    /// The local role.
    package let role: DTLSRole

    private let connection: DTLSConnection
    private var timer = HandshakeTimer(at: HostTime(nanoseconds: 0))
    private var lastFlightNumber = 0

    /// Creates a session, which is not started.
    /// - Parameters:
    ///   - role: the local role by `a=setup`; the peer has the other one.
    ///   - identity: the local certificate; the peer must know its ``Identity/certificateFingerprint``.
    ///   - peer: the fingerprint from the peer's session description.
    ///   - allowsCounterMode: true to accept SRTP_AES128_CM_SHA1_80 if the peer does not support AEAD.
    package init(
        role: DTLSRole, identity: Identity, peer: CertificateFingerprint, allowsCounterMode: Bool = false
    ) throws(DTLSError) {
        self.role = role
        connection = try DTLSConnection(
            role: role, identity: identity, expecting: peer,
            profiles: allowsCounterMode ? [.aeadAES128GCM, .aes128CMSHA180] : [.aeadAES128GCM])
    }

    /// The peer's verified key; nil until established.
    package var peerKey: PublicKey? { isEstablished ? connection.peerKey : nil }

    /// The time of the next ``tick(at:transmit:)``; nil unless the handshake is in progress.
    package var nextDeadline: HostTime? { state == .handshaking ? timer.deadline : nil }

    /// Begins the handshake, which fails after 10 s. The client sends its first flight; the server waits. A second call does
    /// nothing.
    /// - Parameter transmit: receives each datagram to send; valid during the call.
    package func start(at now: HostTime, transmit: (UnsafeRawBufferPointer) -> Void) {
        guard state == .new else { return }
        state = .handshaking
        timer = HandshakeTimer(at: now)
        unsafe follow(connection.handshake(), at: now)
        unsafe connection.drain(transmit)
    }

    /// Receives a datagram from the peer, with any content. A server that was not started starts.
    /// - Parameters:
    ///   - transmit: receives each datagram to send; valid during the call.
    ///   - message: receives each message from the peer; valid during the call.
    package func receive(
        _ datagram: UnsafeRawBufferPointer, at now: HostTime, transmit: (UnsafeRawBufferPointer) -> Void,
        message: (UnsafeRawBufferPointer) -> Void
    ) {
        if role == .server { unsafe start(at: now, transmit: transmit) }
        guard datagram.count <= DTLSConnection.recordCapacity else { return }
        var next = 0
        while let record = unsafe DTLSRecord(datagram.bytes, at: next) {
            next = record.bytes.upperBound
            unsafe receiveRecord(record, of: datagram, at: now, message)
        }
        unsafe connection.drain(transmit)
    }

    /// Retransmits an unanswered flight after 50 ms and then at intervals that double up to 1 s. The handshake fails after 10 s,
    /// or 2 s after an unencrypted fatal alert without progress. Call it at ``nextDeadline``; before that it does nothing.
    package func tick(at now: HostTime, transmit: (UnsafeRawBufferPointer) -> Void) {
        guard state == .handshaking else { return }
        if timer.isOver(at: now) {
            state = .failed(.timedOut(timer.alert))
        } else if timer.isToResend(at: now) {
            timer.resent(at: now)
            follow(connection.resend(), at: now)
            unsafe connection.drain(transmit)
        }
    }

    /// Sends a message, which may be lost or reordered.
    /// - Parameter message: 1 to ``maximumMessageSize`` bytes.
    /// - Throws: ``DTLSError/messageSize(_:)``, ``DTLSError/notEstablished``.
    package func send(
        _ message: UnsafeRawBufferPointer, transmit: (UnsafeRawBufferPointer) -> Void
    ) throws(DTLSError) {
        guard (1...Self.maximumMessageSize).contains(message.count) else { throw .messageSize(message.count) }
        guard isEstablished, unsafe connection.write(message) else { throw .notEstablished }
        unsafe connection.drain(transmit)
    }

    /// Ends the session and notifies the peer if it is established. Nothing is sent or read afterwards.
    package func close(transmit: (UnsafeRawBufferPointer) -> Void) {
        switch state {
        case .established:
            connection.shutDown()
            unsafe connection.drain(transmit)
            state = .closed
        case .new, .handshaking: state = .closed
        case .closed, .failed: break
        }
    }

    /// Returns the keys of both directions of SRTP (RFC 5764 §4.2); nil unless established.
    package func makeSRTPKeys() -> SRTPKeys? {
        guard case .established(let profile) = state else { return nil }
        return unsafe SRTPKeys(profile: profile) { unsafe connection.export("EXTRACTOR-dtls_srtp", into: $0) }
    }

    private var isEstablished: Bool {
        if case .established = state { true } else { false }
    }

    private func receiveRecord(
        _ record: DTLSRecord, of datagram: UnsafeRawBufferPointer, at now: HostTime,
        _ message: (UnsafeRawBufferPointer) -> Void
    ) {
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: datagram[record.bytes])
        switch state {
        case .handshaking:
            if let (isFatal, alert) = unsafe record.alertInClear(datagram.bytes) {
                if isFatal { timer.doubt(alert, at: now) }
            } else if unsafe belongsToHandshake(record, datagram.bytes) {
                unsafe follow(connection.handshake(bytes), at: now)
                // OpenSSL may have stored messages that arrived before the last record of the handshake.
                if isEstablished {
                    unsafe follow(connection.receiveRecord(.init(start: nil, count: 0), message: message), at: now)
                }
            }
        case .established:
            // An encrypted handshake record here is the peer's last flight again, because the local answer was lost.
            if record.mayBeEncrypted { unsafe follow(connection.receiveRecord(bytes, message: message), at: now) }
        case .new, .closed, .failed: break
        }
    }

    private func belongsToHandshake(_ record: DTLSRecord, _ datagram: RawSpan) -> Bool {
        switch (record.epoch, record.content) {
        case (0, .handshake): record.isPlausibleHandshake(datagram, to: role)
        case (0, .changeCipherSpec): record.body.count == 1 && datagram.byte(record.body.lowerBound) == 1
        default: record.mayBeEncrypted
        }
    }

    private func follow(_ step: DTLSConnection.Step, at now: HostTime) {
        switch step {
        case .waiting: if state == .handshaking { followTimer(at: now) }
        case .established: establish()
        case .closed:
            connection.shutDown()
            state = .closed
        case .failed(let error): state = .failed(error)
        }
    }

    private func followTimer(at now: HostTime) {
        let flight = connection.flight
        if !flight.isUnanswered {
            timer.answered()
        } else if flight.number != lastFlightNumber {
            timer.sent(at: now)
        }
        lastFlightNumber = flight.number
    }

    private func establish() {
        guard connection.hasExtendedMasterSecret else {
            connection.shutDown()
            state = .failed(.protocolViolation("no extended master secret"))
            return
        }
        guard let profile = connection.profile else {
            connection.shutDown()
            state = .failed(.noProtectionProfile)
            return
        }
        state = .established(profile)
    }
}
