// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

extension ICEAgent {
    /// Seconds of silence after which the peer counts as gone.
    static let disconnectionTime = 3.0
    /// Seconds that a consent lasts (RFC 7675 §5.1).
    static let consentDuration = 30.0

    var selectedIndex: Int? { selected.flatMap { pair in pairs.firstIndex { $0.addresses == pair } } }

    /// Takes a pair into use. The controlling side's checks of it now say so to the peer.
    mutating func select(_ i: Int, at: HostTime) {
        pairs[i].isWanted = false
        if let answer = pairs[i].lastAnswer {
            // A way that was not asked for a while is no silence of the peer's.
            lastContact = max(answer, lastContact ?? answer)
            lastConsent = answer
        }
        guard selected != pairs[i].addresses else { return }
        selected = pairs[i].addresses
        nextConsent = at
        startProbing(at: at)
    }

    /// Decides on the pair to use: the first that answers; another when it is dead and the other is not; and on the
    /// controlling side one that is clearly faster.
    mutating func choose(at: HostTime) {
        guard mode == .full else { return }
        let better: [Int]
        if let i = selectedIndex {
            let current = pairs[i]
            if current.isDead(at: at) {
                better = pairs.indices.filter { pairs[$0].outlives(current, at: at) }
            } else if role == .controlling {
                better = pairs.indices.filter { pairs[$0].isClearlyFaster(than: current, at: at) }
            } else {
                return
            }
        } else {
            better = pairs.indices.filter { pairs[$0].works(at: at) }
        }
        if let best = better.min(by: { pairs[$0].roundTrip ?? .infinity < pairs[$1].roundTrip ?? .infinity }) {
            select(best, at: at)
        }
    }

    /// Tells that this machine has slept, of which ``HostTime`` knows nothing: contact and consent grew older by that
    /// (RFC 7675 §5.1), and all pairs are checked at once: ``tick(at:transmit:)`` is due.
    package mutating func slept(for seconds: Double, at: HostTime) {
        guard state != .closed else { return }
        lastContact = lastContact?.advanced(bySeconds: -seconds)
        lastConsent = lastConsent?.advanced(bySeconds: -seconds)
        if mode == .full { startProbing(at: at) }
        updateState(at: at)
    }

    /// Brings ``state`` up to `at`.
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

    /// When ``state`` changes if nothing comes.
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
