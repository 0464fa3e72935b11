// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

extension RoomHost {
    /// Makes a guest a member.
    mutating func enter(
        _ ask: JoinRequestBody, _ id: RequestID, _ caller: RequestOrigin, hostProof: [UInt8]?, isAccepted: Bool,
        _ now: HostTime
    ) -> [Action] {
        let old = roster
        var refusals: [Action] = []
        while let key = caller.key, let index = pendingRequests.firstIndex(where: { $0.caller.key == key }) {
            refusals += endPendingRequest(index, .replaced)
        }
        let member = Member(
            id: nextMember, name: name(ask.name, for: caller.key, besides: nil), key: caller.key,
            addresses: [caller.address] + ask.reachableAddresses, port: caller.key == nil ? 0 : ask.port,
            isMuted: ask.muted ?? false, isRecording: ask.recording ?? false, allowsRecording: ask.allowsRecording)
        nextMember = nextMember.next
        roster.members.append(member)
        if let key = caller.key { removedKeys.remove(key) }
        let token = caller.key == nil ? self.token(of: member.id) : nil
        memberConnections[member.id] = MemberConnection(
            address: caller.address, lastHeard: now, lastSent: now, token: token)
        roster.revision += 1
        let admission = Admission(
            member: member.id, token: token, hostProof: hostProof.map(Base64.init), roster: roster)
        let permanentKey = ask.ephemeral == true ? nil : caller.key
        let note: [Action] = permanentKey.map { [.note($0, as: member.name, isAccepted: isAccepted)] } ?? []
        return refusals + [.reply(id, .admitted(admission))] + note + publish(since: old, now)
    }

    /// Gives a member that asks again its existing place, after a restart of its process or an interruption.
    mutating func readmit(
        _ id: MemberID, _ ask: JoinRequestBody, _ request: RequestID, _ caller: RequestOrigin, hostProof: [UInt8]?,
        _ now: HostTime
    ) -> [Action] {
        guard memberConnections[id]?.changes.acquire(at: now) == true, let changes = memberConnections[id]?.changes
        else {
            return [.reply(request, .refused(.busy(retryAfter: 30)))]
        }
        let old = roster
        let replaced = closeStream(of: id, with: .replaced)
        if let index = roster.index(of: id) {
            roster.members[index].name = name(ask.name, for: caller.key, besides: id)
            roster.members[index].addresses = Member.bounded([caller.address] + ask.reachableAddresses)
            roster.members[index].port = ask.port
            roster.members[index].isMuted = ask.muted ?? false
            roster.members[index].isRecording = ask.recording ?? false
            roster.members[index].allowsRecording = ask.allowsRecording
            roster.members[index].isAway = false
        }
        memberConnections[id] = MemberConnection(
            address: caller.address, lastHeard: now, lastSent: now, token: nil, changes: changes)
        if roster != old { roster.revision += 1 }
        let admission = Admission(member: id, token: nil, hostProof: hostProof.map(Base64.init), roster: roster)
        return replaced + [.reply(request, .admitted(admission))] + publish(since: old, now)
    }

    /// Returns the wanted name, or a numbered one if it looks like the name of another member, or of a known peer with another
    /// key. (The host may have a known peer's name.)
    private func name(_ wanted: PeerName, for key: KeyFingerprint?, besides member: MemberID?) -> PeerName {
        let others = roster.members.filter { $0.id != member }.map(\.name)
        return wanted.distinct(from: others) { member != roster.host && knownPeers.isOthers($0, than: key) }
    }

    private func token(of member: MemberID) -> String {
        let content = "token \(roster.room) \(roster.epoch) \(member)"
        return Crockford.text(Digest.hmacSHA256(Array(content.utf8), key: secret))
    }

    /// Applies a member's update of itself.
    mutating func apply(
        _ update: MemberUpdate, to id: MemberID, from caller: RequestOrigin, _ request: RequestID, _ now: HostTime
    ) -> [Action] {
        let old = roster
        memberConnections[id]?.address = caller.address
        change(id, update, seenAt: caller.address)
        if roster != old {
            guard memberConnections[id]?.changes.acquire(at: now) == true else {
                roster = old
                return [.reply(request, .refused(.busy(retryAfter: 1)))]
            }
            roster.revision += 1
        }
        let status = MemberStatus(epoch: roster.epoch, revision: roster.revision)
        return [.reply(request, .status(status))] + publish(since: old, now)
    }

    /// Changes what members know of the host.
    mutating func apply(_ update: MemberUpdate, _ now: HostTime) -> [Action] {
        let old = roster
        change(roster.host, update, seenAt: nil)
        if roster != old { roster.revision += 1 }
        return publish(since: old, now)
    }

    mutating func change(_ id: MemberID, _ update: MemberUpdate, seenAt address: IPAddress?) {
        guard let index = roster.index(of: id) else { return }
        if let wanted = update.name {
            roster.members[index].name = name(wanted, for: roster.members[index].key, besides: id)
        }
        if let isMuted = update.muted { roster.members[index].isMuted = isMuted }
        if let isRecording = update.recording { roster.members[index].isRecording = isRecording }
        if let allowsRecording = update.allowsRecording { roster.members[index].allowsRecording = allowsRecording }
        if let addresses = update.reachableAddresses {
            roster.members[index].addresses = Member.bounded([address].compactMap { $0 } + addresses)
        }
    }

    /// Declines a guest and blocks its key, or a browser's address.
    mutating func block(_ id: JoinRequestID) -> [Action] {
        guard let index = pendingRequests.firstIndex(where: { $0.id == id }) else { return [] }
        let pending = pendingRequests[index]
        return endPendingRequest(index, .blocked) + bar(pending.caller.key, pending.caller.address, pending.ask.name)
    }

    /// Removes a member by the user's order, and blocks it if `isBlocked`.
    mutating func expel(_ id: MemberID, isBlocked: Bool, _ now: HostTime) -> [Action] {
        guard id != roster.host, let member = roster[id], let connection = memberConnections[id] else { return [] }
        if let key = member.key { removedKeys.insert(key) }
        if let token = connection.token { removedTokens.insert(token) }
        let barred = isBlocked ? bar(member.key, connection.address, member.name) : []
        return barred + closeStream(of: id, with: .removed(isBlocked: isBlocked)) + drop(id, now)
    }

    private mutating func bar(_ key: KeyFingerprint?, _ address: IPAddress, _ name: PeerName) -> [Action] {
        if let key {
            // The key is blocked here at once, because the owner stores it later, or may fail to.
            knownPeers.block(key, as: name, date: 0)
            return [.block(key, as: name)]
        }
        blockedAddresses.insert(address)
        return []
    }

    /// Removes a member from the roster, with its event stream and its pending offers.
    mutating func drop(_ id: MemberID, _ now: HostTime) -> [Action] {
        let old = roster
        let stream = memberConnections.removeValue(forKey: id)?.stream
        roster.members.removeAll { $0.id == id }
        let offers = dropOffers(of: id)
        roster.revision += 1
        return (stream.map { [.end($0)] } ?? []) + offers + publish(since: old, now)
    }
}
