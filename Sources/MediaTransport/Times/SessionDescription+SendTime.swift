// SPDX-License-Identifier: Apache-2.0

extension SessionDescription {
    /// Adds send times to an offer.
    package mutating func offerSendTime() { sendTimeID = SendTimeExtension.identifiers.lowerBound }

    /// Adds the offer's send times to an answer, with the offer's identifier (RFC 8285 §6).
    package mutating func answerSendTime(to offer: SessionDescription) {
        if offer.profile.hasFeedback { sendTimeID = offer.sendTimeID }
    }

    /// Returns the identifier of send times that both descriptions have; nil if packets have none.
    package static func sendTimeID(mine: SessionDescription, theirs: SessionDescription) -> UInt8? {
        guard theirs.profile.hasFeedback, mine.sendTimeID == theirs.sendTimeID else { return nil }
        return mine.sendTimeID
    }
}
