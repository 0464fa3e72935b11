// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The local parameters of the transport to a remote peer.
public struct LocalTransportParameters: Sendable {
    /// The local ICE mode: full for native peers, as both sides send checks; lite for browsers, as only they send checks.
    public var mode: ICEMode
    /// The local ICE role; the offerer is the controlling side.
    public var role: ICERole
    /// The credentials of the local session description.
    public var credentials: ICECredentials
    /// The key that the remote peer must have; nil to accept the certificate in its description.
    public var expectedKey: KeyFingerprint?
    /// True to accept protection without AEAD, for browsers.
    public var allowsCounterMode: Bool

    /// Creates the parameters of a full agent, with AEAD only by default.
    public init(
        mode: ICEMode = .full, role: ICERole, credentials: ICECredentials,
        expectedKey: KeyFingerprint? = nil, allowsCounterMode: Bool = false
    ) {
        self.mode = mode
        self.role = role
        self.credentials = credentials
        self.expectedKey = expectedKey
        self.allowsCounterMode = allowsCounterMode
    }
}

/// The remote parameters of a transport, from the peer's session description.
public struct RemoteTransportParameters: Sendable {
    /// The credentials of the remote session description.
    public var credentials: ICECredentials
    /// The remote peer's candidate addresses; may be empty.
    public var candidates: [ICECandidate]
    /// The fingerprint of the only certificate that is accepted from the remote peer.
    public var certificate: CertificateFingerprint
    /// The local role in the DTLS handshake.
    public var dtlsRole: DTLSRole

    /// Creates parameters.
    public init(
        credentials: ICECredentials, candidates: [ICECandidate], certificate: CertificateFingerprint, dtlsRole: DTLSRole
    ) {
        self.credentials = credentials
        self.candidates = candidates
        self.certificate = certificate
        self.dtlsRole = dtlsRole
    }
}

/// The transport to one remote peer: ICE finds a path, DTLS verifies the peer, SRTP protects its packets. Part of a
/// ``MediaEndpoint``.
final class PeerTransport {
    typealias Transmit = MediaEndpoint.Transmit

    let id: PeerID
    private(set) var agent: ICEAgent
    private(set) var state: TransportState
    private(set) var statistics = TransportStatistics()
    /// The remote peer's verified public key; nil until verified.
    private(set) var key: PublicKey?
    /// The source number (SSRC) of the last packet that was decrypted; nil before the first.
    private(set) var source: UInt32?

    private let identity: Identity
    private let setup: LocalTransportParameters
    private var remote: RemoteTransportParameters?
    private var dtls: DTLSSession?
    private var srtp: SRTPSession?
    /// DTLS datagrams that arrived before the remote peer's description, or before a local check was answered. They wait, because
    /// nothing may be sent to their source yet.
    private var early: [[UInt8]] = []
    /// Messages that arrived with the end of the handshake, before the remote peer's key was verified.
    private var unproven: [[UInt8]] = []
    private var pair: ICEPair?
    private static let maximumEarly = 4
    /// The time of the next ``tick(at:_:)``; nil if only another call can require one. Stored, because it is read at every turn.
    private(set) var nextDeadline: HostTime?
    /// True if a call has changed something that ``tick(at:_:)`` and ``follow(at:_:_:)`` have not handled yet.
    private var needsTick = true
    /// True if ``follow(at:_:_:)`` must compute ``nextDeadline`` again. Media packets do not set this: they bring the deadline
    /// forward only by a change of state.
    private var isDeadlineOutdated = true

    init(_ id: PeerID, _ setup: LocalTransportParameters, identity: Identity, agent: ICEAgent, at now: HostTime) {
        (self.id, self.setup, self.identity, self.agent) = (id, setup, identity, agent)
        state = .connecting(since: now)
    }

    private var earliestDeadline: HostTime? {
        guard !state.isOver else { return nil }
        guard let a = agent.nextDeadline, let b = dtls?.nextDeadline else {
            return agent.nextDeadline ?? dtls?.nextDeadline
        }
        return min(a, b)
    }

    func setLocalAddresses(_ addresses: [IPAddress], at now: HostTime) {
        agent.setLocalAddresses(addresses, at: now)
        parametersChanged()
    }

    func slept(for seconds: Double, at now: HostTime) {
        agent.slept(for: seconds, at: now)
        parametersChanged()
    }

    private func parametersChanged() {
        needsTick = true
        nextDeadline = earliestDeadline
    }

    /// Applies the remote peer's parameters. A second call only adds candidates.
    func setRemote(_ remote: RemoteTransportParameters, at now: HostTime) throws(TransportError) {
        defer { parametersChanged() }
        guard self.remote == nil else { return agent.add(remote.candidates, at: now) }
        do throws(DTLSError) {
            dtls = try DTLSSession(
                role: remote.dtlsRole, identity: identity, peer: remote.certificate,
                allowsCounterMode: setup.allowsCounterMode)
        } catch {
            throw .handshake(error)
        }
        self.remote = remote
        agent.setRemote(remote.credentials, candidates: remote.candidates, at: now)
    }

    // MARK: Receiving

    /// Returns true if a STUN message, a check or an answer to a check, is for the agent of this transport.
    func isAddressed(by message: STUNMessage) -> Bool { !state.isOver && agent.isAddressed(by: message) }

    /// Receives a check, or the answer to a local check.
    /// - Returns: true if the message was accepted, which proves that its source is an address of the remote peer.
    func receiveCheck(
        _ message: STUNMessage, from source: SocketAddress, to local: IPAddress, at now: HostTime, _ transmit: Transmit
    ) -> Bool {
        isDeadlineOutdated = true
        return switch unsafe agent.receive(message, from: source, to: local, at: now, transmit: transmit) {
        case .check, .answer: true
        case .ignored: false
        }
    }

    func receiveHandshake(
        _ datagram: UnsafeRawBufferPointer, at now: HostTime, _ transmit: Transmit,
        _ message: (UnsafeRawBufferPointer) -> Void
    ) {
        guard !state.isOver else { return }
        isDeadlineOutdated = true
        guard let dtls, let pair = agent.mediaPair else {
            if early.count < Self.maximumEarly { unsafe early.append(Array(datagram)) }
            return
        }
        unsafe dtls.receive(datagram, at: now) {
            unsafe transmit($0, pair.local, pair.remote)
        } message: {
            if key == nil { unsafe unproven.append(Array($0)) } else { unsafe message($0) }
        }
    }

    /// Decrypts a packet in place.
    /// - Returns: the packet's bytes. Nil if there are no keys, or if the packet is not authentic, repeated or too old.
    func open(
        _ packet: UnsafeMutableRawBufferPointer, from source: SocketAddress, to local: IPAddress, at now: HostTime
    ) -> UnsafeRawBufferPointer? {
        guard let srtp, !state.isOver else { return nil }
        let ssrc = unsafe MediaEndpoint.source(packet.bytes)
        do throws(SRTPError) {
            let count = unsafe try srtp.unprotect(packet, count: packet.count)
            statistics.received += 1
            self.source = ssrc
            agent.heard(from: source, to: local, at: now)
            return unsafe UnsafeRawBufferPointer(rebasing: packet[..<count])
        } catch {
            switch error {
            case .replay, .tooOld: statistics.replayed += 1
            default: statistics.unauthentic += 1
            }
            return nil
        }
    }

    // MARK: Sending

    /// Protects a packet in place and sends it.
    /// - Parameter packet: has room for ``SRTPSession/maximumOverhead`` bytes more than `count`.
    /// - Returns: true if the packet was sent; false if it was dropped and counted, such as without a path or keys.
    func send(_ packet: UnsafeMutableRawBufferPointer, count: Int, _ transmit: Transmit) -> Bool {
        guard !state.isOver, let srtp, let pair = agent.mediaPair,
            let size = unsafe try? srtp.protect(packet, count: count)
        else {
            countUnsent()
            return false
        }
        statistics.sent += 1
        unsafe transmit(UnsafeRawBufferPointer(rebasing: packet[..<size]), pair.local, pair.remote)
        return true
    }

    func countUnsent() { statistics.unsent += 1 }

    func sendMessage(_ message: UnsafeRawBufferPointer, _ transmit: Transmit) throws(DTLSError) {
        guard let dtls, let pair = agent.mediaPair, !state.isOver else { throw .notEstablished }
        unsafe try dtls.send(message) { unsafe transmit($0, pair.local, pair.remote) }
    }

    /// Closes the transport and notifies the remote peer. Nothing is sent or received afterwards.
    func close(_ transmit: Transmit) {
        guard !state.isOver else { return }
        unsafe end(.closed, transmit)
    }

    // MARK: Time

    /// Does what is due; call ``follow(at:_:_:)`` next.
    /// - Returns: true if anything was due.
    func tick(at now: HostTime, _ transmit: Transmit) -> Bool {
        guard !state.isOver, needsTick || nextDeadline.map({ $0 <= now }) ?? false else { return false }
        needsTick = false
        isDeadlineOutdated = true
        unsafe agent.tick(at: now, transmit: transmit)
        let pair = agent.mediaPair
        // The handshake's time continues without a path; what it sends then is lost.
        unsafe dtls?.tick(at: now) { if let pair { unsafe transmit($0, pair.local, pair.remote) } }
        return true
    }

    /// Updates the state after any call. Starts the handshake when there is a path, and passes on messages when the remote peer's
    /// key is verified.
    /// - Returns: true if the state has changed.
    func follow(at now: HostTime, _ transmit: Transmit, _ message: (UnsafeRawBufferPointer) -> Void) -> Bool {
        guard !state.isOver else { return false }
        let before = state
        if let pair = agent.mediaPair {
            if let last = self.pair, last != pair { statistics.moves += 1 }
            self.pair = pair
            unsafe startHandshake(by: pair, at: now, transmit, message)
        }
        state = unsafe nextState(at: now, transmit)
        if key != nil, !unproven.isEmpty {
            for bytes in unproven { unsafe bytes.withUnsafeBytes(message) }
            unproven = []
        }
        if isDeadlineOutdated || state != before {
            nextDeadline = earliestDeadline
            isDeadlineOutdated = false
        }
        return state != before
    }

    private func startHandshake(
        by pair: ICEPair, at now: HostTime, _ transmit: Transmit, _ message: (UnsafeRawBufferPointer) -> Void
    ) {
        guard let dtls else { return }
        // A server sends nothing here, but its time limit must begin with the client's.
        if dtls.state == .new { unsafe dtls.start(at: now) { unsafe transmit($0, pair.local, pair.remote) } }
        guard !early.isEmpty else { return }
        let earlyDatagrams = early
        early = []
        for datagram in earlyDatagrams {
            unsafe datagram.withUnsafeBytes { unsafe receiveHandshake($0, at: now, transmit, message) }
        }
    }

    private func nextState(at now: HostTime, _ transmit: Transmit) -> TransportState {
        switch dtls?.state {
        case .failed(let error): return unsafe end(.failed(.handshake(error)), transmit)
        case .closed: return unsafe end(.closed, transmit)
        case .established where srtp == nil:
            do throws(TransportError) {
                try makeKeys()
            } catch {
                return unsafe end(.failed(error), transmit)
            }
        case .new, .handshaking, .established, nil: break
        }
        switch agent.state {
        case .checking(let since): return srtp == nil ? .connecting(since: since) : .silent(since: since)
        case .connected(_, let since):
            if srtp == nil { return .securing(since: since) }
            if case .open = state { return state }
            return .open(since: now)
        case .disconnected(let since): return srtp == nil ? .securing(since: since) : .silent(since: since)
        case .consentExpired(let since): return .suspended(since: since)
        case .closed: return .closed
        }
    }

    private func makeKeys() throws(TransportError) {
        guard let dtls, let keys = dtls.makeSRTPKeys(), let key = dtls.peerKey else {
            throw .handshake(.notEstablished)
        }
        if let expected = setup.expectedKey, key.fingerprint != expected {
            throw .otherKey(expected: expected, found: key.fingerprint)
        }
        do throws(SRTPError) {
            srtp = try SRTPSession(keys: keys, role: dtls.role)
        } catch {
            throw .protection(error)
        }
        self.key = key
    }

    @discardableResult
    private func end(_ last: TransportState, _ transmit: Transmit) -> TransportState {
        if let dtls, let pair = agent.mediaPair { unsafe dtls.close { unsafe transmit($0, pair.local, pair.remote) } }
        agent.close()
        srtp = nil
        early = []
        unproven = []
        state = last
        nextDeadline = nil
        return last
    }
}
