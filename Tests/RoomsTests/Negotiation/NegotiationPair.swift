// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import TestSupport

@testable import EarshotRooms

struct UnknownRow: Error { let row: String }

/// A local peer's negotiation with member 5.
struct NegotiationPair {
    static let remote = MemberID(5)!
    let me: MemberID
    let now = HostTime.seconds(100)
    var core = MediaNegotiation(firstOffer: 900)
    var member: Member
    let local: OfferID
    let received = OfferID(from: remote, number: 2)
    let session = OfferID(from: remote, number: 1)

    init(isOfferer: Bool) {
        me = MemberID(isOfferer ? 6 : 4)!
        local = OfferID(from: me, number: 1)
        member = Member(
            id: Self.remote, name: name("Remote"), key: TestKey(5).fingerprint, addresses: [address(5)], port: 47_400)
        _ = core.handle(.rosterChanged(roster, as: me), at: now)
    }

    var roster: Roster {
        var random = SeededRandom(seed: 3)
        let own = Member(
            id: me, name: name("Local"), key: TestKey(1).fingerprint, addresses: [address(1)], port: 47_400)
        return Roster(
            room: RoomID(using: &random), name: name("Studio"), epoch: .first, revision: 1, host: Self.remote,
            members: [member, own].sorted { $0.id < $1.id })
    }

    /// Puts the negotiation into a state of the table.
    mutating func enter(_ state: String, isAway: Bool = false) {
        member.isAway = isAway
        var peer = MediaNegotiation.Peer(member, isOfferer: me > Self.remote)
        if state.hasSuffix("R") { peer.session = session }
        peer.stage =
            switch state.first {
            case "L": .localOffer(local)
            case "A": .remoteOffer(received)
            case "W": .waiting(until: now.advanced(bySeconds: 0.5))
            case "B": .waiting(until: nil)
            case "E": .awaitingOffer(until: now.advanced(bySeconds: 10))
            default: .stable
            }
        core.peers = [Self.remote: peer]
    }

    /// The state's name in the table.
    var state: String {
        guard let peer = core.peers[Self.remote] else { return "gone" }
        let running = peer.session == nil ? "" : "R"
        switch peer.stage {
        case .stable: return peer.session == nil ? "S" : "R"
        case .localOffer: return "L" + running
        case .remoteOffer: return "A" + running
        case .waiting(nil): return "B" + running
        case .waiting: return "W" + running
        case .awaitingOffer: return "E" + running
        }
    }

    /// Returns the event of a row of the table.
    mutating func event(_ row: String) throws -> MediaNegotiation.Event {
        switch row {
        case "offerReceived": return .offerReceived(OfferID(from: Self.remote, number: 3), sdp: "o")
        case "answerReceived": return .answerReceived(local, sdp: "a", by: Self.remote)
        case "otherAnswer": return .answerReceived(OfferID(from: me, number: 77), sdp: "a", by: Self.remote)
        case "offerFailed": return .offerFailed(local, .offerUnanswered)
        case "memberIsAway": return .offerFailed(local, .memberAway)
        case "offerEnded": return .sessionEnded(local)
        case "sessionEnded": return .sessionEnded(session)
        case "offerNotMade": return .offerNotMade(local)
        case "answered": return .offerAnswered(received, keepsTransport: false)
        case "answeredKept": return .offerAnswered(received, keepsTransport: true)
        case "rejected": return .offerRejected(received, keepsTransport: false)
        case "rejectedKept": return .offerRejected(received, keepsTransport: true)
        case "applied": return .answerApplied(local, keepsTransport: false)
        case "appliedKept": return .answerApplied(local, keepsTransport: true)
        case "answerRejected": return .answerRejected(local)
        case "transportOpened": return .transportOpened(Self.remote)
        case "transportEnded": return .transportEnded(Self.remote)
        case "renegotiate": return .renegotiate(Self.remote)
        case "tick":
            for id in core.peers.keys {
                switch core.peers[id]?.stage {
                case .waiting(_?): core.peers[id]?.stage = .waiting(until: now)
                case .awaitingOffer: core.peers[id]?.stage = .awaitingOffer(until: now)
                default: break
                }
            }
            return .tick
        case "left": return .left
        case "admitted": return .admitted(roster, as: me)
        default: return try rosterEvent(row)
        }
    }

    private mutating func rosterEvent(_ row: String) throws -> MediaNegotiation.Event {
        switch row {
        case "sameRoster": break
        case "moved": member.addresses = [address(55)]
        case "away": member.isAway = true
        case "back": member.isAway = false
        case "memberLeft":
            var without = roster
            without.members = without.members.filter { $0.id == me }
            return .rosterChanged(without, as: me)
        default: throw UnknownRow(row: row)
        }
        return .rosterChanged(roster, as: me)
    }
}

extension MediaNegotiation.Action {
    /// Its name in the table.
    var label: String {
        switch self {
        case .makeOffer(_, to: _, keepsTransport: let keepsTransport): keepsTransport ? "reoffer" : "offer"
        case .answer: "answer"
        case .apply: "apply"
        case .addCandidates: "candidates"
        case .closeTransport: "close"
        case .forget: "forget"
        case .reportRefusal: "refusal"
        case .reportMissingMedia: "missing"
        }
    }
}
