// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms

/// Events of the room.
extension LiveCallCore {
    mutating func handleRoom(_ event: NearbyEvent) {
        switch event {
        case .question(let id, let guest): receive(JoinRequest(id: id, guest: guest))
        case .withdrawn(let id, let error):
            guard let index = requests.firstIndex(where: { $0.id == id }) else { return }
            notify(.joinRequestWithdrawn(requests.remove(at: index), error))
        case .refused(let error, let guest): notify(.guestRefused(name: guest, error))
        case .asking(let info):
            hostAsked = (now, false)
            next.phase = .joining(info)
            notify(.roomFound(info))
        case .pinNeeded: requestPIN(.missing)
        case .joined(let roster, let id): join(roster, as: id)
        case .changed(let changes, let roster):
            self.roster = roster
            applyVolumes(to: roster.members)
            for change in changes { report(change) }
        case .reconnecting: hostLost = (now, false)
        case .reconnected:
            if hostLost?.isReported == true { notify(.hostFound) }
            hostLost = nil
        case .handedOver(let member):
            hostLost = nil
            report(.host(member))
        case .becameHost(let roster): becomeHost(roster)
        case .askingAgain(let member): notify(.askedAgain(participant(member)))
        case .split(let info): notify(.roomSplit(info))
        case .forged(let member): notify(.descriptionForged(participant(member)))
        case .transport(let member, let state):
            links[member.id, default: Link()].connection = state
            if case .failed(let error) = state { notify(.transportFailed(participant(member), error)) }
            reportBeginnings()
        case .noMedia(let member): notify(.mediaMissing(participant(member), port: member.port))
        case .negotiationFailed(let member, let error): receiveNegotiationFailure(member, error)
        case .discovery(let state):
            next.discovery = state
            notify(.discovery(state))
        case .store(let error):
            // Each change of a volume would report it again.
            guard error != reportedStoreFailure else { return }
            reportedStoreFailure = error
            notify(.storeFailed(error))
        case .ended(let ending): handleEnd(ending)
        }
    }

    private mutating func receive(_ request: JoinRequest) {
        if let index = requests.firstIndex(where: { $0.id == request.id }) {
            requests[index] = request
        } else {
            requests.append(request)
        }
        notify(.joinRequested(request))
    }

    private mutating func requestPIN(_ request: LiveCallSnapshot.PINRequest) {
        hostAsked = nil
        next.pinRequest = request
        notify(.pinRequested(request))
    }

    private mutating func join(_ roster: Roster, as id: MemberID) {
        (self.roster, memberID) = (roster, id)
        applyVolumes(to: roster.members)
        hostLost = nil
        hostAsked = nil
        next.phase = .inRoom
        next.pinRequest = nil
        if let isMuted = roster[id]?.isMuted, isMuted != next.isMuted { sendMuteNotice(atOnce: true) }
        guard roster.host == id else {
            (next.joinCodes, next.discovery) = ([], nil)
            return notify(.roomJoined)
        }
        eventAfterJoinCodes = .roomOpened
        act(.room(.readJoinCodes))
    }

    private mutating func becomeHost(_ roster: Roster) {
        hostLost = nil
        applyVolumes(to: roster.members)
        for change in self.roster.map({ roster.changes(since: $0) }) ?? [] { report(change) }
        self.roster = roster
        eventAfterJoinCodes = .becameHost
        act(.room(.setAdmission(next.admission)))
        act(.room(.readJoinCodes))
    }

    /// Stores the join codes, and sends the event that waits for them.
    mutating func receiveJoinCodes(_ codes: [JoinCode]) {
        next.joinCodes = codes
        if let event = eventAfterJoinCodes { notify(event) }
        eventAfterJoinCodes = nil
    }

    /// Handles the end of the room. After a wrong PIN with attempts left, requests the PIN again; otherwise ends the call.
    private mutating func handleEnd(_ ending: RoomEnding) {
        if case .refused(.wrongPIN(let left)) = ending, left > 0, memberID == nil {
            return requestPIN(.wrong(attemptsLeft: left))
        }
        end(ending == .left ? .left : .room(ending))
    }

    private mutating func report(_ change: RosterChange) {
        switch change {
        case .joined(let member): if member.id != memberID { notify(.participantJoined(participant(member))) }
        case .left(let member):
            guard departed.insert(member.id).inserted else { return }
            let participant = participant(member)
            links[member.id] = nil
            volumeMemory.browsers[member.id] = nil
            lostParticipant = member.isAway ? member.name : nil
            notify(.participantLeft(participant, isLost: member.isAway))
        case .renamed(let member, let oldName): notify(.participantRenamed(participant(member), from: oldName))
        case .muted(let member, _): if member.id != memberID { notify(.participantMuted(participant(member))) }
        case .recording: break  // ``reportRecordings()`` compares the roster
        case .recordingConsent(let member, _):
            if member.id != memberID { notify(.recordingConsent(participant(member))) }
        case .away(let member, _): if member.id != memberID { notify(.participantAway(participant(member))) }
        case .moved(let member): if member.id == memberID, roster?.host == member.id { act(.room(.readJoinCodes)) }
        case .host(let member):
            guard member.id != reportedHost else { return }
            reportedHost = member.id
            if member.id != memberID { notify(.hostChanged(participant(member))) }
        }
    }

    /// Stores the failure of a negotiation. Reports the failure once, however often the negotiation is retried.
    private mutating func receiveNegotiationFailure(_ member: Member, _ error: any Error) {
        let reason = "\(error)"
        links[member.id, default: Link()].negotiationFailure = reason
        links[member.id]?.mismatch = Self.mismatch(error)
        guard links[member.id]?.reportedFailure != reason else { return }
        links[member.id]?.reportedFailure = reason
        notify(.negotiationFailed(participant(member), error))
    }

    /// Returns the local and the remote formats if they have none in common; nil for any other failure, which may be temporary.
    private static func mismatch(_ error: any Error) -> (local: [String], remote: [String])? {
        switch error {
        case NegotiationFault.nothingInCommon(let offered, let taken): (offered, taken)
        case NegotiationError.noCommonFormat(let offered, let supported, _): (supported, offered)
        default: nil
        }
    }

    /// Reports the calls that began. Transport and media may become ready in either order.
    mutating func reportBeginnings() {
        for member in roster?.members ?? [] where member.id != memberID {
            guard let link = links[member.id], !link.hasBegun, let format = link.format, case .open? = link.connection
            else { continue }
            links[member.id]?.hasBegun = true
            notify(.callBegan(participant(member), format))
        }
    }
}
