// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

extension RoomHost {
    /// Reports changes to all members and to the user.
    mutating func publish(since old: Roster, _ now: HostTime) -> [Action] {
        guard roster != old else { return [] }
        let event = RoomEvent.roster(roster)
        let data = event.data  // encoded once for all members
        var actions: [Action] = []
        for id in memberConnections.keys.sorted() { actions += deliver(event.name, data, to: id, now) }
        let changes = roster.changes(since: old)
        return changes.isEmpty ? actions : actions + [.notify(.changed(changes))]
    }

    mutating func deliver(_ event: RoomEvent, to id: MemberID, _ now: HostTime) -> [Action] {
        deliver(event.name, event.data, to: id, now)
    }

    /// Queues an event for a member, and sends it if the member's stream is open.
    private mutating func deliver(_ name: String, _ data: String, to id: MemberID, _ now: HostTime) -> [Action] {
        guard let event = memberConnections[id]?.queue.add(name, data, epoch: roster.epoch),
            let stream = memberConnections[id]?.stream
        else { return [] }
        memberConnections[id]?.lastSent = now
        return [.send(event.bytes, on: stream)]
    }

    /// Opens a member's event stream. Sends the events after `last` if they are all still stored; otherwise the whole roster, and
    /// the pending offers to the member.
    mutating func openStream(
        _ request: RequestID, of id: MemberID, after last: EventID?, _ now: HostTime
    ) -> [Action] {
        guard memberConnections[id] != nil else { return [.reply(request, .refused(.notMember))] }
        var actions = closeStream(of: id, with: .replaced)
        actions += [
            .reply(request, .events), .send(ServerSentEvent.retry(milliseconds: 1_000), on: request),
        ]
        memberConnections[id]?.stream = request
        memberConnections[id]?.lastSent = now
        if let last, last.epoch == roster.epoch, let missed = memberConnections[id]?.queue.events(after: last.number) {
            return actions + missed.map { .send($0.bytes, on: request) }
        }
        actions += deliver(.roster(roster), to: id, now)
        for offer in offers where offer.to == id { actions += deliver(.offer(offer.description), to: id, now) }
        return actions
    }

    /// Ends a member's event stream with a last event, which is not stored: the next stream does not repeat it.
    mutating func closeStream(of id: MemberID, with event: RoomEvent) -> [Action] {
        guard let stream = memberConnections[id]?.stream else { return [] }
        memberConnections[id]?.stream = nil
        return [.send(ServerSentEvent(name: event.name, data: event.data).bytes, on: stream), .end(stream)]
    }
}
