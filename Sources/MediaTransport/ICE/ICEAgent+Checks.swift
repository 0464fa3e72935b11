// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

extension ICEAgent {
    /// The seconds between fast rounds of checks, up to each age in seconds since the fast rounds began. A peer that comes back
    /// after a minute is found within half a second.
    private static let intervals: [(age: Double, interval: Double)] = [(5, 0.05), (30, 0.2), (.infinity, 0.5)]
    /// The seconds between rounds when the pair in use works, so that other paths are known when it fails.
    static let calmInterval = 5.0
    /// The seconds between checks of the pair in use when it works.
    static let consentInterval = 1.0
    /// The minimum seconds of fast rounds after a change. They continue as long as the pair in use does not answer.
    static let probingDuration = 1.0
    /// The minimum seconds between two checks of a pair, except to nominate it.
    private static let shortestInterval = 0.02
    /// The minimum mean seconds between checks, in rounds and triggered ones each (RFC 8445 §14.2).
    static let pace = 0.005
    /// Memory for the largest sent message: two fragments of 256 characters and a colon, and 96 bytes more.
    private typealias Memory = InlineArray<640, UInt8>

    /// Does what is due. Call it at ``nextDeadline``, or at any time.
    /// - Parameter transmit: receives each datagram, its local address and its destination; valid during the call.
    package mutating func tick(
        at: HostTime, transmit: (UnsafeRawBufferPointer, _ from: IPAddress, _ to: SocketAddress) -> Void
    ) {
        guard state != .closed else { return }
        if canCheck { unsafe runChecks(at: at, transmit) }
        updateState(at: at)
    }

    /// The time of the next ``tick(at:transmit:)``; nil if only another call can require one.
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

    /// Begins fast rounds: the first one at once, unless there was one just before.
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

    /// Sends a check of the pair with this index (RFC 8445 §7.2.4). Skips it if the pair was checked within the last 20 ms,
    /// except to nominate the pair.
    mutating func check(
        _ i: Int, at: HostTime, _ transmit: (UnsafeRawBufferPointer, IPAddress, SocketAddress) -> Void
    ) {
        guard !remoteKey.isEmpty else { return }
        let pair = pairs[i].addresses
        let nominates = role == .controlling && pair == selected
        let isNewNomination = nominates && !pairs[i].isNominated
        if !isNewNomination, let last = pairs[i].lastSent, at.seconds(since: last) < Self.shortestInterval { return }
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

    /// Sends a check because the peer has sent one (RFC 8445 §7.3.1.4). Skips it if the last such check is less than ``pace``
    /// ago; then the next round checks the pair.
    mutating func trigger(
        _ i: Int, at: HostTime, _ transmit: (UnsafeRawBufferPointer, IPAddress, SocketAddress) -> Void
    ) {
        if let last = lastTriggered, at < last.advanced(bySeconds: Self.pace) { return }
        lastTriggered = at
        unsafe check(i, at: at, transmit)
    }

    /// Answers the peer's check by the path of that check, with the address from which it came or with an error.
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
