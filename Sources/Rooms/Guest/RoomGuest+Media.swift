// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

/// Offers of media between members, signed and verified; and a member's changes of itself.
extension RoomGuest {
    /// Offers media to a member. The answer, or the reason of a failure, is a notification.
    mutating func offer(_ sdp: String, as offer: OfferID, to id: MemberID, _ now: HostTime) -> [Action] {
        guard let membership, isConnected, membership.isInStep, let receiver = membership.roster[id],
            id != membership.me, offer.from == membership.me
        else { return [.notify(.unanswered(offer, .offerUnanswered))] }
        let description = signer.signed(sdp, as: .offer, of: offer, in: membership.roster, for: receiver)
        let purpose = Call.Purpose.offer(offer, id)
        return [call(.offer(description, to: id), membership.host, purpose, Limit.answer, now)]
    }

    /// Answers an offer.
    mutating func answer(_ sdp: String, to offer: OfferID, _ now: HostTime) -> [Action] {
        guard let membership, isConnected, let maker = membership.roster[offer.from] else { return [] }
        let description = signer.signed(sdp, as: .answer, of: offer, in: membership.roster, for: maker)
        return [call(.answer(description), membership.host, .answer(offer), Limit.call, now)]
    }

    /// Tells the remote peer that a media session has ended.
    /// - Parameter answerer: the member who answered the offer.
    mutating func endSession(_ offer: OfferID, answeredBy answerer: MemberID, _ now: HostTime) -> [Action] {
        guard let membership, isConnected else { return [] }
        return [call(.end(offer, with: answerer), membership.host, .end, Limit.call, now)]
    }

    /// Changes what others know of this member. The change is sent once the host is reached.
    mutating func apply(_ update: MemberUpdate, _ now: HostTime) {
        if let name = update.name { configuration.name = name }
        if let isMuted = update.muted { configuration.isMuted = isMuted }
        if let isRecording = update.recording { configuration.isRecording = isRecording }
        if let allowsRecording = update.allowsRecording { configuration.allowsRecording = allowsRecording }
        if let addresses = update.reachableAddresses { configuration.addresses = addresses }
        if let older = joining?.unsent { joining?.unsent = older.followed(by: update) }
        guard let older = membership?.unsent else { return }
        membership?.unsent = older.followed(by: update)
        membership?.nextUpdate = now
    }

    /// Handles an offer that the host passed on.
    mutating func offered(_ offer: SignedDescription) -> [Action] {
        guard let membership, let maker = membership.roster[offer.offer.from], maker.id != membership.me,
            !membership.seenOffers.contains(offer.offer)
        else { return [] }
        guard isGenuine(offer, as: .offer, from: maker) else { return [.notify(.forged(from: maker))] }
        self.membership?.seenOffers = membership.seenOffers.suffix(31) + [offer.offer]
        return [.notify(.offered(offer.offer, sdp: offer.sdp, from: maker))]
    }

    /// Handles a member's answer to this guest's offer.
    mutating func answered(
        _ answer: SignedDescription, to offer: OfferID, by id: MemberID, _ now: HostTime
    ) -> [Action] {
        guard let maker = membership?.roster[id] else { return [.notify(.unanswered(offer, .noSuchMember))] }
        guard answer.offer == offer, isGenuine(answer, as: .answer, from: maker) else {
            return [.notify(.forged(from: maker)), .notify(.unanswered(offer, .offerUnanswered))]
        }
        return [.notify(.answered(offer, sdp: answer.sdp, by: maker))]
    }

    /// Returns true if a description is from this member. The host's own descriptions need no signature, because the TLS
    /// handshake has verified the host's key.
    private func isGenuine(_ description: SignedDescription, as kind: SignedContent.Kind, from maker: Member) -> Bool {
        guard let membership else { return false }
        return maker.key == membership.hostKey
            || signer.isGenuine(description, as: kind, in: membership.roster, from: maker)
    }
}
