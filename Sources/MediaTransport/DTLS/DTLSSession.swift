// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// One peer's DTLS 1.2 (RFC 6347), which proves who the peer is, agrees on the keys of SRTP (RFC 5764), and carries
/// messages. Datagrams and the time go in, datagrams and messages come out; it opens no socket and asks no clock.
///
/// Both sides show certificates, and each takes only the one whose SHA-256 is in the other's session description
/// (RFC 8122). Ciphers are AES-GCM with ephemeral keys on X25519 or P-256. There is neither renegotiation nor resumption.
///
/// Unauthenticated datagrams have no say: once established, a datagram in clear is dropped, as is one that was changed or comes
/// twice. During the handshake an alert in clear is remembered, and believed when nothing else comes for 2 s. Whoever sees the
/// handshake and sends from the peer's address can make it fail with forged messages, as DTLS has it, but cannot be taken for the
/// peer; then a new session begins.
///
/// Look at ``state`` after each call. Not thread-safe: one thread at a time.
package final class DTLSSession {
    /// The state of a session. It only goes forward.
    package enum State: Hashable, Sendable {
        /// Not started.
        case new
        /// Agreeing on keys.
        case handshaking
        /// The peer is who it should be, and media is to be protected in this way.
        case established(SRTPProfile)
        /// Ended, by either side. Nothing is sent or read any more.
        case closed
        /// Did not come about, or broke.
        case failed(DTLSError)
    }

    /// Bytes of a message at most.
    package static let maximumMessageSize = 1_100
    /// Bytes of a datagram that is sent, at most.
    package static let maximumDatagramSize = 1_200

    /// The present state.
    package private(set) var state = State.new
    /// The local role.
    package let role: DTLSRole

    private let connection: DTLSConnection
    private var timer = HandshakeTimer(at: HostTime(nanoseconds: 0))
    private var flights = 0

    /// A session that is not started.
    /// - Parameters:
    ///   - role: by `a=setup`; one side is the client and the other the server.
    ///   - identity: whose certificate to show; its ``Identity/certificateFingerprint`` is what the peer must have been told.
    ///   - peer: the fingerprint from the peer's session description.
    ///   - allowsCounterMode: whether to take SRTP_AES128_CM_SHA1_80 with a peer that cannot do AEAD.
    package init(
        role: DTLSRole, identity: Identity, peer: CertificateFingerprint, allowsCounterMode: Bool = false
    ) throws(DTLSError) {
        self.role = role
        connection = try DTLSConnection(
            role: role, identity: identity, expecting: peer,
            profiles: allowsCounterMode ? [.aeadAES128GCM, .aes128CMSHA180] : [.aeadAES128GCM])
    }

    /// The peer's key, proved to be its own; nil until established.
    package var peerKey: PublicKey? { isEstablished ? connection.peerKey : nil }

    /// When ``tick(at:transmit:)`` has something to do next; nil when only a datagram can change that.
    package var nextDeadline: HostTime? { state == .handshaking ? timer.deadline : nil }

    /// Begins the handshake; the client sends. From here 10 s are left. Does nothing the second time.
    /// - Parameter transmit: gets each datagram; valid during the call.
    package func start(at now: HostTime, transmit: (UnsafeRawBufferPointer) -> Void) {
        guard state == .new else { return }
        state = .handshaking
        timer = HandshakeTimer(at: now)
        unsafe follow(connection.handshake(), at: now)
        unsafe connection.drain(transmit)
    }

    /// Takes a datagram of the peer's, whatever is in it. A server that was not started starts.
    /// - Parameters:
    ///   - transmit: gets each datagram to send; valid during the call.
    ///   - message: gets each message of the peer's; valid during the call.
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

    /// Sends again what was not answered, 50 ms after it was sent and then at intervals that double up to 1 s; gives up
    /// after 10 s. To be called when ``nextDeadline`` has come; does nothing before.
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

    /// Sends a message, which may be lost or overtaken on its way.
    /// - Parameter message: 1 to ``maximumMessageSize`` bytes.
    /// - Throws: ``DTLSError/messageSize(_:)``, ``DTLSError/notEstablished``.
    package func send(
        _ message: UnsafeRawBufferPointer, transmit: (UnsafeRawBufferPointer) -> Void
    ) throws(DTLSError) {
        guard (1...Self.maximumMessageSize).contains(message.count) else { throw .messageSize(message.count) }
        guard isEstablished, unsafe connection.write(message) else { throw .notEstablished }
        unsafe connection.drain(transmit)
    }

    /// Ends the session, telling the peer if it is established. Nothing is sent or read afterwards.
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

    /// The keys of both directions of SRTP (RFC 5764 §4.2); nil unless established.
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
                // Messages that came before the last of the handshake.
                if isEstablished {
                    unsafe follow(connection.receiveRecord(.init(start: nil, count: 0), message: message), at: now)
                }
            }
        case .established:
            // A handshake message here is the peer's last, which did not see the answer to it.
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
        } else if flight.number != flights {
            timer.sent(at: now)
        }
        flights = flight.number
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
