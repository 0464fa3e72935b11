// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

extension ICEAgent {
    /// Seconds between rounds of checks, by how long there has been no rest: so a peer that comes back after a minute is
    /// found within half a second.
    private static let intervals: [(age: Double, interval: Double)] = [(5, 0.05), (30, 0.2), (.infinity, 0.5)]
    /// Seconds between rounds when all is well, so that a way that was bad for a while is found good again.
    static let calmInterval = 5.0
    /// Seconds between checks of the pair in use when all is well.
    static let consentInterval = 1.0
    /// Seconds of quick rounds after something has changed, and as long as no pair answers.
    static let probingDuration = 1.0
    /// Seconds a pair is not checked again, but to nominate it: what is due for two reasons is sent once.
    private static let shortestInterval = 0.02
    /// Seconds between checks in the mean, rounds and triggered ones each (RFC 8445 §14.2).
    static let pace = 0.005
    /// Room for the largest message that is sent: two fragments of 256 characters and a colon, and 96 bytes more.
    private typealias Memory = InlineArray<640, UInt8>

    /// Does what is due. To be called when ``nextDeadline`` has come, and at any time.
    /// - Parameter transmit: gets each datagram, the address of ours to send it from, and where to; valid during the call.
    package mutating func tick(
        at: HostTime, transmit: (UnsafeRawBufferPointer, _ from: IPAddress, _ to: SocketAddress) -> Void
    ) {
        guard state != .closed else { return }
        if canCheck { unsafe runChecks(at: at, transmit) }
        updateState(at: at)
    }

    /// When ``tick(at:transmit:)`` has something to do next; nil when only another call can change that.
    package var nextDeadline: HostTime? {
        guard state != .closed else { return nil }
        var next = nextStateTime
        if canCheck {
            next = earlier(next, nextRound)
            if let i = selectedIndex {
                next = earlier(next, nextConsent)
                if probingSince == nil { next = earlier(next, pairs[i].suspectTime) }
            }
        }
        return next
    }

    private func earlier(_ a: HostTime?, _ b: HostTime?) -> HostTime? {
        guard let a, let b else { return a ?? b }
        return min(a, b)
    }

    private var canCheck: Bool { mode == .full && !remoteKey.isEmpty && !pairs.isEmpty }

    /// Begins quick rounds; the first at once, unless there has just been one.
    mutating func startProbing(at: HostTime) {
        probingSince = at
        nextRound = max(at, lastRound?.advanced(bySeconds: roundInterval(at: at)) ?? at)
    }

    private mutating func runChecks(
        at: HostTime, _ transmit: (UnsafeRawBufferPointer, IPAddress, SocketAddress) -> Void
    ) {
        forgetSilentRemotes(at: at)
        let isWell = selectedIndex.map { !pairs[$0].isSuspect(at: at) } ?? false
        if let since = probingSince {
            if isWell, since.advanced(bySeconds: Self.probingDuration) <= at {
                probingSince = nil
                nextRound = at.advanced(bySeconds: Self.calmInterval)
                nextConsent = at
            }
        } else if !isWell {
            startProbing(at: at)
        }
        choose(at: at)
        if nextRound.map({ $0 <= at }) ?? false {
            for i in pairs.indices { unsafe check(i, at: at, transmit) }
            lastRound = at
            nextRound = at.advanced(bySeconds: roundInterval(at: at))
            nextConsent = at.advanced(bySeconds: Self.consentInterval)
        } else if nextConsent.map({ $0 <= at }) ?? true, let i = selectedIndex {
            unsafe check(i, at: at, transmit)
            nextConsent = at.advanced(bySeconds: Self.consentInterval)
        }
    }

    private func roundInterval(at: HostTime) -> Double {
        guard let since = probingSince else { return Self.calmInterval }
        let age = at.seconds(since: since)
        let interval = Self.intervals.first { age < $0.age }?.interval ?? Self.calmInterval
        return max(interval, Self.pace * Double(pairs.count))
    }

    /// Sends a check of one pair (RFC 8445 §7.2.4), unless one has just been sent.
    mutating func check(
        _ i: Int, at: HostTime, _ transmit: (UnsafeRawBufferPointer, IPAddress, SocketAddress) -> Void
    ) {
        guard !remoteKey.isEmpty else { return }
        let pair = pairs[i].addresses
        let nominates = role == .controlling && pair == selected
        let isNews = nominates && !pairs[i].isNominated
        if !isNews, let last = pairs[i].lastSent, at.seconds(since: last) < Self.shortestInterval { return }
        let id = ids.next()
        pairs[i].sent(nominating: nominates, at: at)
        checks.add(ICECheck(id: id, pair: pair, sentAt: at, role: role))
        var memory = Memory(repeating: 0)
        var bytes = memory.mutableSpan
        var writer = unsafe STUNWriter(.request, transactionID: id, into: bytes.mutableBytes)
        unsafe writer.addUsername(outboundName.span.bytes)
        writer.addPriority(
            ICECandidate.priority(.peerReflexive, rank: locals.firstIndex(of: pair.local) ?? locals.count))
        switch role {
        case .controlling:
            writer.addControlling(tieBreaker: tieBreaker)
            if nominates { writer.addUseCandidate() }
        case .controlled: writer.addControlled(tieBreaker: tieBreaker)
        }
        unsafe writer.addMessageIntegrity(key: remoteKey.span.bytes)
        writer.addFingerprint()
        unsafe writer.message.withUnsafeBytes { unsafe transmit($0, pair.local, pair.remote) }
    }

    /// Sends a check because of one of the peer's (RFC 8445 §7.3.1.4), unless these come too fast: the next round has it.
    mutating func trigger(
        _ i: Int, at: HostTime, _ transmit: (UnsafeRawBufferPointer, IPAddress, SocketAddress) -> Void
    ) {
        if let last = lastTriggered, at < last.advanced(bySeconds: Self.pace) { return }
        lastTriggered = at
        unsafe check(i, at: at, transmit)
    }

    /// Answers a check by the way it came: with where it came from, or with an error.
    func answer(
        _ request: STUNMessage, by pair: ICEPair, error: Int? = nil,
        _ transmit: (UnsafeRawBufferPointer, IPAddress, SocketAddress) -> Void
    ) {
        var memory = Memory(repeating: 0)
        var bytes = memory.mutableSpan
        var writer = unsafe STUNWriter(
            error == nil ? .success : .error, transactionID: request.transactionID, into: bytes.mutableBytes)
        switch error {
        case nil: writer.addXORMappedAddress(pair.remote)
        case STUNErrorCode.unknownAttribute?:
            writer.addErrorCode(STUNErrorCode.unknownAttribute, reason: "Unknown Attribute")
            writer.addUnknownAttributes(of: request)
        case let code?: writer.addErrorCode(code, reason: "Role Conflict")
        }
        unsafe writer.addMessageIntegrity(key: localKey.span.bytes)
        writer.addFingerprint()
        unsafe writer.message.withUnsafeBytes { unsafe transmit($0, pair.local, pair.remote) }
    }
}
