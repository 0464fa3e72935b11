// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

extension RoomGuest {
    /// An action for the owner of a ``RoomGuest``.
    package enum Action: Hashable, Sendable {
        /// Sends a request to another peer. Its result is ``RoomGuest/Event/replied(_:_:provedBy:from:)`` or
        /// ``RoomGuest/Event/callFailed(_:_:)``; the items of an event stream are ``RoomGuest/Event/itemReceived(_:on:)``, its
        /// end is `callFailed`.
        case call(CallID, RoomRequest, Endpoint)
        /// Cancels a request and closes its connection. No event may follow for it.
        case cancel(CallID)
        /// Answers another peer's request.
        case reply(RequestID, RoomReply)
        /// Derives the ``PINKey`` from the PIN that the user has given, or asks for one. The result is
        /// ``RoomGuest/Event/pinKeyDerived(_:)``.
        case needPIN(RoomID, host: KeyFingerprint)
        /// Stores that the user chose to join the host with this key, under this name.
        case note(KeyFingerprint, as: PeerName)
        /// Continues as a ``RoomHost``; this guest has ended.
        case becomeHost(HostHandover)
        /// Reports to the user, or to the media layer.
        case notify(Notification)
    }

    /// An event of a guest.
    package enum Notification: Hashable, Sendable {
        /// The room was found, and the guest has asked to be admitted.
        case asking(RoomInfo)
        /// The guest was admitted as this member.
        case admitted(Roster, as: MemberID)
        /// The roster changed.
        case changed([RosterChange])
        /// Another member offers media; ``RoomGuest/Event/answer(sdp:_:)`` answers.
        case offered(OfferID, sdp: String, from: Member)
        /// A member answered this guest's offer.
        case answered(OfferID, sdp: String, by: Member)
        /// An offer of this guest failed.
        case unanswered(OfferID, RoomError)
        /// The other side ended a media session.
        case ended(OfferID)
        /// A description that the host passed on from this member has no valid signature. It was not used.
        case forged(from: Member)
        /// The host is silent or gone; the guest looks for it.
        case reconnecting
        /// The host was found again.
        case reconnected
        /// Another member is the host now.
        case handedOver(to: Member)
        /// The new host does not know this guest, which asks again to be admitted.
        case askingAgain(Member)
        /// Another part of this room is announced: the same room with another host. The guest stays where it is.
        case split(RoomInfo)
        /// The last notification.
        case over(RoomEnding)
    }

    /// A pending request.
    struct Call: Sendable {
        enum Purpose: Hashable, Sendable {
            case describe
            case ask
            /// An event stream, of the host or of the member to follow.
            case stream
            case update
            case leave
            /// A question to another member about the room, while the guest looks for its host.
            case probe(MemberID)
            case offer(OfferID, MemberID)
            case answer(OfferID)
            case end
        }

        let purpose: Purpose
        let deadline: HostTime
    }

    /// A guest that is not admitted yet.
    struct Joining: Sendable {
        var endpoint: Endpoint
        var info: RoomInfo?
        var hostKey: KeyFingerprint?
        var pinKey: PINKey?
        var waitsForPIN = false
        /// The proof that the host must give, if this guest proved that it knows the PIN.
        var expectedProof: [UInt8]?
        /// The changes since the guest asked, which the host does not know.
        var unsent = MemberUpdate()
    }

    /// An admitted guest.
    struct Membership: Sendable {
        let me: MemberID
        var roster: Roster {
            didSet { lastMember = max(lastMember, roster.members.last?.id ?? me) }
        }
        /// The greatest member number so far.
        var lastMember: MemberID
        var host: Endpoint
        var hostKey: KeyFingerprint
        let needsPIN: Bool
        var lastHeard: HostTime
        var stream: CallID?
        /// The time of the event stream's last data, while it is open.
        var lastStreamed: HostTime?
        /// True if the roster is known to be this host's: a description is not signed for one of another epoch.
        var isInStep = false
        var lastEvent: EventID?
        var nextStream: HostTime
        var streamDelay = 0.1
        var update: CallID?
        var nextUpdate: HostTime
        /// The changes of this member to send to the host, and those being sent.
        var unsent = MemberUpdate()
        var sending = MemberUpdate()
        var isBehind = false
        var seenOffers: [OfferID] = []

        /// Returns a failed update to those to be sent.
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
        /// True if the host said that it leaves.
        var hasHostLeft: Bool
        /// True if the host's address does not answer, or another peer does.
        var isHostGone: Bool
        /// The member whose event stream is being opened.
        var target: MemberID?
        var nextRound: HostTime
        var delay = 0.25
        var answers: [MemberID: Answer] = [:]
    }
}
