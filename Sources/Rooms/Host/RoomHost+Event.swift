// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

extension RoomHost {
    /// A fact that the owner of a ``RoomHost`` reports, or an order of the user.
    package enum Event: Sendable {
        // The network.

        /// A request arrived. The reply has the same number, which is in use until then, or while the event stream is open.
        /// `from` has what the connection has verified.
        case requestReceived(RoomRequest, RequestID, from: RequestOrigin)
        /// The connection of a request is lost: the request is withdrawn, or the event stream interrupted.
        case connectionLost(RequestID)
        /// A member was heard by something other than a request: its media, or its consent.
        case memberHeard(MemberID)
        /// A peer described its room: a member that was away, or a discovered peer. It has verified the key.
        ///
        /// A host that was cut off alone returns as a guest; if both parts have members, the users decide.
        case peerDescribed(RoomInfo, provedBy: KeyFingerprint)

        // The user.

        /// The user decided on a guest. Ignored if the guest has stopped waiting.
        case decide(JoinRequestID, isWelcome: Bool)
        /// Declines a guest and blocks its key.
        case blockGuest(JoinRequestID)
        /// Removes a member, who may ask again.
        case remove(MemberID)
        /// Removes a member and blocks it: its key for ever, a browser's address while the room is open.
        case block(MemberID)
        /// Sets whom to admit. Waiting guests keep waiting.
        case setPolicy(AdmissionPolicy)
        /// Changes what members know of the host.
        case update(MemberUpdate)
        /// Leaves the room. The longest member takes over; without one the room ends.
        case leave
        /// Ends the room for all.
        case close

        // The host's own media.

        /// Offers media to a member. The answer is an action. The description must be the host's own.
        case offer(SignedDescription, to: MemberID)
        /// Answers an offer to the host.
        case answer(SignedDescription)
        /// Ends a media session.
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
            // The sign of life first, because it ends a silence.
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
