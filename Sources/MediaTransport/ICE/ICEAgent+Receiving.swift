// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

extension ICEAgent {
    /// Returns true if a message on a shared port is for this agent: a check by its user name, an answer by its transaction. This
    /// does not verify the message; ``receive(_:from:to:at:transmit:)`` does.
    package func isAddressed(by message: STUNMessage) -> Bool {
        switch message.messageClass {
        case .request:
            if let name = message.username {
                unsafe name.starts(
                    with: inboundName.span.bytes.extracting(..<(credentials.usernameFragment.utf8.count + 1)))
            } else {
                false
            }
        case .success, .error: checks.check(message.transactionID) != nil
        case .indication: false
        }
    }

    /// Receives a datagram that may be STUN (``STUNMessage/isPlausible(_:)``), with any content. Sends nothing if the datagram is
    /// not authentic.
    /// - Parameters:
    ///   - source: the address that sent the datagram, with a scope if it is IPv6 link-local.
    ///   - local: the local address that the datagram reached, one of ``setLocalAddresses(_:at:)``.
    ///   - transmit: receives each datagram, its local address and its destination; valid during the call.
    @discardableResult
    package mutating func receive(
        _ datagram: UnsafeRawBufferPointer, from source: SocketAddress, to local: IPAddress, at: HostTime,
        transmit: (UnsafeRawBufferPointer, _ from: IPAddress, _ to: SocketAddress) -> Void
    ) -> Received {
        guard state != .closed else { return .ignored(.closed) }
        do throws(STUNError) {
            return unsafe receive(
                unsafe try STUNMessage(parsing: datagram.bytes), from: source, to: local, at: at, transmit: transmit)
        } catch {
            return .ignored(.malformed(error))
        }
    }

    mutating func receive(
        _ message: STUNMessage, from source: SocketAddress, to local: IPAddress, at: HostTime,
        transmit: (UnsafeRawBufferPointer, _ from: IPAddress, _ to: SocketAddress) -> Void
    ) -> Received {
        guard state != .closed else { return .ignored(.closed) }
        guard message.method == STUNMessage.binding, message.hasFingerprint, source.isUnicast else {
            return .ignored(.notACheck)
        }
        let pair = ICEPair(heardFrom: source, to: local)
        let received =
            switch message.messageClass {
            case .request: unsafe receiveCheck(message, by: pair, at: at, transmit)
            case .success, .error: receiveAnswer(message, by: pair, at: at)
            case .indication: Received.ignored(.notACheck)
            }
        updateState(at: at)
        return received
    }

    /// Notes an authentic datagram from the peer other than STUN: media with a valid SRTP tag. In full mode an unknown source is
    /// checked, so that a peer whose router changed the port is followed at once. In lite mode the datagram shows that the peer
    /// is alive.
    package mutating func heard(from source: SocketAddress, to local: IPAddress, at: HostTime) {
        guard state != .closed else { return }
        lastHeard = at
        if mode == .lite, selected != nil { lastContact = at }
        let pair = ICEPair(heardFrom: source, to: local)
        if mode == .full, pair != selected, source.isUnicast { reveal(pair, priority: nil, at: at) }
        updateState(at: at)
    }

    // MARK: The peer's checks (RFC 8445 §7.3)

    private mutating func receiveCheck(
        _ message: STUNMessage, by pair: ICEPair, at: HostTime,
        _ transmit: (UnsafeRawBufferPointer, IPAddress, SocketAddress) -> Void
    ) -> Received {
        guard let name = message.username else { return .ignored(.notACheck) }
        // Until the peer's fragment is known from its description, only the local fragment identifies the peer's checks.
        guard unsafe name.starts(with: inboundName.span.bytes), remoteKey.isEmpty || name.byteCount == inboundName.count
        else {
            return .ignored(.otherUser)
        }
        guard unsafe message.isAuthentic(key: localKey.span.bytes) else { return .ignored(.unauthentic) }
        guard replays.admits(message.transactionID, from: pair.remote) else { return .ignored(.replayed) }
        lastHeard = at
        var isUnderstood = true
        message.forEachNotUnderstood { _ in isUnderstood = false }
        guard isUnderstood else {
            unsafe answer(message, by: pair, error: STUNErrorCode.unknownAttribute, transmit)
            return .ignored(.notUnderstood)
        }
        guard settleRoles(message, at: at) else {
            unsafe answer(message, by: pair, error: STUNErrorCode.roleConflict, transmit)
            return .ignored(.roleConflict)
        }
        unsafe answer(message, by: pair, transmit)
        switch mode {
        case .lite: followCheck(message, by: pair, at: at)
        case .full: unsafe learn(from: message, by: pair, at: at, transmit)
        }
        return .check
    }

    /// Resolves a role conflict (RFC 8445 §7.3.1.1).
    /// - Returns: false if the peer must change its role.
    private mutating func settleRoles(_ message: STUNMessage, at: HostTime) -> Bool {
        let theirs = role == .controlling ? message.controllingTieBreaker : message.controlledTieBreaker
        guard let theirs else { return true }
        let controls = tieBreaker >= theirs
        return controls != (role == .controlling) && changeRole(at: at)
    }

    /// Changes to the opposite role, and begins fast rounds of checks.
    /// - Returns: false if the role stays: in lite mode, and after ``maximumRoleChanges``.
    private mutating func changeRole(at: HostTime) -> Bool {
        guard mode == .full, roleChanges < Self.maximumRoleChanges else { return false }
        roleChanges += 1
        role = role.opposite
        for i in pairs.indices { pairs[i].isWanted = false }
        rebuildPairs()
        startProbing(at: at)
        return true
    }

    private mutating func followCheck(_ message: STUNMessage, by pair: ICEPair, at: HostTime) {
        if !pairs.contains(where: { $0.addresses == pair }) {
            if pairs.count == Self.maximumPairs { removeOldestPair() }
            pairs.append(CheckedPair(pair, priority: 0))
        }
        for i in pairs.indices where pairs[i].addresses == pair { pairs[i].checked(at: at) }
        if message.usesCandidate { selected = pair }
        if selected != nil {
            lastContact = at
            lastConsent = at
        }
    }

    private mutating func removeOldestPair() {
        let oldest = pairs.indices.filter { pairs[$0].addresses != selected }
            .min { pairs[$0].lastAnswer ?? .init(nanoseconds: .min) < pairs[$1].lastAnswer ?? .init(nanoseconds: .min) }
        if let oldest { pairs.remove(at: oldest) }
    }

    private mutating func learn(
        from message: STUNMessage, by pair: ICEPair, at: HostTime,
        _ transmit: (UnsafeRawBufferPointer, IPAddress, SocketAddress) -> Void
    ) {
        reveal(pair, priority: message.priority, at: at)
        guard let i = pairs.firstIndex(where: { $0.addresses == pair }) else { return }
        if role == .controlled, message.usesCandidate {
            for j in pairs.indices { pairs[j].isWanted = false }
            if pairs[i].works(at: at) { select(i, at: at) } else { pairs[i].isWanted = true }
        }
        if !pairs[i].works(at: at) {
            unsafe trigger(i, at: at, transmit)  // the peer reaches us by this pair, so it is likely to work
        } else if pair != selected, probingSince == nil, let i = selectedIndex {
            unsafe trigger(i, at: at, transmit)  // a peer that tries another way may have lost the one in use
        }
    }

    // MARK: Answers to our checks (RFC 8445 §7.2.5)

    private mutating func receiveAnswer(_ message: STUNMessage, by pair: ICEPair, at: HostTime) -> Received {
        guard let check = checks.check(message.transactionID),
            at <= check.sentAt.advanced(bySeconds: ICECheckTable.timeout)
        else { return .ignored(.noTransaction) }
        guard unsafe message.isAuthentic(key: remoteKey.span.bytes) else { return .ignored(.unauthentic) }
        guard check.pair == pair else { return .ignored(.asymmetric) }
        checks.remove(check.id, at: at)
        lastHeard = at
        if message.messageClass == .error {
            guard let code = message.errorCode else { return .ignored(.notACheck) }
            if code == STUNErrorCode.roleConflict, role == check.role, changeRole(at: at) {
                tieBreaker = ids.next().low  // otherwise two equal tie-breakers would change roles for ever
            }
            return .ignored(.refused(code))
        }
        guard message.xorMappedAddress != nil, let i = pairs.firstIndex(where: { $0.addresses == pair }) else {
            return .ignored(.notACheck)
        }
        let wasDead = pairs[i].isDead(at: at)
        pairs[i].answered(after: at.seconds(since: check.sentAt), at: at)
        if pairs[i].isWanted {
            select(i, at: at)
        } else if pair == selected {
            lastContact = at
            lastConsent = at
            if wasDead { startProbing(at: at) }
        }
        choose(at: at)
        return .answer
    }
}
