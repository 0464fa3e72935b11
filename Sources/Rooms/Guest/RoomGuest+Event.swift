// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

extension RoomGuest {
    /// A fact that the owner of a ``RoomGuest`` reports, or an order of the user.
    package enum Event: Sendable {
        // The network.

        /// A request was answered by a peer with this verified key at this address.
        case replied(CallID, RoomReply, provedBy: KeyFingerprint, from: SocketAddress)
        /// A request to a peer failed, or its event stream ended.
        case callFailed(CallID, RequestFailure)
        /// An item arrived on an event stream.
        case itemReceived(EventStreamParser.Item, on: CallID)
        /// Another peer sent a request. A guest describes its room and admits nobody.
        case requestReceived(RoomRequest, RequestID)
        /// A discovered peer at this address described its room. The TLS handshake has verified the peer's key.
        case peerDescribed(RoomInfo, provedBy: KeyFingerprint, from: SocketAddress)
        /// The media of the host with this key arrives from this address.
        case hostLocated(KeyFingerprint, at: SocketAddress)

        // The user.

        /// Starts by calling the host. The guest must not have started before.
        case join(Endpoint)
        /// The PIN's key was derived. The guest fetches a new nonce, then asks to be admitted.
        case pinKeyDerived(PINKey)
        /// Changes what others know of this member. The change is sent as soon as the host is reached.
        case update(MemberUpdate)
        /// Leaves the room, or cancels the request to join.
        case leave

        // The guest's own media.

        /// Offers media to a member. The answer, or the reason of a failure, is a notification.
        case offer(sdp: String, OfferID, to: MemberID)
        /// Answers an offer.
        case answer(sdp: String, OfferID)
        /// Tells the remote peer that a media session has ended. `answeredBy` is the member who answered the offer.
        case endSession(OfferID, answeredBy: MemberID)

        // The clock.

        /// ``RoomGuest/nextDeadline`` has come.
        case tick
    }

    /// Handles an event and does what is due. Returns the actions in the order of execution.
    /// - Parameter time: not before that of the last event.
    package mutating func handle(_ event: Event, at time: HostTime) -> [Action] {
        // The clock stops while the machine sleeps.
        let now = clock.time(at: time, due: due)
        switch event {
        case .requestReceived, .pinKeyDerived: return expire(now) + execute(event, now)
        case .join, .leave, .offer, .answer, .endSession: return execute(event, now)
        case .replied, .callFailed, .itemReceived, .peerDescribed, .hostLocated, .update, .tick:
            // The event is handled before the deadlines, because it may be the expected sign of life.
            return execute(event, now) + expire(now)
        }
    }

    private mutating func execute(_ event: Event, _ now: HostTime) -> [Action] {
        switch event {
        case .replied(let id, let reply, let key, let address):
            guard let call = calls.removeValue(forKey: id) else { return [] }
            return handle(reply, to: call.purpose, id, key, address, now)
        case .callFailed(let id, let failure): return fail(id, failure, now)
        case .itemReceived(let item, let id): return receive(item, on: id, now)
        case .requestReceived(let request, let id): return [.reply(id, reply(to: request))]
        case .peerDescribed(let info, let key, let address):
            return isFromHost(info, key) ? locate(key, at: address, now) : noticePart(info, key, now)
        case .hostLocated(let key, let address): return locate(key, at: address, now)
        case .join(let endpoint): return join(endpoint, now)
        case .pinKeyDerived(let key): return provide(key, now)
        case .update(let update):
            apply(update, now)
            return []
        case .leave: return leave(now)
        case .offer(let sdp, let offer, let id): return self.offer(sdp, as: offer, to: id, now)
        case .answer(let sdp, let offer): return answer(sdp, to: offer, now)
        case .endSession(let offer, let answerer): return endSession(offer, answeredBy: answerer, now)
        case .tick: return []
        }
    }
}
