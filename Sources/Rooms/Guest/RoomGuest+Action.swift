// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

extension RoomGuest {
    /// An action for the owner of a ``RoomGuest``.
    package enum Action: Hashable, Sendable {
        /// Makes a request of another peer. Its end is told by ``RoomGuest/replied(_:_:provedBy:from:at:)`` or
        /// ``RoomGuest/failed(_:_:at:)``; an event stream's events by ``RoomGuest/received(_:on:at:)``, its end by the latter.
        case call(CallID, RoomRequest, Endpoint)
        /// Gives a request up and closes its connection. Nothing more is to be told of it.
        case cancel(CallID)
        /// Answers another peer's request.
        case reply(RequestID, RoomReply)
        /// Derives the ``PINKey`` from the PIN that the person has given, or asks for it, and hands it to
        /// ``RoomGuest/provide(_:at:)``.
        case needPIN(RoomID, host: KeyFingerprint)
        /// Writes down that this key came, under this name, and that the person went to it on purpose.
        case note(KeyFingerprint, as: PeerName)
        /// Goes on as a ``RoomHost``; this guest is over.
        case becomeHost(HostHandover)
        /// Reports to the user, or to the media layer.
        case tell(Notification)
    }

    /// An event of a guest.
    package enum Notification: Hashable, Sendable {
        /// There is a room, and this is asking to be let in.
        case asking(RoomInfo)
        /// The guest was admitted as this member.
        case admitted(Roster, as: MemberID)
        /// The roster changed.
        case changed([RosterChange])
        /// Another member offers media; ``RoomGuest/answer(_:to:at:)`` answers.
        case offered(OfferID, sdp: String, from: Member)
        /// A member has answered this guest's offer.
        case answered(OfferID, sdp: String, by: Member)
        /// An offer of this guest came to nothing.
        case unanswered(OfferID, RoomError)
        /// The other side has ended a media session.
        case ended(OfferID)
        /// A description that the host passed on as this member's was not signed by it. It was not used.
        case forged(from: Member)
        /// The host is silent, or gone; it is looked for.
        case reconnecting
        /// The host is there again.
        case reconnected
        /// Another member is the host now.
        case handedOver(to: Member)
        /// The new host does not know this member, which asks again to be let in.
        case askingAgain(Member)
        /// Another part of this room is announced: same room, another host. The guest stays where it is.
        case split(RoomInfo)
        /// The last event.
        case over(RoomEnding)
    }

    /// A request that is under way.
    struct Call: Sendable {
        enum Purpose: Hashable, Sendable {
            case describe
            case ask
            /// An event stream, of the host or of whom we follow.
            case stream
            case update
            case leave
            /// A request of another member's knowledge, while the host is looked for.
            case probe(MemberID)
            case offer(OfferID, MemberID)
            case answer(OfferID)
            case end
        }

        let purpose: Purpose
        let deadline: HostTime
    }

    /// A guest on its way in.
    struct Joining: Sendable {
        var endpoint: Endpoint
        var info: RoomInfo?
        var hostKey: KeyFingerprint?
        var pinKey: PINKey?
        var waitsForPIN = false
        /// The proof that the host must give, if we proved that we know the PIN.
        var expectedProof: [UInt8]?
        /// Changes since the guest asked, of which the host does not know.
        var unsent = MemberUpdate()
    }

    /// A guest that is in.
    struct Membership: Sendable {
        let me: MemberID
        var roster: Roster {
            didSet { lastMember = max(lastMember, roster.members.last?.id ?? me) }
        }
        /// The greatest number that a member had.
        var lastMember: MemberID
        var host: Endpoint
        var hostKey: KeyFingerprint
        let needsPIN: Bool
        var lastHeard: HostTime
        var stream: CallID?
        /// The time of the event stream's last data, while it is open.
        var lastStreamed: HostTime?
        /// True if the roster is this host's, as far as we know: one from another epoch is nothing to sign for.
        var isInStep = false
        var lastEvent: EventID?
        var nextStream: HostTime
        var streamDelay = 0.1
        var update: CallID?
        var nextUpdate: HostTime
        /// The changes of this member to send to the host, and those under way.
        var unsent = MemberUpdate()
        var sending = MemberUpdate()
        var isBehind = false
        var seenOffers: [OfferID] = []

        /// Puts a failed update back to be sent again.
        mutating func updateFailed(_ now: HostTime) {
            update = nil
            nextUpdate = now.advanced(bySeconds: 0.5)
            unsent = sending.followed(by: unsent)
            sending = MemberUpdate()
        }
    }

    /// A member whose host is silent or gone.
    struct Seeking: Sendable {
        struct Answer: Sendable {
            let time: HostTime
            let info: RoomInfo
        }

        let since: HostTime
        /// The host said that it leaves.
        var hasHostLeft: Bool
        /// The host's address does not answer, or another peer does.
        var isHostGone: Bool
        /// The member whose event stream is being opened.
        var target: MemberID?
        var nextRound: HostTime
        var delay = 0.25
        var answers: [MemberID: Answer] = [:]
    }
}
