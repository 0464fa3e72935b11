// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

extension MediaNegotiation {
    /// Handles a remote peer's offer. If offers cross, the one by ``Roster/offerer(between:and:)`` wins and the other one
    /// expires. Ignores an offer that the remote peer has already replaced by a later description.
    mutating func receiveOffer(_ offer: OfferID, _ sdp: String) -> [Action] {
        let id = offer.from
        guard let peer = peers[id] else { return [] }
        if case .localOffer = peer.stage, peer.isOfferer { return [] }
        let origin = Self.origin(of: sdp)
        if let origin, peer.isOutdated(origin) { return [] }
        peers[id]?.pendingOrigin = origin
        peers[id]?.stage = .remoteOffer(offer)
        // The remote peer may have answered the local peer's uncertain offer, and dropped its own offer, which is answered here.
        // So the local peer offers again afterwards.
        peers[id]?.offersAgain = peer.isOfferer && peer.hasUncertainOffer
        return [.answer(offer, sdp: sdp, from: peer.member)]
    }

    mutating func receiveAnswer(to offer: OfferID, _ sdp: String, by id: MemberID) -> [Action] {
        guard let peer = peers[id], peer.stage == .localOffer(offer) else { return [] }
        peers[id]?.pendingOrigin = Self.origin(of: sdp)
        return [.apply(offer, sdp: sdp, from: peer.member)]
    }

    /// Returns the origin of a session description; nil if the text is not one, which the owner will report.
    private static func origin(of sdp: String) -> SessionDescription.Origin? {
        try? SessionDescription(parsing: sdp).origin
    }

    mutating func fail(_ offer: OfferID, _ error: RoomError, _ now: HostTime) -> [Action] {
        guard let id = peer(offering: offer) else { return [] }
        peers[id]?.retry(now)
        peers[id]?.hasUncertainOffer = true
        // While the host is lost, an offer fails with the same error although the member is not away.
        if case .memberAway = error, peers[id]?.member.isAway == true { peers[id]?.stage = .waiting(until: nil) }
        return []
    }

    mutating func end(_ offer: OfferID, _ now: HostTime) -> [Action] {
        if let id = peer(offering: offer), let peer = peers[id] {
            peers[id]?.stage = .stable
            let refusal = Action.reportRefusal(peer.member)
            return (peer.session == nil ? [.closeTransport(of: id), refusal] : [refusal]) + offerAgain(to: id)
        }
        guard let (id, peer) = peers.first(where: { $0.value.session == offer }) else { return [] }
        // The answer to the pending local offer would use the transport of the ended session.
        if case .localOffer = peer.stage { return endTransport(of: id, now) }
        peers[id]?.endSession()
        if case .waiting = peer.stage { peers[id]?.stage = .stable }
        return [.closeTransport(of: id)]
    }

    /// Ends the session with a member, and the pending local offer, because its answer could use the old transport.
    mutating func endTransport(of id: MemberID, _ now: HostTime) -> [Action] {
        guard let peer = peers[id] else { return [] }
        peers[id]?.endSession()
        switch peer.stage {
        case .localOffer:
            peers[id]?.hasUncertainOffer = true
            peers[id]?.retry(now)
        case .waiting, .awaitingOffer: break
        case .stable, .remoteOffer:
            if peer.isOfferer { peers[id]?.retry(now) } else { peers[id]?.awaitOffer(now) }
        }
        return [.closeTransport(of: id)]
    }

    mutating func renegotiate(_ id: MemberID, _ now: HostTime) -> [Action] {
        guard let peer = peers[id] else { return [] }
        switch peer.stage {
        case .stable, .awaitingOffer: return makeOffer(to: id)
        case .localOffer, .remoteOffer: peers[id]?.offersAgain = true
        case .waiting(nil) where !peer.member.isAway: return makeOffer(to: id)
        case .waiting: break  // the next offer will describe the new media
        }
        return []
    }

    /// Makes another offer if one must follow: the local peer's media has changed, or its last offer is uncertain.
    mutating func offerAgain(to id: MemberID) -> [Action] { peers[id]?.offersAgain == true ? makeOffer(to: id) : [] }
}
