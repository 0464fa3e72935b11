// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

extension RoomGuest {
    /// Does a member's work while the host is heard: opens the event stream, and sends changes and signs of life. Looks for the
    /// host once it is silent.
    mutating func stayIn(_ now: HostTime) -> [Action] {
        guard let membership else { return [] }
        if now.seconds(since: membership.lastHeard) >= Limit.silence { return beginSeeking(now) }
        var actions: [Action] = []
        if let last = membership.lastStreamed, now.seconds(since: last) >= Limit.silence, let stream = membership.stream
        {
            // The host answers requests, but the event stream brings no signs of life: events would be lost.
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

    /// Returns true if a failure shows that the host's process has ended. After any other failure the guest waits for the host's
    /// silence.
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

    /// Handles the host's refusal of a request that only members make.
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

    /// Handles the host's answer to an update or a sign of life, with the epoch and revision of the host's roster.
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
        // The host has a later roster than this guest. After one such status, the event with that roster may still be on its way.
        // After a second one, or if an event's number was skipped before, the guest assumes that the event was lost.
        guard membership.isBehind else {
            self.membership?.isBehind = true
            return []
        }
        return rereadRoster(now)
    }

    /// Opens the event stream again, beginning with a whole roster, because events were lost.
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

    /// Returns true if a description is from this guest's host and of this room.
    func isFromHost(_ info: RoomInfo, _ key: KeyFingerprint) -> Bool {
        key == membership?.hostKey && info.role == .host && info.room == membership?.roster.room
    }

    /// Moves an address of the host to the front: the host's media arrives from there, or the host answered there.
    mutating func locate(_ key: KeyFingerprint, at address: SocketAddress, _ now: HostTime) -> [Action] {
        guard membership?.hostKey == key, membership?.host.addresses.first != address else { return [] }
        let others = membership?.host.addresses.filter { $0 != address } ?? []
        membership?.host.addresses = [address] + others.prefix(Member.maximumAddressCount - 1)
        if membership?.stream == nil { membership?.nextStream = now }
        guard seeking != nil else { return [] }
        var cancellations: [Action] = []
        if seeking?.target == membership?.roster.host {
            cancellations = cancel { $0 == .stream }
            membership?.stream = nil
            seeking?.target = nil
        }
        seeking?.nextRound = now
        return cancellations
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

    /// Stores an event's number. Returns false for a repeated event. After a gap in the numbers, the guest may need a whole
    /// roster.
    private mutating func isNewEvent(_ event: ServerSentEvent) -> Bool {
        guard let id = event.id.flatMap({ EventID($0) }) else { return true }
        if let last = membership?.lastEvent, last.epoch == id.epoch {
            guard id.number > last.number else { return false }
            // The host's next status shows whether a roster was lost. A lost offer is repeated by its maker.
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

    /// Sends this guest's state again if a new host lacks it: the new host missed the last change, or an older version hosted in
    /// between. The state is sent once to each new host, because an older version never stores all of it.
    private mutating func resendState(correcting entry: Member, _ now: HostTime) {
        let update = configuration.makeUpdate(correcting: entry)
        guard update != MemberUpdate(), let unsent = membership?.unsent else { return }
        membership?.unsent = unsent.followed(by: update)
        membership?.nextUpdate = now
        if update.allowsRecording != nil { membership?.nextWithdrawal = now.advanced(bySeconds: Limit.withdrawal) }
    }

    /// Withdraws a consent in this guest's entry that is not the guest's answer, for example because the host applied an older
    /// update last. Sends at most one withdrawal every ``Limit/withdrawal`` seconds.
    mutating func withdrawConsent(in entry: Member, _ now: HostTime) {
        guard entry.allowsRecording == true, configuration.allowsRecording != true, let membership,
            membership.unsent.allowsRecording == nil
        else { return }
        let time = membership.nextWithdrawal.map { max($0, now) } ?? now
        self.membership?.unsent.allowsRecording = false
        self.membership?.nextUpdate = min(membership.nextUpdate, time)
        self.membership?.nextWithdrawal = time.advanced(bySeconds: Limit.withdrawal)
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
        if let entry = roster[me] {
            if roster.epoch > old.epoch { resendState(correcting: entry, now) }
            withdrawConsent(in: entry, now)
        }
        let changes = roster.changes(since: old)
        return changes.isEmpty ? [] : [.notify(.changed(changes))]
    }
}
