// SPDX-License-Identifier: Apache-2.0

extension MediaNegotiation {
    /// An order to the owner of a ``MediaNegotiation``. Orders are to be executed one after another, before the next event is
    /// handled.
    package enum Action: Hashable, Sendable {
        /// Makes an offer and sends it through the room. The result is ``Event/offerNotMade(_:)``, or what the room reports.
        ///
        /// With `keepsTransport` the running session continues until the answer, which may change its media; otherwise the offer
        /// has a new transport.
        case makeOffer(OfferID, to: Member, keepsTransport: Bool)
        /// Answers an offer. The result is ``Event/offerAnswered(_:keepsTransport:)`` or
        /// ``Event/offerRejected(_:keepsTransport:)``.
        case answer(OfferID, sdp: String, from: Member)
        /// Applies the answer to a local offer. The result is ``Event/answerApplied(_:keepsTransport:)`` or
        /// ``Event/answerRejected(_:)``.
        case apply(OfferID, sdp: String, from: Member)
        /// Adds the member's new addresses to its transport, if there is one.
        case addCandidates(of: Member)
        /// Closes the member's transport, if there is one, and ends its media.
        case closeTransport(of: MemberID)
        /// Closes the transport of a member that has left, and forgets the member.
        case forget(MemberID)
        /// Tells the user that the member declined the offer.
        case reportRefusal(Member)
        /// Tells the user that the transport to the member did not open within ``Limit/firstMedia`` seconds after the exchange of
        /// descriptions.
        case reportMissingMedia(Member)
    }
}
