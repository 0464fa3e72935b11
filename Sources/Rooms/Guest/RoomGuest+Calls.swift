// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

extension RoomGuest {
    /// Handles the reply to a call.
    mutating func handle(
        _ reply: RoomReply, to purpose: Call.Purpose, _ id: CallID, _ key: KeyFingerprint, _ address: SocketAddress,
        _ now: HostTime
    ) -> [Action] {
        switch (purpose, reply) {
        case (.describe, .room(let info)): return described(info, by: key, at: address, now)
        case (.ask, .admitted(let admission)): return admitted(admission, by: key, now)
        case (.describe, .refused(.notHost)) where key == signer.key:
            return failure(.refused, of: purpose, now)  // the answering process has this guest's key and hosts no room
        case (.describe, .refused(let error)), (.ask, .refused(let error)): return finish(.refused(error))
        case (.stream, .events): return streamOpened(id, now)
        case (.stream, .refused(let error)): return streamRefused(error, now)
        case (.update, .status(let status)): return updated(status, now)
        case (.update, .refused(let error)):
            membership?.updateFailed(now)
            return seeking == nil ? hostRefused(error, now) : []
        case (.probe(let member), .room(let info)): return learned(info, from: member, now)
        case (.offer(let offer, let to), .answered(let answer, _)): return answered(answer, to: offer, by: to, now)
        case (.offer(let offer, _), .refused(let error)): return [.notify(.unanswered(offer, error))]
        case (.probe, _), (.leave, _), (.answer, _), (.end, _): return []
        default: return failure(.invalidResponse(.malformed("a reply to something else")), of: purpose, now)
        }
    }

    mutating func fail(_ id: CallID, _ failure: RequestFailure, _ now: HostTime) -> [Action] {
        if let call = calls.removeValue(forKey: id) { return self.failure(failure, of: call.purpose, now) }
        guard membership?.stream == id else { return [] }
        return self.failure(failure, of: .stream, now)
    }

    private mutating func failure(_ failure: RequestFailure, of purpose: Call.Purpose, _ now: HostTime) -> [Action] {
        switch purpose {
        case .describe, .ask:
            guard let joining else { return [] }
            // If the answering peer has this guest's own key, the guest has reached itself.
            let isOwn =
                failure == .wrongKey(signer.key)
                && joining.endpoint.addresses.contains { $0.port == configuration.port }
            return finish(.unreached(isOwn ? .refused : failure, joining.endpoint))
        case .stream: return streamFailed(failure, now)
        case .update:
            membership?.updateFailed(now)
            return lostHost(failure, now)
        case .offer(let offer, _): return [.notify(.unanswered(offer, .offerUnanswered))]
        case .probe: return decide(now)
        case .leave, .answer, .end: return []
        }
    }

    /// Returns the reply to another peer's request.
    func reply(to request: RoomRequest) -> RoomReply {
        guard case .describe = request, let membership, let host = membership.roster[membership.roster.host] else {
            return .refused(.notHost)
        }
        let info = RoomInfo(
            room: membership.roster.room, name: membership.roster.name, epoch: membership.roster.epoch, role: .guest,
            hostName: host.name, hostKey: membership.hostKey, isHostHeard: seeking == nil,
            memberCount: membership.roster.members.count, capacity: Roster.maximumNativeCount,
            needsPIN: membership.needsPIN, nonce: nil)
        return .room(info)
    }

    /// Reports another part of a split room, once for each part.
    mutating func noticePart(_ info: RoomInfo, _ key: KeyFingerprint, _ now: HostTime) -> [Action] {
        let part = PartitionDetector.Part(epoch: info.epoch, host: info.role == .host ? key : info.hostKey)
        guard let membership, info.room == membership.roster.room, part.host != membership.hostKey,
            part.host != signer.key, partsMet.isNewPart(part, roster: membership.roster, at: now)
        else { return [] }
        var info = info
        info.hostKey = part.host
        return [.notify(.split(info))]
    }
}
