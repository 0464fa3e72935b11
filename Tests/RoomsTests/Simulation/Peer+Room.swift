// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import TestSupport

@testable import EarshotRooms

/// The work of a peer for its room, and its invariants.
extension Peer {
    func performHost(_ body: (inout RoomHost) -> [RoomHost.Action]) {
        guard isRunning, var host else { return }
        let wasClosed = host.isClosed
        let actions = body(&host)
        self.host = host
        for action in actions { perform(action) }
        if !wasClosed, self.host?.isClosed == true { endStay() }
        check()
        plan()
    }

    func performGuest(_ body: (inout RoomGuest) -> [RoomGuest.Action]) {
        guard isRunning, var guest else { return }
        let actions = body(&guest)
        self.guest = guest
        perform(actions)
    }

    func perform(_ action: RoomHost.Action) {
        switch action {
        case .reply(let id, let reply): network.reply(id, reply)
        case .send(let bytes, let id): network.send(bytes, on: id)
        case .end(let id): network.end(id)
        case .question(let id, let question):
            let isWelcome = !network.peers.contains { $0.isStranger && $0.key.fingerprint == question.key }
            network.after(0.2 + network.random.unit() * 3) { [self] in
                whenAwake { [self] in
                    if isWelcome, let key = question.key { network.welcome.insert(key) }
                    performHost { $0.decide(id, isWelcome: isWelcome, at: network.now) }
                }
            }
        case .offered(let offer):
            if let maker = host?.roster[offer.offer.from]?.key { sessions[maker] = offer.sdp }
            performHost { $0.answer(SignedDescription(offer: offer.offer, sdp: description), at: network.now) }
        case .answered(let answer, let member): if let key = host?.roster[member]?.key { sessions[key] = answer.sdp }
        case .probe(let endpoint):
            let id = CallID(number: nextProbe)
            nextProbe += 1
            probes.insert(id)
            network.call(id, .describe, endpoint, from: index)
            network.after(3) { [self] in if probes.remove(id) != nil { network.cancel(id, of: index) } }
        case .note(let key, let name, let isAccepted):
            known.note(key, as: name, isAccepted: isAccepted, date: 0)
            host?.knownPeers = known
        case .notify(.split(let info)): splits.append(info)
        case .becomeGuest(let endpoint):
            returns += 1
            host = nil
            join(endpoint)
        case .withdraw, .unanswered, .ended, .block, .notify: break
        }
    }

    func perform(_ actions: [RoomGuest.Action]) {
        for action in actions {
            switch action {
            case .call(let id, let request, let endpoint): network.call(id, request, endpoint, from: index)
            case .cancel(let id): network.cancel(id, of: index)
            case .reply(let id, let reply): network.reply(id, reply)
            case .note(let key, let name): known.note(key, as: name, isAccepted: true, date: 0)
            case .becomeHost(let succession):
                guest = nil
                offering = []
                host = RoomHost(
                    succeeding: succession, secret: secret, configuration: hostConfiguration, knownPeers: known,
                    at: network.now)
            case .notify(.offered(let offer, let sdp, let maker)):
                if let key = maker.key { sessions[key] = sdp }
                performGuest { $0.answer(description, to: offer, at: network.now) }
            case .notify(.answered(_, let sdp, let member)):
                if let key = member.key {
                    sessions[key] = sdp
                    offering.remove(key)
                }
            case .notify(.unanswered): offering = []
            case .notify(.forged(let member)):
                let maker = network.peers.first { $0.key.fingerprint == member.key }?.roster
                network.faults.append(
                    "\(index): forged from \(member.name) at \(network.now): \(String(describing: roster)), \(String(describing: maker))"
                )
            case .notify(.admitted): enter()
            case .notify(.over(let ending)):
                endings.append(ending)
                offering = []
                if ending != .becameHost, !isHost { endStay() }
            case .needPIN, .notify: break
            }
        }
        check()
        plan()
    }

    func check() {
        guard let roster else { return }
        for member in roster.members {
            guard let key = member.key else { continue }
            if !network.welcome.contains(key) {
                network.faults.append("\(index): \(member.name) is in and was not let in")
            }
        }
        if roster.nativeCount > 8 { network.faults.append("\(index): \(roster.nativeCount) members") }
        guard let host else { return }
        if host.pendingRequests.count > RoomHost.maximumPendingCount || host.offers.count > 64
            || host.memberConnections.count > 24
        {
            network.faults.append("\(index): too much is kept")
        }
        for seat in host.memberConnections.values where seat.queue.count > EventQueue.capacity {
            network.faults.append("\(index): too many events are kept")
        }
        if Set(host.memberConnections.keys) != Set(host.roster.members.map(\.id)).subtracting([host.roster.host]),
            !host.isClosed
        {
            network.faults.append("\(index): the roster and who attends are not the same")
        }
    }
}
