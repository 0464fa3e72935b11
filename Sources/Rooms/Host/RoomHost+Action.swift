// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

extension RoomHost {
    /// An action for the owner of a ``RoomHost``.
    package enum Action: Hashable, Sendable {
        /// Answers a request. `RoomReply.events` opens an event stream, which stays open.
        case reply(RequestID, RoomReply)
        /// Writes bytes to an event stream. If they cannot be sent, the owner closes the stream and reports
        /// ``RoomHost/Event/connectionLost(_:)``. The owner need not buffer more than 256 KiB.
        case send([UInt8], on: RequestID)
        /// Ends an event stream after the bytes that were already written.
        case end(RequestID)
        /// Asks the user about a guest. If this id was used before, the guest has changed its request.
        case question(JoinRequestID, AskingGuest)
        /// Withdraws a question to the user, for this reason.
        case withdraw(JoinRequestID, RoomError)
        /// Passes a member's offer to the host itself, which answers by ``RoomHost/Event/answer(_:)``.
        case offered(SignedDescription)
        /// Passes on a member's answer to the host's own offer.
        case answered(SignedDescription, by: MemberID)
        /// Reports that the host's own offer was not answered.
        case unanswered(OfferID)
        /// Reports that a member ended its media session with the host.
        case ended(OfferID)
        /// Sends `GET /room` to a member that is away; an answer is reported by ``RoomHost/Event/peerDescribed(_:provedBy:)``.
        case probe(Endpoint)
        /// Continues as a ``RoomGuest`` that joins the host at this endpoint. This host has ended: it was cut off alone, and a
        /// member has taken the room over meanwhile.
        case becomeGuest(Endpoint)
        /// Stores that this key came under this name, and whether a user accepted it.
        case note(KeyFingerprint, as: PeerName, isAccepted: Bool)
        /// Stores that this key is never to be admitted.
        case block(KeyFingerprint, as: PeerName)
        /// Reports to the user.
        case notify(Notification)
    }

    /// A report for the user at the host.
    package enum Notification: Hashable, Sendable {
        /// The roster changed.
        case changed([RosterChange])
        /// A guest was refused; ``RoomError/hostDescription(about:)`` has the text. At most eight refusals are reported in 30
        /// seconds.
        case refused(RoomError, guest: String)
        /// Another part of this room is announced: the same room with another host. This host stays; a user who wants to join the
        /// other part must leave this one.
        case split(RoomInfo)
        /// The user at the host has left or closed the room.
        case closed
    }

    /// A pending question to the user.
    struct PendingJoinRequest: Sendable {
        let id: JoinRequestID
        var request: RequestID
        var ask: JoinRequestBody
        var caller: RequestOrigin
        var hostProof: [UInt8]?
        var question: AskingGuest
        var deadline: HostTime
    }

    /// The host's record of a member's connection, in addition to the member's entry in the roster.
    struct MemberConnection: Sendable {
        var address: IPAddress
        var lastHeard: HostTime
        var lastSent: HostTime
        var token: String?
        var stream: RequestID?
        var queue = EventQueue()
        var nextProbe: HostTime?
        /// Limits the member's changes of itself, because each is sent to all members.
        var changes = RateLimiter(40, inSeconds: 30)
    }

    /// A question that was put to the user, pending or not.
    struct PutQuestion: Sendable {
        let address: IPAddress
        let time: HostTime
    }

    /// A pending offer.
    struct PendingOffer: Sendable {
        let description: SignedDescription
        let to: MemberID
        /// The request to answer; nil for the host's own offer.
        let request: RequestID?
        let deadline: HostTime
    }
}
