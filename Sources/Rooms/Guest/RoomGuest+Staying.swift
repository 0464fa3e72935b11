// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

extension RoomGuest {
    /// Does a member's work while the host is heard: reads events and sends signs of life.
    mutating func stayIn(_ now: HostTime) -> [Action] {
        guard let membership else { return [] }
        if now.seconds(since: membership.lastHeard) >= Limit.silence { return beginSeeking(now) }
        var actions: [Action] = []
        if let last = membership.lastStreamed, now.seconds(since: last) >= Limit.silence, let stream = membership.stream
        {
            // The host answers, but its comments do not arrive: events would be lost.
            self.membership?.stream = nil
            self.membership?.lastStreamed = nil
            return [.cancel(stream), openStream(membership.host, now)]
        }
        if membership.stream == nil, membership.nextStream <= now { actions.append(openStream(membership.host, now)) }
        if membership.update == nil, membership.nextUpdate <= now {
            let action = call(.update(membership.unsent), membership.host, .update, Limit.call, now)
            if case .call(let id, _, _) = action { self.membership?.update = id }
            self.membership?.nextUpdate = now.advanced(bySeconds: Limit.update)
            self.membership?.sending = membership.unsent
            self.membership?.unsent = MemberUpdate()
            actions.append(action)
        }
        return actions
    }

    mutating func openStream(_ endpoint: Endpoint, _ now: HostTime) -> Action {
        let isHost = endpoint == membership?.host
        let action = call(
            .events(after: isHost ? membership?.lastEvent : nil), endpoint, .stream, Limit.call, now)
        if case .call(let id, _, _) = action { membership?.stream = id }
        return action
    }

    mutating func streamOpened(_ id: CallID, _ now: HostTime) -> [Action] {
        guard membership?.stream == id else { return [.cancel(id)] }
        if let seeking { return arrived(seeking, now) }
        membership?.lastHeard = now
        membership?.lastStreamed = now
        return []
    }

    /// Handles a stream that could not be opened, or has ended.
    mutating func streamFailed(_ failure: RequestFailure, _ now: HostTime) -> [Action] {
        membership?.stream = nil
        membership?.lastStreamed = nil
        if seeking != nil { return targetFailed(failure, now) }
        guard let delay = membership?.streamDelay else { return [] }
        membership?.nextStream = now.advanced(bySeconds: delay)
        membership?.streamDelay = min(2, delay * 2)
        return lostHost(failure, now)
    }

    /// Returns true if a failure shows that the host's process has ended; otherwise its silence will.
    func showsHostEnded(_ failure: RequestFailure) -> Bool {
        switch failure {
        case .refused, .wrongKey: true
        case .unreachable, .timedOut, .closed, .invalidResponse: false
        }
    }

    mutating func lostHost(_ failure: RequestFailure, _ now: HostTime) -> [Action] {
        membership != nil && seeking == nil && showsHostEnded(failure) ? beginSeeking(isHostGone: true, now) : []
    }

    mutating func streamRefused(_ error: RoomError, _ now: HostTime) -> [Action] {
        membership?.stream = nil
        return seeking == nil ? hostRefused(error, now) : targetRefused(error, now)
    }

    /// Handles an answer of the host that a member should not get.
    mutating func hostRefused(_ error: RoomError, _ now: HostTime) -> [Action] {
        switch error {
        case .notHost: return beginSeeking(hasHostLeft: true, now)
        case .notMember: return finish(.dropped)
        case .removed: return finish(.removed(isBlocked: false))
        case .closed: return finish(.closed)
        case .blocked: return finish(.removed(isBlocked: true))
        default:
            membership?.lastHeard = now
            membership?.nextStream = now.advanced(bySeconds: 1)
            return []
        }
    }

    /// Handles the host's answer to a sign of life, with the revision of its roster.
    mutating func updated(_ status: MemberStatus, _ now: HostTime) -> [Action] {
        membership?.update = nil
        guard seeking == nil, let membership else { return [] }
        self.membership?.lastHeard = now
        self.membership?.sending = MemberUpdate()
        let ours = (membership.roster.epoch, membership.roster.revision)
        guard (status.epoch, status.revision) > ours else {
            self.membership?.isBehind = false
            self.membership?.isInStep = true
            return []
        }
        // The event may be on its way; behind for a second time, it was lost.
        guard membership.isBehind else {
            self.membership?.isBehind = true
            return []
        }
        return rereadRoster(now)
    }

    /// Reads the events again from a whole roster, because some were lost.
    private mutating func rereadRoster(_ now: HostTime) -> [Action] {
        var actions: [Action] = []
        if let stream = membership?.stream {
            calls[stream] = nil
            actions.append(.cancel(stream))
        }
        membership?.stream = nil
        membership?.lastStreamed = nil
        membership?.lastEvent = nil
        membership?.isBehind = false
        membership?.nextStream = now
        return actions
    }

    /// Returns true if the description is from the host, which still has this room.
    func isFromHost(_ info: RoomInfo, _ key: KeyFingerprint) -> Bool {
        key == membership?.hostKey && info.role == .host && info.room == membership?.roster.room
    }

    /// Handles another address of the host: its media arrives from there, or it has answered there.
    mutating func locate(_ key: KeyFingerprint, at address: SocketAddress, _ now: HostTime) -> [Action] {
        guard membership?.hostKey == key, membership?.host.addresses.first != address else { return [] }
        let others = membership?.host.addresses.filter { $0 != address } ?? []
        membership?.host.addresses = [address] + others.prefix(Member.maximumAddressCount - 1)
        if membership?.stream == nil { membership?.nextStream = now }
        guard seeking != nil else { return [] }
        var dropped: [Action] = []
        if seeking?.target == membership?.roster.host {
            dropped = cancel { $0 == .stream }
            membership?.stream = nil
            seeking?.target = nil
        }
        seeking?.nextRound = now
        return dropped
    }

    /// Handles an item of an event stream.
    mutating func receive(_ item: EventStreamParser.Item, on id: CallID, _ now: HostTime) -> [Action] {
        guard membership?.stream == id, seeking == nil else { return [] }
        membership?.lastHeard = now
        membership?.lastStreamed = now
        membership?.streamDelay = 0.1
        guard case .event(let event) = item, isNewEvent(event) else { return [] }
        do throws(RoomError) {
            return try RoomEvent(event).map { applyEvent($0, now) } ?? []
        } catch {
            return [.cancel(id)] + streamFailed(.invalidResponse(error), now)
        }
    }

    /// Follows the events' numbers. Returns false for a repeated event; a gap is repaired by a whole roster.
    private mutating func isNewEvent(_ event: ServerSentEvent) -> Bool {
        guard let id = event.id.flatMap({ EventID($0) }) else { return true }
        if let last = membership?.lastEvent, last.epoch == id.epoch {
            guard id.number > last.number else { return false }
            // The host's next answer has the roster's revision; the maker of a lost offer repeats it.
            if id.number > last.number + 1 { membership?.isBehind = true }
        }
        membership?.lastEvent = id
        return true
    }

    private mutating func applyEvent(_ event: RoomEvent, _ now: HostTime) -> [Action] {
        switch event {
        case .roster(let roster): return applyRoster(roster, now)
        case .offer(let offer): return offered(offer)
        case .ended(let offer): return [.notify(.ended(offer))]
        case .removed(let isBlocked): return finish(.removed(isBlocked: isBlocked))
        case .replaced: return finish(.replaced)
        case .closing(nil): return finish(.closed)
        case .closing(let next?): return beginSeeking(hasHostLeft: true, next: next, now)
        }
    }

    private mutating func applyRoster(_ roster: Roster, _ now: HostTime) -> [Action] {
        guard let old = membership?.roster, let me = membership?.me else { return [] }
        let isOurs = roster.room == old.room && roster.hostKey == membership?.hostKey && roster[me]?.key == signer.key
        guard isOurs else { return finish(.refused(.malformed("its roster is not that of this room"))) }
        membership?.isInStep = true
        if let host = roster[roster.host].flatMap(Endpoint.init) {
            let known = membership?.host.addresses ?? []
            let more = host.addresses.filter { !known.contains($0) }
            membership?.host.addresses += more.prefix(max(0, Member.maximumAddressCount - known.count))
        }
        guard (roster.epoch, roster.revision) > (old.epoch, old.revision) else { return [] }
        membership?.roster = roster
        let changes = roster.changes(since: old)
        return changes.isEmpty ? [] : [.notify(.changed(changes))]
    }
}
