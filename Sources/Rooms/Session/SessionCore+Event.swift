// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

extension SessionCore {
    /// A fact for one of the cores. A fact for a role that the local peer does not have is ignored.
    package enum Event: Sendable {
        case host(RoomHost.Event)
        case guest(RoomGuest.Event)
        case media(MediaNegotiation.Event)
    }

    /// An order to the owner. Orders are executed in sequence.
    package enum Action: Sendable {
        // Requests of other peers.

        /// Answers a request. `RoomReply.events` opens an event stream, which stays open.
        case reply(RequestID, RoomReply)
        /// Writes bytes to an event stream.
        case send([UInt8], on: RequestID)
        /// Ends an event stream after the bytes that were already written.
        case end(RequestID)

        // Requests of the local peer.

        /// Sends a request to another peer. The result is an event for the guest.
        case call(CallID, RoomRequest, Endpoint)
        /// Cancels a request. No event may follow for it.
        case cancel(CallID)
        /// Asks a peer to describe its room. The answer is an event for the host and an event for the guest.
        case probe(Endpoint)
        /// Derives the PIN's key for this room and host, or asks the user for the PIN.
        case needPIN(RoomID, host: KeyFingerprint)

        // The room.

        /// The local peer was admitted: transfers begin, and other parts of the room are searched.
        case entered(Roster, as: MemberID)
        /// The local peer has taken over the room.
        case becameHost(Roster)
        /// The local peer has stopped hosting, and asks the new host of the room to be admitted.
        case becomesGuest
        /// The host's roster has changed, and with it the announcement of the room.
        case announce
        /// Ends the transfers with this member, because the member or the local peer has left the room.
        case forget(MemberID)
        /// The local peer has left the room.
        case left

        // Known peers.

        /// Stores that this key came under this name, and whether a user accepted it.
        case note(KeyFingerprint, as: PeerName, isAccepted: Bool)
        /// Stores that this key is never to be admitted.
        case block(KeyFingerprint, as: PeerName)

        // The user.

        /// Asks the user at the host about a guest.
        case question(JoinRequestID, AskingGuest)
        /// Withdraws a question to the user, for this reason.
        case withdraw(JoinRequestID, RoomError)
        /// Reports to the host's user.
        case hostNotification(RoomHost.Notification, Roster)
        /// Reports to the guest's user. The roster is nil while the guest is not in a room.
        case guestNotification(RoomGuest.Notification, Roster?)
        /// The transport to a member has changed its state.
        case transport(Member, TransportState)
        /// The transport to this member did not open within ``MediaNegotiation/Limit/firstMedia`` seconds after the exchange of
        /// descriptions.
        case noMedia(Member)
        /// The negotiation of media with a member failed.
        case negotiationFailed(Member, any Error)
        /// The guest's stay has ended, for this reason. This action follows ``left``.
        case ended(RoomEnding)
    }
}
