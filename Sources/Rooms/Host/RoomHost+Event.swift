// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

extension RoomHost {
    /// A fact that the owner of a ``RoomHost`` reports, or an order of the user.
    package enum Event: Sendable {
        // The network.

        /// A request arrived. The reply must name the same id, which is in use until the reply, or until the event stream has
        /// ended. `from` is the sender as the connection identifies it.
        case requestReceived(RoomRequest, RequestID, from: RequestOrigin)
        /// The connection of a request is lost: the request is withdrawn, or the event stream interrupted.
        case connectionLost(RequestID)
        /// A member was heard other than by a request, because its media transport is open.
        case memberHeard(MemberID)
        /// A peer described its room: a member that was away, or a discovered peer. The TLS handshake has verified the peer's
        /// key.
        ///
        /// If this host was cut off alone, it returns to the other part of the room as a guest. If both parts have members, the
        /// users decide.
        case peerDescribed(RoomInfo, provedBy: KeyFingerprint)

        // The user.

        /// The user decided on a guest. Ignored if the guest has stopped waiting.
        case decide(JoinRequestID, isWelcome: Bool)
        /// Declines a guest and blocks its key, or a browser's address.
        case blockGuest(JoinRequestID)
        /// Removes a member, who may ask again.
        case remove(MemberID)
        /// Removes a member and blocks it: its key until the user unblocks it, a browser's address while the room is open.
        case block(MemberID)
        /// Sets whom to admit. Waiting guests keep waiting.
        case setPolicy(AdmissionPolicy)
        /// Changes what members know of the host.
        case update(MemberUpdate)
        /// Leaves the room. The native member that joined first and is not away takes over; if there is none, the room ends.
        case leave
        /// Ends the room for all.
        case close

        // The host's own media.

        /// Offers the host's media to a member. The result is ``RoomHost/Action/answered(_:by:)`` or
        /// ``RoomHost/Action/unanswered(_:)``. The description must be the host's own.
        case offer(SignedDescription, to: MemberID)
        /// Answers an offer to the host.
        case answer(SignedDescription)
        /// Tells a member that its media session with the host has ended.
        case endSession(OfferID, with: MemberID)

        // The clock.

        /// ``RoomHost/nextDeadline`` has come.
        case tick
    }

    /// Handles an event and does what is due. Returns the actions in the order of execution.
    /// - Parameter time: not before that of the last event.
    package mutating func handle(_ event: Event, at time: HostTime) -> [Action] {
        // The clock stops while the machine sleeps.
        let now = clock.time(at: time, due: due)
        guard !isClosed else {
            guard case .requestReceived(_, let id, _) = event else { return [] }
            return [.reply(id, .refused(hasSuccessor ? .notHost : .closed))]
        }
        if case .memberHeard(let member) = event {
            // The sign of life is handled before the deadlines, because it ends a silence.
            return hear(member, now) + expire(now)
        }
        return expire(now) + execute(event, now)
    }

    private mutating func execute(_ event: Event, _ now: HostTime) -> [Action] {
        switch event {
        case .requestReceived(let request, let id, let caller): return respond(to: request, id, caller, now)
        case .connectionLost(let id): return loseConnection(id)
        case .peerDescribed(let info, let key): return compare(info, provedBy: key, now)
        case .decide(let id, let isWelcome): return decide(id, isWelcome: isWelcome, now)
        case .blockGuest(let id): return block(id)
        case .remove(let id): return expel(id, isBlocked: false, now)
        case .block(let id): return expel(id, isBlocked: true, now)
        case .setPolicy(let policy):
            self.policy = policy
            return []
        case .update(let update): return apply(update, now)
        case .leave: return end(next: roster.successors.first { !$0.isAway }?.id, now) + [.notify(.closed)]
        case .close: return end(next: nil, now) + [.notify(.closed)]
        case .offer(let description, let id): return offer(description, to: id, now)
        case .answer(let description): return answer(description)
        case .endSession(let offer, let member): return deliver(.ended(offer), to: member, now)
        case .memberHeard, .tick: return []
        }
    }
}
