// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

extension RoomHost {
    /// Returns the deadlines of a member.
    func dues(of connection: MemberConnection, _ id: MemberID) -> [HostTime] {
        let isAway = roster[id]?.isAway ?? false
        var times = [connection.lastHeard.advanced(bySeconds: isAway ? Limit.absence : Limit.silence)]
        if connection.stream != nil { times.append(connection.lastSent.advanced(bySeconds: Limit.keepAlive)) }
        if let probe = connection.nextProbe { times.append(probe) }
        return times
    }

    /// Notes a member's sign of life.
    mutating func hear(_ id: MemberID, _ now: HostTime) -> [Action] {
        memberConnections[id]?.lastHeard = now
        memberConnections[id]?.nextProbe = nil
        guard let index = roster.index(of: id), roster.members[index].isAway else { return [] }
        let old = roster
        roster.members[index].isAway = false
        roster.revision += 1
        return publish(since: old, now)
    }

    /// Marks members as away after ``Limit/silence`` seconds without a sign of life, and removes them after ``Limit/absence``.
    /// Sends signs of life on quiet event streams, and questions to members that are away.
    mutating func updatePresence(_ now: HostTime) -> [Action] {
        let old = roster
        var actions: [Action] = []
        for (id, connection) in memberConnections.sorted(by: { $0.key < $1.key }) {
            guard let index = roster.index(of: id) else { continue }
            let silence = now.seconds(since: connection.lastHeard)
            if silence >= Limit.absence {
                roster.members.remove(at: index)
                memberConnections[id] = nil
                actions += (connection.stream.map { [.end($0)] } ?? []) + dropOffers(of: id)
                continue
            }
            if silence >= Limit.silence, !roster.members[index].isAway {
                roster.members[index].isAway = true
                // Further events wait in the member's queue, not in a connection that may be dead.
                memberConnections[id]?.stream = nil
                actions += (connection.stream.map { [.end($0)] } ?? []) + dropOffers(to: id)
            }
            actions += probe(id, now) + keepAlive(id, now)
        }
        if roster != old { roster.revision += 1 }
        return actions + publish(since: old, now)
    }

    /// Asks a member that is away to describe its room, because it may be in another part of a split room.
    private mutating func probe(_ id: MemberID, _ now: HostTime) -> [Action] {
        guard let member = roster[id], member.isAway, let endpoint = Endpoint(member) else { return [] }
        if let next = memberConnections[id]?.nextProbe, next > now { return [] }
        memberConnections[id]?.nextProbe = now.advanced(bySeconds: Limit.probe)
        return [.probe(endpoint)]
    }

    private mutating func keepAlive(_ id: MemberID, _ now: HostTime) -> [Action] {
        guard let connection = memberConnections[id], let stream = connection.stream,
            now.seconds(since: connection.lastSent) >= Limit.keepAlive
        else { return [] }
        memberConnections[id]?.lastSent = now
        return [.send(ServerSentEvent.keepAlive, on: stream)]
    }

    /// Compares a peer's description of its room with this room. Reports another part of this room, or joins that part if this
    /// host is alone.
    mutating func compare(_ info: RoomInfo, provedBy key: KeyFingerprint, _ now: HostTime) -> [Action] {
        let part = PartitionDetector.Part(epoch: info.epoch, host: info.role == .host ? key : info.hostKey)
        guard info.room == roster.room, part.host != member.key else { return [] }
        let isAlone = roster.members.allSatisfy { $0.id == roster.host || $0.isAway }
        if isAlone, info.epoch > roster.epoch, let successor = roster.member(with: part.host),
            let endpoint = Endpoint(successor)
        {
            // A guest's description is not enough: the new host, a member that is away, is asked directly every few seconds.
            return info.role == .host ? end(next: successor.id, now) + [.becomeGuest(endpoint)] : []
        }
        guard partsMet.isNewPart(part, roster: roster, at: now) else { return [] }
        var info = info
        info.hostKey = part.host
        return [.notify(.split(info))]
    }

    /// Ends the hosting: the member `next` takes the room over; if nil, the room ends for all.
    mutating func end(next: MemberID?, _ now: HostTime) -> [Action] {
        var actions: [Action] = []
        while !pendingRequests.isEmpty { actions += endPendingRequest(0, .closed) }
        for offer in offers { if let request = offer.request { actions.append(.reply(request, .refused(.closed))) } }
        offers = []
        for id in memberConnections.keys.sorted() { actions += closeStream(of: id, with: .closing(next: next)) }
        memberConnections = [:]
        isClosed = true
        hasSuccessor = next != nil
        return actions
    }
}
