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

        /// There is no media to offer. The owner has told the user why.
        case offerNotMade(OfferID)
        /// An answer was sent. The session replaces an earlier one.
        case offerAnswered(OfferID, keepsTransport: Bool)
        /// A received offer cannot be accepted. The owner has told the remote peer and the user why.
        case offerRejected(OfferID, keepsTransport: Bool)
        /// A received answer was applied. The session replaces an earlier one.
        case answerApplied(OfferID, keepsTransport: Bool)
        /// A received answer cannot be used. The owner has told the user why.
        case answerRejected(OfferID)

        // Transports.

        /// Media flows to and from the member.
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
