// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

extension RoomHost {
    /// Admits or declines a guest, if it still waits.
    mutating func decide(_ id: JoinRequestID, isWelcome: Bool, _ now: HostTime) -> [Action] {
        guard let index = pendingRequests.firstIndex(where: { $0.id == id }) else { return [] }
        let pending = pendingRequests[index]
        guard isWelcome else { return endPendingRequest(index, .declined) }
        if let error = shortage(for: pending.caller.key) { return endPendingRequest(index, error) }
        pendingRequests.remove(at: index)
        return enter(pending.ask, pending.request, pending.caller, hostProof: pending.hostProof, isAccepted: true, now)
    }

    /// Handles a request to join.
    mutating func judge(_ ask: JoinRequestBody, _ id: RequestID, _ caller: RequestOrigin, _ now: HostTime) -> [Action] {
        do throws(RoomError) {
            if caller.key == member.key { throw .ownKey }
            if isBarred(caller, ask.name) { throw .blocked }
            let hostProof = try checkPIN(ask, caller, now)
            if let key = caller.key, let member = roster.member(with: key) {
                return readmit(member.id, ask, id, caller, hostProof: hostProof, now)
            }
            if let key = caller.key, case .changed(let was) = knownPeers.standing(of: key, as: ask.name) {
                throw .changedKey(name: ask.name, was: was)
            }
            if let error = shortage(for: caller.key) { throw error }
            switch policy {
            case .all: return enter(ask, id, caller, hostProof: hostProof, isAccepted: false, now)
            case .known:
                guard caller.key != nil else { throw .keyNeeded }
                guard isKnown(caller) else { throw .unknownKey }
                return enter(ask, id, caller, hostProof: hostProof, isAccepted: true, now)
            case .ask: return try question(ask, id, caller, hostProof: hostProof, now)
            }
        } catch {
            return [.reply(id, .refused(error))] + notice(error, ask.name, caller, now)
        }
    }

    private func isBarred(_ caller: RequestOrigin, _ name: PeerName) -> Bool {
        guard let key = caller.key else { return blockedAddresses.contains(caller.address) }
        return knownPeers.standing(of: key, as: name) == .blocked
    }

    private func isKnown(_ caller: RequestOrigin) -> Bool {
        caller.key.flatMap { knownPeers.peers[$0]?.isAccepted } ?? false
    }

    /// Returns the error if the room is full for a guest with this key, or for a browser without a key; nil if there is a place.
    private func shortage(for key: KeyFingerprint?) -> RoomError? {
        let isFull = key != nil && roster.nativeCount >= capacity || roster.members.count >= Roster.maximumCount
        return isFull ? .full(limit: key == nil ? Roster.maximumCount : capacity) : nil
    }

    /// Verifies a guest's proof of the PIN. Returns the host's own proof; nil if the room has no PIN, or for a returning member,
    /// which need not prove the PIN again.
    private mutating func checkPIN(_ ask: JoinRequestBody, _ caller: RequestOrigin, _ now: HostTime) throws(RoomError)
        -> [UInt8]?
    {
        guard pin != nil else { return nil }
        let isMember = caller.key.flatMap(roster.member(with:)) != nil
        guard let proof = ask.pinProof?.bytes, let guest = caller.key?.bytes ?? ask.pinSeed?.bytes,
            (16...32).contains(guest.count)
        else {
            if isMember { return nil }
            throw .pinNeeded
        }
        let isKnown = isMember || self.isKnown(caller)
        let verdict = pin?.check(
            proof, guest: guest, key: caller.key, address: caller.address, isKnown: isKnown, at: now)
        switch verdict {
        case .right(let hostProof): return hostProof
        case .wrong(let left): throw .wrongPIN(attemptsLeft: left)
        case .tooMany(let seconds): throw .tooManyAttempts(retryAfter: Int(seconds.rounded(.up)))
        case nil: return nil
        }
    }

    /// Asks the user about a guest. If an earlier request of the same guest is still pending, the new one replaces it.
    private mutating func question(
        _ ask: JoinRequestBody, _ id: RequestID, _ caller: RequestOrigin, hostProof: [UInt8]?, _ now: HostTime
    ) throws(RoomError) -> [Action] {
        let question = AskingGuest(
            name: ask.name, purpose: ask.purpose, key: caller.key, address: caller.address, isKnown: isKnown(caller))
        let deadline = now.advanced(bySeconds: Limit.decision)
        if let key = caller.key, let index = pendingRequests.firstIndex(where: { $0.caller.key == key }) {
            let older = pendingRequests[index]
            let isNew = older.question != question
            if isNew { try countQuestion(from: caller.address, now) }
            pendingRequests[index] = PendingJoinRequest(
                id: older.id, request: id, ask: ask, caller: caller, hostProof: hostProof, question: question,
                deadline: deadline)
            return [.reply(older.request, .refused(.replaced))] + (isNew ? [.question(older.id, question)] : [])
        }
        let countFromAddress = pendingRequests.count { $0.caller.address == caller.address }
        guard pendingRequests.count < Self.maximumPendingCount, countFromAddress < Self.maximumPendingCountPerAddress
        else {
            throw .busy(retryAfter: Int(Limit.decision))
        }
        try countQuestion(from: caller.address, now)
        let joinRequestID = JoinRequestID(number: nextJoinRequest)
        nextJoinRequest += 1
        pendingRequests.append(
            PendingJoinRequest(
                id: joinRequestID, request: id, ask: ask, caller: caller, hostProof: hostProof, question: question,
                deadline: deadline))
        return [.question(joinRequestID, question)]
    }

    /// Counts a question to the user. Throws ``RoomError/busy(retryAfter:)`` after too many questions from one address.
    private mutating func countQuestion(from address: IPAddress, _ now: HostTime) throws(RoomError) {
        putQuestions.removeAll { now.seconds(since: $0.time) >= Limit.decision }
        guard putQuestions.count(where: { $0.address == address }) < Self.maximumQuestionCountPerAddress else {
            throw .busy(retryAfter: Int(Limit.decision))
        }
        putQuestions = putQuestions.suffix(255) + [PutQuestion(address: address, time: now)]
    }

    /// Refuses a waiting guest with this error, and withdraws the question to the user.
    mutating func endPendingRequest(_ index: Int, _ error: RoomError) -> [Action] {
        let pending = pendingRequests.remove(at: index)
        return [.reply(pending.request, .refused(error)), .withdraw(pending.id, error)]
    }

    private mutating func notice(_ error: RoomError, _ name: PeerName, _ caller: RequestOrigin, _ now: HostTime)
        -> [Action]
    {
        let guest = "'\(name)' at \(caller.address)"
        guard error.hostDescription(about: guest) != nil, notices.acquire(at: now) else { return [] }
        return [.notify(.refused(error, guest: guest))]
    }
}
