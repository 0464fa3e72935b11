// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

extension ICEAgent {
    /// The seconds of silence after which the peer counts as gone.
    static let disconnectionTime = 3.0
    /// The seconds that a consent lasts (RFC 7675 §5.1).
    static let consentDuration = 30.0

    var selectedIndex: Int? { selected.flatMap { pair in pairs.firstIndex { $0.addresses == pair } } }

    /// Starts to use the pair with this index. The controlling side nominates the pair in its next checks.
    mutating func select(_ i: Int, at: HostTime) {
        pairs[i].isWanted = false
        if let answer = pairs[i].lastAnswer {
            // The peer is not silent just because this pair was not checked for a while.
            lastContact = max(answer, lastContact ?? answer)
            lastConsent = answer
        }
        guard selected != pairs[i].addresses else { return }
        selected = pairs[i].addresses
        nextConsent = at
        startProbing(at: at)
    }

    /// Chooses the pair to use. If there is none, takes the fastest that works. If the pair in use is dead, takes one that has
    /// answered since. On the controlling side, also takes one that is clearly faster.
    mutating func choose(at: HostTime) {
        guard mode == .full else { return }
        let betterIndices: [Int]
        if let i = selectedIndex {
            let current = pairs[i]
            if current.isDead(at: at) {
                betterIndices = pairs.indices.filter { pairs[$0].outlives(current, at: at) }
            } else if role == .controlling {
                betterIndices = pairs.indices.filter { pairs[$0].isClearlyFaster(than: current, at: at) }
            } else {
                return
            }
        } else {
            betterIndices = pairs.indices.filter { pairs[$0].works(at: at) }
        }
        if let best = betterIndices.min(by: { pairs[$0].roundTrip ?? .infinity < pairs[$1].roundTrip ?? .infinity }) {
            select(best, at: at)
        }
    }

    /// Notes that the machine slept, a time that ``HostTime`` does not count: contact and consent have aged by it (RFC 7675
    /// §5.1). A full agent then checks all pairs at once: ``tick(at:transmit:)`` is due.
    package mutating func slept(for seconds: Double, at: HostTime) {
        guard state != .closed else { return }
        lastContact = lastContact?.advanced(bySeconds: -seconds)
        lastConsent = lastConsent?.advanced(bySeconds: -seconds)
        if mode == .full { startProbing(at: at) }
        updateState(at: at)
    }

    /// Updates ``state`` to this time.
    mutating func updateState(at: HostTime) {
        guard state != .closed, let contact = lastContact, let consent = lastConsent else { return }
        let expiry = consent.advanced(bySeconds: Self.consentDuration)
        if expiry <= at {
            state = .consentExpired(since: expiry)
        } else if contact.advanced(bySeconds: Self.disconnectionTime) <= at {
            state = .disconnected(since: contact)
        } else if let selected {
            if case .connected(selected, _) = state { return }
            state = .connected(selected, since: at)
        } else {
            if case .checking = state { return }
            state = .checking(since: at)
        }
    }

    /// The time at which ``state`` changes if nothing arrives.
    var nextStateTime: HostTime? {
        guard let contact = lastContact, let consent = lastConsent else { return nil }
        return switch state {
        case .checking, .connected:
            min(
                contact.advanced(bySeconds: Self.disconnectionTime), consent.advanced(bySeconds: Self.consentDuration))
        case .disconnected: consent.advanced(bySeconds: Self.consentDuration)
        case .consentExpired, .closed: nil
        }
    }
}
