// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms

/// An event of a ``NearbySession``.
public enum NearbyEvent: Sendable {
    /// A guest requests to join; answer by ``NearbySession/decide(_:isWelcome:)``. The same number again: the guest repeats its
    /// request.
    case question(JoinRequestID, AskingGuest)
    /// The question is no longer open.
    case withdrawn(JoinRequestID, RoomError)
    /// A guest was turned away; `RoomError.hostDescription(about:)` has the words.
    case refused(RoomError, guest: String)

    /// There is a room, and this is asking to be let in.
    case asking(RoomInfo)
    /// The room wants a PIN: ``NearbySession/provide(_:)`` goes on, ``NearbySession/leave()`` gives up.
    case pinNeeded
    /// The session is in the room as this member: an admitted guest, or the host of a new room.
    case joined(Roster, as: MemberID)
    /// The roster changed; there is at least one change.
    case changed([RosterChange], Roster)
    /// The host is silent, or gone; it is looked for. Media between the others goes on.
    case reconnecting
    /// The host is there again.
    case reconnected
    /// Another member is the host now.
    case handedOver(to: Member)
    /// This session admits now.
    case becameHost(Roster)
    /// The new host does not know this member, which asks again to be let in.
    case askingAgain(Member)
    /// Another part of this room is announced, with another host. The session stays where it is.
    case split(RoomInfo)
    /// A description that the host passed on as this member's was not signed by it, and was not used.
    case forged(Member)

    /// The way of media to a member stands otherwise now.
    case transport(Member, TransportState)
    /// Signalling works, and for two seconds no media has come from this member. Told once for each time.
    case noMedia(Member)
    /// Media with a member was not agreed on: a `NegotiationFault`, or an error of the parser, the negotiation or the media. It
    /// is tried again, unless the other side has ended it.
    case disagreed(Member, any Error)

    /// The state of the room's announcement.
    case discovery(RoomAdvertiser.State)
    /// A file of the store could not be written; it goes on without.
    case store(NearbyStoreError)

    /// The last event, until it hosts or joins again.
    case ended(RoomEnding)
}
