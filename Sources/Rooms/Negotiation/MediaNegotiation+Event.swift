// SPDX-License-Identifier: Apache-2.0

extension MediaNegotiation {
    /// A fact that the owner of a ``MediaNegotiation`` reports.
    package enum Event: Hashable, Sendable {
        // The room.

        /// The host admitted the local peer, as this member. Earlier negotiations are void.
        case admitted(Roster, as: MemberID)
        /// The roster has changed, or another member hosts. The local peer is this member.
        case rosterChanged(Roster, as: MemberID)
        /// The local peer is no longer in a room.
        case left

        // Signalling.

        /// A member offers media.
        case offerReceived(OfferID, sdp: String)
        /// A member answered an offer of the local peer.
        case answerReceived(OfferID, sdp: String, by: MemberID)
        /// The room could not deliver an offer of the local peer, or it was not answered in time.
        case offerFailed(OfferID, RoomError)
        /// The remote peer ended the session of an offer, or declined the offer without an answer.
        case sessionEnded(OfferID)

        // Results of actions.

        /// The owner could not make this offer, and has told the user why.
        case offerNotMade(OfferID)
        /// The answer to this received offer was sent. The new session replaces an earlier one with the same member.
        case offerAnswered(OfferID, keepsTransport: Bool)
        /// The owner could not accept this received offer. It has declined the offer and told the user why.
        case offerRejected(OfferID, keepsTransport: Bool)
        /// The answer to this local offer was applied. The new session replaces an earlier one with the same member.
        case answerApplied(OfferID, keepsTransport: Bool)
        /// The answer to this local offer cannot be used. The owner has told the user why.
        case answerRejected(OfferID)

        // Transports.

        /// The transport to the member is open: media can flow both ways.
        case transportOpened(MemberID)
        /// The member's transport has failed, or the remote peer has closed it.
        case transportEnded(MemberID)

        // The user and the clock.

        /// The local peer's media has changed: the member needs a new offer.
        case renegotiate(MemberID)
        /// ``MediaNegotiation/nextDeadline`` has come.
        case tick
    }
}
