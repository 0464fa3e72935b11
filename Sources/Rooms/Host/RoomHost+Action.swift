// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

extension RoomHost {
    /// An action for the owner of a ``RoomHost``.
    package enum Action: Hashable, Sendable {
        /// Answers a request. `RoomReply.events` leaves it open.
        case reply(RequestID, RoomReply)
        /// Writes bytes to an event stream. If they cannot go out the owner gives the stream up and says so by
        /// ``RoomHost/Event/connectionLost(_:)``; it need not keep more than 256 KiB for one.
        case send([UInt8], on: RequestID)
        /// Ends an event stream, after what was written.
        case end(RequestID)
        /// Asks the person. The same number again: the guest has changed what it asks.
        case question(JoinRequestID, AskingGuest)
        /// Asks the person no longer.
        case withdraw(JoinRequestID, RoomError)
        /// A member offers media to the host itself, which answers by ``RoomHost/Event/answer(_:)``.
        case offered(SignedDescription)
        /// A member has answered the host's own offer.
        case answered(SignedDescription, by: MemberID)
        /// The host's own offer got no answer.
        case unanswered(OfferID)
        /// A member has ended its media session with the host.
        case ended(OfferID)
        /// Sees whether a member that is away answers `GET /room`; if so, ``RoomHost/Event/peerDescribed(_:provedBy:)``.
        case probe(Endpoint)
        /// Continues as a ``RoomGuest`` that joins there; this host ends. It was cut off alone, and a member has taken the room
        /// over meanwhile.
        case becomeGuest(Endpoint)
        /// Writes down that this key came, under this name, and whether a person said yes to it.
        case note(KeyFingerprint, as: PeerName, isAccepted: Bool)
        /// Writes down that this key is never to be let in.
        case block(KeyFingerprint, as: PeerName)
        /// Reports to the user.
        case tell(Notification)
    }

    /// An event for the person at the host.
    package enum Notification: Hashable, Sendable {
        /// The roster changed.
        case changed([RosterChange])
        /// A guest was turned away; ``RoomError/hostDescription(about:)`` has the words. At most eight in half a minute.
        case refused(RoomError, guest: String)
        /// Another part of this room is announced: same room, another host. The host stays here; to join that part, leave this one.
        case split(RoomInfo)
        /// The room has ended here.
        case closed
    }

    /// A question that is open.
    struct PendingJoinRequest: Sendable {
        let id: JoinRequestID
        var request: RequestID
        var ask: JoinRequestBody
        var caller: RequestOrigin
        var hostProof: [UInt8]?
        var question: AskingGuest
        var deadline: HostTime
    }

    /// The host's state of a member besides the roster's.
    struct Attendance: Sendable {
        var address: IPAddress
        var lastHeard: HostTime
        var lastSent: HostTime
        var token: String?
        var stream: RequestID?
        var queue = EventQueue()
        var nextProbe: HostTime?
        /// The limit of its changes, which all are told.
        var changes = RateLimiter(40, inSeconds: 30)
    }

    /// A question that was put to the person, whatever has become of it.
    struct PutQuestion: Sendable {
        let address: IPAddress
        let time: HostTime
    }

    /// An offer on its way.
    struct PendingOffer: Sendable {
        let description: SignedDescription
        let to: MemberID
        /// Nil for the host's own.
        let request: RequestID?
        let deadline: HostTime
    }
}
