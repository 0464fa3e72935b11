// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

extension RoomGuest {
    /// An action for the owner of a ``RoomGuest``.
    package enum Action: Hashable, Sendable {
        /// Sends a request to another peer. The result is ``RoomGuest/Event/replied(_:_:provedBy:from:)`` or
        /// ``RoomGuest/Event/callFailed(_:_:)``. The items of an event stream are ``RoomGuest/Event/itemReceived(_:on:)``; its
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

    /// A report for the guest's user, or for the media layer.
    package enum Notification: Hashable, Sendable {
        /// The room was found, and the guest has asked to be admitted.
        case asking(RoomInfo)
        /// The guest was admitted as this member.
        case admitted(Roster, as: MemberID)
        /// The roster changed.
        case changed([RosterChange])
        /// Another member offers media. The owner answers by ``RoomGuest/Event/answer(sdp:_:)``.
        case offered(OfferID, sdp: String, from: Member)
        /// A member answered this guest's offer.
        case answered(OfferID, sdp: String, by: Member)
        /// An offer of this guest failed.
        case unanswered(OfferID, RoomError)
        /// The remote peer ended the media session of this offer.
        case ended(OfferID)
        /// A description that the host passed on from this member has no valid signature. It was not used.
        case forged(from: Member)
        /// The host is silent, its process has ended, or it has left; the guest looks for a host of the room.
        case reconnecting
        /// The guest hears the same host again.
        case reconnected
        /// Another member is the host now.
        case handedOver(to: Member)
        /// This member is the new host and does not know the guest, which asks again to be admitted.
        case askingAgain(Member)
        /// Another part of this room is announced: the same room with another host. The guest stays where it is.
        case split(RoomInfo)
        /// The guest's stay has ended, for this reason. No notification follows.
        case over(RoomEnding)
    }

    /// A pending request to another peer.
    struct Call: Sendable {
        enum Purpose: Hashable, Sendable {
            case describe
            case ask
            /// The event stream of the host, or of the member that the guest may follow as the new host.
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

    /// The state of a guest that is not admitted yet.
    struct Joining: Sendable {
        var endpoint: Endpoint
        var info: RoomInfo?
        var hostKey: KeyFingerprint?
        var pinKey: PINKey?
        var waitsForPIN = false
        /// The proof of the PIN that the host must give; nil if this guest has given none itself.
        var expectedProof: [UInt8]?
        /// The guest's changes of itself since it asked to be admitted; the host does not know them yet.
        var unsent = MemberUpdate()
    }

    /// The state of an admitted guest.
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
        /// The time of the event stream's last data; nil unless the stream is open.
        var lastStreamed: HostTime?
        /// True if the local roster is known to be the present host's. Before that, no offer is made, because its signature
        /// contains the epoch.
        var isInStep = false
        var lastEvent: EventID?
        var nextStream: HostTime
        /// The seconds until the event stream is opened again after a failure.
        var streamDelay = 0.1
        var update: CallID?
        var nextUpdate: HostTime
        /// The guest's changes of itself that the host has not been sent (`unsent`), and those in a pending request (`sending`).
        var unsent = MemberUpdate()
        var sending = MemberUpdate()
        /// The earliest time of the next withdrawal of a wrong consent; nil for any time.
        var nextWithdrawal: HostTime?
        /// True if the host seems to have a later roster: its last status had one, or an event's number was skipped.
        var isBehind = false
        var seenOffers: [OfferID] = []

        /// Handles a failed update: its changes are sent again after half a second.
        mutating func updateFailed(_ now: HostTime) {
            update = nil
            nextUpdate = now.advanced(bySeconds: 0.5)
            unsent = sending.followed(by: unsent)
            sending = MemberUpdate()
        }
    }

    /// The state of an admitted guest that looks for its host.
    struct Seeking: Sendable {
        struct Answer: Sendable {
            let time: HostTime
            let info: RoomInfo
        }

        let since: HostTime
        /// True if the host announced that it leaves, or answered that it is no host.
        var hasHostLeft: Bool
        /// True if no program listens at the host's address, or another peer answers there.
        var isHostGone: Bool
        /// The member whose event stream is being opened; nil if there is none.
        var target: MemberID?
        var nextRound: HostTime
        /// The seconds from the next round of questions to the round after it.
        var delay = 0.25
        var answers: [MemberID: Answer] = [:]
    }
}
