// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

/// The search for a host that is silent or gone. The guest tries the host again, and asks the other native members for
/// descriptions of the room. Then the guest returns to the host, follows the member that has taken over, or takes over itself.
/// The reachable member that joined first takes over, once no other reachable member hears the host. A guest that reaches nobody
/// waits, because it may be the one that is cut off, unless the host has left or its process has ended.
extension RoomGuest {
    /// True while the guest looks for its host.
    package var isHostLost: Bool { seeking != nil }

    mutating func beginSeeking(
        hasHostLeft: Bool = false, isHostGone: Bool = false, next: MemberID? = nil, _ now: HostTime
    ) -> [Action] {
        guard let membership, seeking == nil else { return [] }
        // Pending offers fail: the next host has another epoch, and an offer's signature contains the epoch.
        let offers = calls.values.compactMap { if case .offer(let offer, _) = $0.purpose { offer } else { nil } }
        var actions = hangUp()
        actions += offers.sorted { $0.number < $1.number }.map { .notify(.unanswered($0, .memberAway)) }
        if membership.update != nil { self.membership?.updateFailed(now) }
        seeking = Seeking(since: now, hasHostLeft: hasHostLeft, isHostGone: isHostGone, nextRound: now)
        actions.append(.notify(.reconnecting))
        return next == membership.me ? actions + takeOver() : actions
    }

    /// Ends the stay after a long absence. Otherwise, when a round is due, asks the host and the other members again, and takes
    /// over if it is time to.
    mutating func seek(_ now: HostTime) -> [Action] {
        guard let membership, let seeking else { return [] }
        if now.seconds(since: membership.lastHeard) >= Limit.absence { return finish(.lost) }
        guard seeking.nextRound <= now else { return [] }
        self.seeking?.nextRound = now.advanced(bySeconds: seeking.delay)
        self.seeking?.delay = min(now.seconds(since: seeking.since) < 15 ? 1 : 2, seeking.delay * 2)
        var actions: [Action] = []
        if seeking.target == nil, !seeking.hasHostLeft {
            self.seeking?.target = membership.roster.host
            actions.append(openStream(membership.host, now))
        }
        let pendingPurposes = calls.values.map(\.purpose)
        for member in membership.roster.successors where member.id != membership.me {
            guard let endpoint = Endpoint(member), !pendingPurposes.contains(.probe(member.id)) else { continue }
            actions.append(call(.describe, endpoint, .probe(member.id), Limit.call, now))
        }
        return actions + decide(now)
    }

    /// Handles a member's description of the room.
    mutating func learned(_ info: RoomInfo, from member: MemberID, _ now: HostTime) -> [Action] {
        guard let seeking, let membership, info.room == membership.roster.room, let sender = membership.roster[member],
            let key = sender.key
        else { return [] }
        self.seeking?.answers[member] = Seeking.Answer(time: now, info: info)
        guard info.role == .host else { return decide(now) }
        // The members agree on the successor, so a member that hosts a later epoch has taken this room over.
        guard info.epoch > membership.roster.epoch else { return noticePart(info, key, now) }
        guard seeking.target == nil || seeking.target == membership.roster.host, let endpoint = Endpoint(sender) else {
            return []
        }
        let cancellations = cancel { $0 == .stream }
        self.seeking?.target = member
        return cancellations + [openStream(endpoint, now)]
    }

    /// Handles the opening of an event stream that ends the search: the old host's or a new host's.
    mutating func arrived(_ seeking: Seeking, _ now: HostTime) -> [Action] {
        guard let membership, let target = seeking.target, let member = membership.roster[target], let key = member.key,
            let endpoint = Endpoint(member)
        else { return [] }
        let cancellations = cancel { if case .probe = $0 { true } else { false } }
        self.seeking = nil
        self.membership?.lastHeard = now
        self.membership?.lastStreamed = now
        self.membership?.nextUpdate = now
        // The old host, too, may have taken the room over again in a later epoch.
        self.membership?.isInStep = false
        guard target != membership.roster.host else { return cancellations + [.notify(.reconnected)] }
        self.membership?.host = endpoint
        self.membership?.hostKey = key
        self.membership?.lastEvent = nil
        return cancellations + [.notify(.handedOver(to: member))]
    }

    mutating func targetFailed(_ failure: RequestFailure, _ now: HostTime) -> [Action] {
        if seeking?.target == membership?.roster.host, showsHostEnded(failure) { seeking?.isHostGone = true }
        seeking?.target = nil
        return decide(now)
    }

    mutating func targetRefused(_ error: RoomError, _ now: HostTime) -> [Action] {
        guard let membership, let target = seeking?.target else { return [] }
        seeking?.target = nil
        let isHost = target == membership.roster.host
        switch error {
        case .notMember where isHost: return finish(.dropped)
        case .notMember: return requestAdmissionAgain(target, now)
        case .removed: return finish(.removed(isBlocked: false))
        case .blocked: return finish(.removed(isBlocked: true))
        case .closed where isHost: return finish(.closed)
        case .notHost where isHost:
            seeking?.hasHostLeft = true
            return decide(now)
        default: return []
        }
    }

    /// Asks the new host, which does not know this member, to be admitted.
    private mutating func requestAdmissionAgain(_ host: MemberID, _ now: HostTime) -> [Action] {
        guard let member = membership?.roster[host], let endpoint = Endpoint(member) else { return [] }
        let cancellations = hangUp()
        membership = nil
        seeking = nil
        joining = Joining(endpoint: endpoint)
        return cancellations + [.notify(.askingAgain(member)), call(.describe, endpoint, .describe, Limit.call, now)]
    }

    /// Takes over the room if three conditions hold: no earlier successor can, no member that answered hears the host, and the
    /// host has left, has ended, or another member misses it too.
    mutating func decide(_ now: HostTime) -> [Action] {
        guard let seeking, let membership, seeking.target == nil || seeking.target == membership.roster.host else {
            return []
        }
        let isAsking = calls.values.contains { if case .probe = $0.purpose { true } else { false } }
        if isAsking, now.seconds(since: seeking.since) < Limit.firstAnswers { return [] }
        let answers = seeking.answers.filter { now.seconds(since: $0.value.time) < Limit.freshness }
        for candidate in membership.roster.successors {
            if candidate.id == membership.me { break }
            // The candidate is reachable and will take over, or may become reachable.
            if answers[candidate.id] != nil || now.seconds(since: seeking.since) < Limit.takeoverTimeout { return [] }
        }
        let guestAnswers = answers.values.filter { $0.info.role == .guest && $0.info.epoch == membership.roster.epoch }
        if guestAnswers.contains(where: \.info.isHostHeard) { return [] }
        guard seeking.hasHostLeft || seeking.isHostGone || !guestAnswers.isEmpty else { return [] }
        return takeOver()
    }

    private mutating func takeOver() -> [Action] {
        guard let membership else { return [] }
        var roster = membership.roster
        if let old = roster.index(of: roster.host) {
            if seeking?.hasHostLeft == true {
                roster.members.remove(at: old)
            } else {
                roster.members[old].isAway = true
            }
        }
        roster.epoch = roster.epoch.next
        roster.revision += 1
        roster.host = membership.me
        var update = membership.sending.followed(by: membership.unsent)
        if let own = roster.index(of: membership.me) {
            roster.members[own].isAway = false
            update = update.followed(by: configuration.makeUpdate(correcting: roster.members[own]))
        }
        let handover = HostHandover(
            roster: roster, lastMember: membership.lastMember, needsPIN: membership.needsPIN, update: update)
        return finish(.becameHost) + [.becomeHost(handover)]
    }
}
