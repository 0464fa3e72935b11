// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms

/// An event of a ``NearbySession``.
public enum NearbyEvent: Sendable {
    /// A guest asks to join; ``NearbySession/decide(_:isWelcome:)`` answers. If the number was used before, the guest repeats its
    /// request.
    case question(JoinRequestID, AskingGuest)
    /// The guest has stopped waiting for an answer.
    case withdrawn(JoinRequestID, RoomError)
    /// A guest was refused; `RoomError.hostDescription(about:)` has the text.
    case refused(RoomError, guest: String)

    /// The room was found, and this guest has asked to be admitted.
    case asking(RoomInfo)
    /// The room needs a PIN: ``NearbySession/provide(_:)`` continues, ``NearbySession/leave()`` cancels.
    case pinNeeded
    /// The session is in the room as this member: an admitted guest, or the host of a new room.
    case joined(Roster, as: MemberID)
    /// The roster changed; there is at least one change.
    case changed([RosterChange], Roster)
    /// The host is silent or gone; the session looks for it. Media with other members continues.
    case reconnecting
    /// The host was found again.
    case reconnected
    /// Another member is the host now.
    case handedOver(to: Member)
    /// This session is the host now.
    case becameHost(Roster)
    /// This member is the new host and does not know the local member, which asks again to be admitted.
    case askingAgain(Member)
    /// Another part of this room is announced, with another host. The session stays where it is.
    case split(RoomInfo)
    /// A description that the host passed on from this member has no valid signature. It was not used.
    case forged(Member)

    /// The state of a member's media transport has changed.
    case transport(Member, TransportState)
    /// The descriptions were exchanged, but the media transport did not open within two seconds. Sent once until it opens.
    case noMedia(Member)
    /// The negotiation of media with a member failed: a `NegotiationFault`, or an error of the parser, the negotiation or the
    /// media. The negotiation is tried again, unless the remote peer has ended it.
    case negotiationFailed(Member, any Error)

    /// The state of the room's announcement.
    case discovery(RoomAdvertiser.State)
    /// A file of the store could not be written; the session continues.
    case store(NearbyStoreError)

    /// The session is no longer in the room, or could not join it. This is the last event until the session hosts or joins again.
    case ended(RoomEnding)
}
