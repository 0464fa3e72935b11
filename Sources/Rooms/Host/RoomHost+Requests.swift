// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

extension RoomHost {
    /// Answers a request.
    mutating func respond(
        to request: RoomRequest, _ id: RequestID, _ caller: RequestOrigin, _ now: HostTime
    ) -> [Action] {
        switch request {
        case .describe: return [.reply(id, .room(info(at: now)))]
        case .ask(let ask): return judge(ask, id, caller, now)
        default: break
        }
        guard let member = member(of: caller) else {
            if case .leave = request, let key = caller.key,
                let index = pendingRequests.firstIndex(where: { $0.caller.key == key })
            {
                return [.reply(id, .done)] + endPendingRequest(index, .cancelled)
            }
            return [.reply(id, .refused(reason(for: caller)))]
        }
        if case .leave = request { return [.reply(id, .done)] + drop(member, now) }
        let heard = hear(member, now)
        switch request {
        case .describe, .ask, .leave: return heard
        case .events(let last): return heard + openStream(id, of: member, after: last, now)
        case .update(let update): return heard + apply(update, to: member, from: caller, id, now)
        case .offer(let offer, let receiver): return heard + pass(offer, from: member, to: receiver, id, now)
        case .answer(let answer): return heard + pass(answer, from: member, id)
        case .end(let offer, let answerer): return heard + end(offer, answeredBy: answerer, from: member, id, now)
        }
    }

    /// Returns the reason that a caller is not a member.
    private func reason(for caller: RequestOrigin) -> RoomError {
        if let key = caller.key, knownPeers.peers[key]?.isBlocked == true { return .blocked }
        let isRemoved =
            caller.key.map(removedKeys.contains) ?? caller.token.map(removedTokens.contains) ?? false
        return isRemoved ? .removed : .notMember
    }

    /// Returns the guest of this room that made a request, by its verified key or its token; nil if the caller is none.
    private func member(of caller: RequestOrigin) -> MemberID? {
        if let key = caller.key { return roster.member(with: key).map(\.id).flatMap { $0 == roster.host ? nil : $0 } }
        guard let token = caller.token.map({ Array($0.utf8) }) else { return nil }
        return memberConnections.first { $0.value.token.map { Digest.isEqual(Array($0.utf8), token) } ?? false }?.key
    }

    /// Handles a lost connection: withdraws its request to join, drops its offer, or marks its event stream as closed.
    mutating func loseConnection(_ id: RequestID) -> [Action] {
        offers.removeAll { $0.request == id }
        for (member, connection) in memberConnections where connection.stream == id {
            memberConnections[member]?.stream = nil
        }
        guard let index = pendingRequests.firstIndex(where: { $0.request == id }) else { return [] }
        let pending = pendingRequests.remove(at: index)
        return [.withdraw(pending.id, .cancelled)]
    }

    /// Does everything that is due by now: ends requests and offers that were not answered, and updates the members' presence.
    mutating func expire(_ now: HostTime) -> [Action] {
        var actions: [Action] = []
        while let index = pendingRequests.firstIndex(where: { $0.deadline <= now }) {
            actions += endPendingRequest(index, .unanswered)
        }
        for offer in offers where offer.deadline <= now {
            if let request = offer.request {
                actions.append(.reply(request, .refused(.offerUnanswered)))
            } else {
                actions.append(.unanswered(offer.description.offer))
            }
        }
        offers.removeAll { $0.deadline <= now }
        return actions + updatePresence(now)
    }
}
