// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

extension SessionCore {
    /// A fact for one of the cores. Facts for a host are dropped if the local peer is none, as are those for a guest.
    package enum Event: Sendable {
        case host(RoomHost.Event)
        case guest(RoomGuest.Event)
        case media(MediaNegotiation.Event)
    }

    /// An order to the owner. Orders are executed in their sequence.
    package enum Action: Sendable {
        // Requests of other peers.

        /// Answers a request. `RoomReply.events` leaves it open.
        case reply(RequestID, RoomReply)
        /// Writes bytes to an event stream.
        case send([UInt8], on: RequestID)
        /// Ends an event stream after the bytes that were written.
        case end(RequestID)

        // Requests of the local peer.

        /// Makes a request. Its result is an event for the guest.
        case call(CallID, RoomRequest, Endpoint)
        /// Gives a request up. Nothing more is told of it.
        case cancel(CallID)
        /// Asks a peer to describe its room. Both roles are told of an answer.
        case probe(Endpoint)
        /// Derives the PIN's key for this room and host.
        case needPIN(RoomID, host: KeyFingerprint)

        // The room.

        /// A guest was admitted: transfers begin, and other parts of the room are looked for.
        case entered(Roster, as: MemberID)
        /// The local peer has taken the room over.
        case becameHost(Roster)
        /// The local peer hosts no more, and asks another host to be admitted.
        case becomesGuest
        /// The host's roster has changed, and with it the announcement of the room.
        case announce
        /// A member has left: its transfers end.
        case forget(MemberID)
        /// The stay in the room is over.
        case left

        // Known peers.

        /// Stores that this key came under this name, and whether a person accepted it.
        case note(KeyFingerprint, as: PeerName, isAccepted: Bool)
        /// Stores that this key is never to be admitted.
        case block(KeyFingerprint, as: PeerName)

        // The user.

        /// Asks the person at the host.
        case question(JoinRequestID, AskingGuest)
        /// Asks the person no longer.
        case withdraw(JoinRequestID, RoomError)
        /// Reports to the host's user.
        case hostNotification(RoomHost.Notification, Roster)
        /// Reports to the guest's user. The roster is nil while the guest is in no room.
        case guestNotification(RoomGuest.Notification, Roster?)
        /// The transport to a member has another state.
        case transport(Member, TransportState)
        /// No media came from this member within ``MediaNegotiation/Limit/firstMedia`` seconds.
        case noMedia(Member)
        /// Media with a member was not agreed on.
        case disagreed(Member, any Error)
        /// The stay of a guest is over. Comes after ``left``.
        case ended(RoomEnding)
    }
}
