// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

extension ICEAgent {
    /// The maximum described addresses of the peer; the remainder of ``maximumRemotes`` is for addresses that checks reveal.
    static let maximumDescribed = 24
    /// The seconds for which an address that a check revealed is kept without an answer, if there is another path.
    static let revealedDuration = 10.0

    /// Sets the local addresses, the most preferred first; those after the 16th are ignored. Call it at the beginning and when
    /// they change. A full agent then checks all pairs at once: ``tick(at:transmit:)`` is due.
    /// - Parameter addresses: IPv6 link-local ones have a scope.
    package mutating func setLocalAddresses(_ addresses: [IPAddress], at: HostTime) {
        guard state != .closed else { return }
        var list: [IPAddress] = []
        for address in addresses where !address.isUnspecified && list.count < Self.maximumLocals {
            let address = address.withNeededScope
            if !list.contains(address) { list.append(address) }
        }
        guard list != locals else { return }
        locals = list
        lastRound = nil
        if mode == .lite {
            pairs.removeAll { !list.contains($0.addresses.local) }
            forgetSelectedIfGone()
        } else {
            pairsChanged(at: at)
        }
        updateState(at: at)
    }

    /// Sets the peer's parameters from its session description, once. Checks begin: ``tick(at:transmit:)`` is due. A description
    /// with other credentials (RFC 8445 §9) needs another agent.
    /// - Parameter candidates: those after the 24th are ignored. May be empty: the peer's own checks reveal its addresses.
    package mutating func setRemote(_ remote: ICECredentials, candidates: [ICECandidate], at: HostTime) {
        guard state != .closed else { return }
        inboundName = Array("\(credentials.usernameFragment):\(remote.usernameFragment)".utf8)
        outboundName = Array("\(remote.usernameFragment):\(credentials.usernameFragment)".utf8)
        remoteKey = Array(remote.password.utf8)
        add(candidates, at: at)
    }

    /// Adds addresses of the peer, at most 24 in a call; a lite agent ignores them. If there are too many, they replace those
    /// that have not answered for the longest time.
    package mutating func add(_ candidates: [ICECandidate], at: HostTime) {
        guard state != .closed, mode == .full else { return }
        for candidate in candidates.prefix(Self.maximumDescribed) { addDescribed(candidate, at: at) }
        pairsChanged(at: at)
        updateState(at: at)
    }

    private mutating func addDescribed(_ candidate: ICECandidate, at: HostTime) {
        if let i = remotes.firstIndex(where: { $0.address == candidate.address }) {
            remotes[i].isDescribed = true
            return
        }
        if remotes.count(where: \.isDescribed) >= Self.maximumDescribed {
            removeOldest(isDescribed: true)
        } else if remotes.count == Self.maximumRemotes {
            removeOldest(isDescribed: false)
        }
        remotes.append(
            RemoteAddress(address: candidate.address, priority: candidate.priority, isDescribed: true, since: at))
    }

    /// Adds the source of an authentic datagram: a peer-reflexive candidate (RFC 8445 §7.3.1.3).
    mutating func reveal(_ pair: ICEPair, priority: UInt32?, at: HostTime) {
        let address = SocketAddress(pair.remote.address.withoutScope, port: pair.remote.port)
        guard locals.contains(pair.local), !remotes.contains(where: { $0.address == address }) else { return }
        // A peer moves rarely. Addresses that appear faster would keep this agent busy, so they are ignored until later.
        if let last = lastRevealed, at < last.advanced(bySeconds: Self.pace) { return }
        lastRevealed = at
        // A revealed address that is not in use makes room; if there is none, a described one does. All may be described, because
        // a revealed address counts as described as soon as a description contains it.
        if remotes.count == Self.maximumRemotes {
            removeOldest(isDescribed: !remotes.contains { !$0.isDescribed && !isSelected($0) })
        }
        remotes.append(
            RemoteAddress(
                address: address, priority: priority ?? ICECandidate.priority(.peerReflexive, rank: 0),
                isDescribed: false,
                since: at))
        pairsChanged(at: at)
    }

    /// Removes one address of the peer, described or revealed as requested: of those not in use, the one that was silent for the
    /// longest time.
    private mutating func removeOldest(isDescribed: Bool) {
        let oldest = remotes.indices.filter { remotes[$0].isDescribed == isDescribed && !isSelected(remotes[$0]) }
            .min { lastContact(of: remotes[$0]) < lastContact(of: remotes[$1]) }
        if let oldest { remotes.remove(at: oldest) }
    }

    /// Removes revealed addresses that were silent for ``revealedDuration``: the peer's former ones and unreachable ones.
    mutating func forgetSilentRemotes(at: HostTime) {
        guard case .connected = state else { return }
        let count = remotes.count
        let silent = remotes.indices.filter {
            !remotes[$0].isDescribed && !isSelected(remotes[$0])
                && at.seconds(since: lastContact(of: remotes[$0])) > Self.revealedDuration
        }
        for i in silent.reversed() { remotes.remove(at: i) }
        if remotes.count != count { rebuildPairs() }
    }

    private func isSelected(_ remote: RemoteAddress) -> Bool {
        selected.map { remote.isReached(by: $0) } ?? false
    }

    private func lastContact(of remote: RemoteAddress) -> HostTime {
        let answers = pairs.lazy.filter { remote.isReached(by: $0.addresses) }.compactMap(\.lastAnswer)
        return max(answers.max() ?? remote.since, remote.since)
    }

    /// Updates the pairs after a change of addresses, and begins fast rounds of checks.
    private mutating func pairsChanged(at: HostTime) {
        rebuildPairs()
        forgetSelectedIfGone()
        startProbing(at: at)
        choose(at: at)
    }

    private mutating func forgetSelectedIfGone() {
        if selectedIndex == nil { selected = nil }
    }

    /// Pairs each local address with each of the peer's that it can reach. Existing pairs keep their state; if there are too
    /// many, those that have answered and then those of higher priority stay.
    mutating func rebuildPairs() {
        var all: [CheckedPair] = []
        for (rank, local) in locals.enumerated() {
            let priority = ICECandidate.priority(.host, rank: rank)
            for remote in remotes {
                guard let address = remote.address.address.reached(from: local) else { continue }
                let addresses = ICEPair(local: local, remote: SocketAddress(address, port: remote.address.port))
                var pair = pairs.first { $0.addresses == addresses } ?? CheckedPair(addresses, priority: 0)
                pair.priority = pairPriority(local: priority, remote: remote.priority)
                all.append(pair)
            }
        }
        all.sort { a, b in
            let (answeredA, answeredB) = (a.lastAnswer != nil, b.lastAnswer != nil)
            return answeredA == answeredB ? a.priority > b.priority : answeredA
        }
        pairs = Array(all.prefix(Self.maximumPairs))
    }

    /// Returns the priority of a pair from those of its two candidates (RFC 8445 §6.1.2.3).
    private func pairPriority(local: UInt32, remote: UInt32) -> UInt64 {
        let (controlling, controlled) = role == .controlling ? (local, remote) : (remote, local)
        return UInt64(min(local, remote)) << 32 + UInt64(max(local, remote)) * 2 + (controlling > controlled ? 1 : 0)
    }
}

extension ICEAgent.RemoteAddress {
    func isReached(by pair: ICEPair) -> Bool {
        address == SocketAddress(pair.remote.address.withoutScope, port: pair.remote.port)
    }
}
