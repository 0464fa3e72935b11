// SPDX-License-Identifier: Apache-2.0

extension SessionDescription {
    /// Adds to an offer that packets may have a send time.
    package mutating func offerSendTime() { sendTimeID = SendTimeExtension.identifiers.lowerBound }

    /// Adds to an answer the send times of the offer, with the offer's identifier (RFC 8285 §6).
    package mutating func answerSendTime(to offer: SessionDescription) {
        if offer.profile.hasFeedback { sendTimeID = offer.sendTimeID }
    }

    /// Returns the identifier of send times that both descriptions have; nil if packets have none.
    package static func sendTimeID(mine: SessionDescription, theirs: SessionDescription) -> UInt8? {
        guard theirs.profile.hasFeedback, mine.sendTimeID == theirs.sendTimeID else { return nil }
        return mine.sendTimeID
    }
}
