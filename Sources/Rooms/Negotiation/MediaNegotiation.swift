// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The offers and answers of media between the local peer and each other member of its room: who offers, crossed offers, retries
/// and renegotiation.
///
/// A value without socket, thread or clock, as ``RoomHost``. It reads only the origin of a description: its owner makes and reads
/// descriptions, and has the transports.
package struct MediaNegotiation: Sendable {
    /// Time limits in seconds.
    package enum Limit {
        /// The seconds until a failed offer is repeated: the lower bound at first, the upper bound at most.
        package static let retry = 0.5...15.0
        /// The seconds after the exchange of descriptions until the user is told that the transport has not opened.
        package static let firstMedia = 2.0
        /// The seconds until the offerer makes a new offer if the transport has not opened, because the peers may have different
        /// sessions after a lost answer. Also the seconds until a peer that awaits an offer makes one itself, because the offerer
        /// may believe that the session still exists.
        package static let connection = 10.0
    }

    var peers: [MemberID: Peer] = [:]
    private var me: MemberID?
    private var nextNumber: UInt64

    /// Creates a negotiation outside any room.
    /// - Parameter firstOffer: a random number for the first offer: another process of this member may have made offers.
    package init(firstOffer: UInt64) { nextNumber = firstOffer & Self.numberMask }

    /// Keeps the numbers of offers below 2⁵³, so that JavaScript can represent them.
    private static let numberMask: UInt64 = 1 << 53 - 1

    /// The members with which media is negotiated, in the order of their numbers.
    package var members: [Member] { peers.keys.sorted().compactMap { peers[$0]?.member } }

    /// Returns the local peer's pending offer to a member; nil if there is none.
    package func pendingOffer(to id: MemberID) -> OfferID? {
        if case .localOffer(let offer)? = peers[id]?.stage { offer } else { nil }
    }

    /// Returns the offer that led to the running session with a member; nil without a session.
    package func session(with id: MemberID) -> OfferID? { peers[id]?.session }

    /// The time of the next ``Event/tick``; nil if nothing is due.
    package var nextDeadline: HostTime? { peers.values.compactMap(\.deadline).min() }

    /// Handles an event and what is due by now.
    package mutating func handle(_ event: Event, at now: HostTime) -> [Action] { respond(to: event, now) + expire(now) }

    private mutating func respond(to event: Event, _ now: HostTime) -> [Action] {
        switch event {
        case .admitted(let roster, let me): return admitted(roster, as: me)
        case .rosterChanged(let roster, let me): return apply(roster, as: me, now)
        case .left: return leave()
        case .offerReceived(let offer, let sdp): return receiveOffer(offer, sdp)
        case .answerReceived(let offer, let sdp, let member): return receiveAnswer(to: offer, sdp, by: member)
        case .offerFailed(let offer, let error): return fail(offer, error, now)
        case .sessionEnded(let offer): return end(offer, now)
        case .offerNotMade(let offer):
            guard let id = peer(offering: offer) else { return [] }
            let isRunning = session(with: id) != nil
            peers[id]?.stage = isRunning ? .stable : .waiting(until: nil)
            return []
        case .offerAnswered(let offer, let keepsTransport):
            guard let id = peer(answering: offer) else { return [] }
            peers[id]?.begin(offer, keepsTransport: keepsTransport, now)
            peers[id]?.delay = Limit.retry.lowerBound
            return offerAgain(to: id)
        case .offerRejected(let offer, let keepsTransport):
            guard let id = peer(answering: offer) else { return [] }
            peers[id]?.stage = .stable
            peers[id]?.delay = Limit.retry.lowerBound
            if !keepsTransport { peers[id]?.endSession() }
            return offerAgain(to: id)
        case .answerApplied(let offer, let keepsTransport):
            guard let id = peer(offering: offer) else { return [] }
            peers[id]?.begin(offer, keepsTransport: keepsTransport, now)
            if keepsTransport { peers[id]?.delay = Limit.retry.lowerBound }
            return offerAgain(to: id)
        case .answerRejected(let offer):
            guard let id = peer(offering: offer) else { return [] }
            // The running session continues unchanged: the same offer would be rejected again.
            if session(with: id) != nil { peers[id]?.stage = .stable } else { peers[id]?.retry(now) }
            return offerAgain(to: id)
        case .transportOpened(let id):
            peers[id]?.missingSince = nil
            peers[id]?.isReportedMissing = false
            peers[id]?.delay = Limit.retry.lowerBound
            return []
        case .transportEnded(let id): return endTransport(of: id, now)
        case .renegotiate(let id): return renegotiate(id, now)
        case .tick: return []
        }
    }

    private mutating func expire(_ now: HostTime) -> [Action] {
        var actions: [Action] = []
        for (id, peer) in peers.sorted(by: { $0.key < $1.key }) {
            if let time = peer.stage.offerTime, time <= now { actions += makeOffer(to: id) }
            if let time = peer.reportTime, time <= now {
                peers[id]?.isReportedMissing = true
                actions.append(.reportMissingMedia(peer.member))
            }
            if let time = peer.giveUpTime, time <= now { actions += endTransport(of: id, now) }
        }
        return actions
    }

    // MARK: Room

    /// Offers to all members after admission: they may have sessions with an earlier process of this member.
    private mutating func admitted(_ roster: Roster, as me: MemberID) -> [Action] {
        var actions = leave()
        self.me = me
        for member in roster.members where member.id != me {
            peers[member.id] = Peer(member, isOfferer: isOfferer(to: member.id))
            actions += makeOffer(to: member.id)
        }
        return actions
    }

    private mutating func leave() -> [Action] {
        let actions = peers.keys.sorted().map { Action.forget($0) }
        peers = [:]
        me = nil
        return actions
    }

    private mutating func apply(_ roster: Roster, as me: MemberID, _ now: HostTime) -> [Action] {
        self.me = me
        var actions: [Action] = []
        for id in peers.keys.sorted() where roster[id] == nil || id == me {
            peers[id] = nil
            actions.append(.forget(id))
        }
        for member in roster.members where member.id != me {
            guard let old = peers[member.id] else {
                let isOfferer = isOfferer(to: member.id)
                peers[member.id] = Peer(member, isOfferer: isOfferer)
                // The peer that joined later offers: usually the new member, but the local peer if the member has joined before
                // it.
                if isOfferer { actions += makeOffer(to: member.id) } else { peers[member.id]?.awaitOffer(now) }
                continue
            }
            peers[member.id]?.member = member
            if member.addresses != old.member.addresses || member.port != old.member.port {
                actions.append(.addCandidates(of: member))
            }
            if old.member.isAway, !member.isAway, case .waiting = old.stage {
                peers[member.id]?.stage = .waiting(until: now)
            }
        }
        return actions
    }

    // MARK: Helpers

    private func isOfferer(to id: MemberID) -> Bool { me.map { Roster.offerer(between: $0, and: id) == $0 } ?? false }

    func peer(offering offer: OfferID) -> MemberID? { peers.first { $0.value.stage == .localOffer(offer) }?.key }

    private func peer(answering offer: OfferID) -> MemberID? {
        peers.first { $0.value.stage == .remoteOffer(offer) }?.key
    }

    /// Makes an offer, with the transport of the running session if there is one.
    mutating func makeOffer(to id: MemberID) -> [Action] {
        guard let me, var peer = peers[id] else { return [] }
        let offer = OfferID(from: me, number: nextNumber)
        nextNumber = (nextNumber + 1) & Self.numberMask
        peer.stage = .localOffer(offer)
        peer.offersAgain = false
        peers[id] = peer
        return [.makeOffer(offer, to: peer.member, keepsTransport: peer.session != nil)]
    }
}
