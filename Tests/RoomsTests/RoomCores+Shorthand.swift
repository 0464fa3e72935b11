// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

@testable import EarshotRooms

/// Events as methods, so that tests are easier to read.
extension RoomHost {
    mutating func received(
        _ request: RoomRequest, as id: RequestID, from caller: RequestOrigin, at time: HostTime
    ) -> [Action] { handle(.requestReceived(request, id, from: caller), at: time) }
    mutating func connectionLost(_ id: RequestID, at time: HostTime) -> [Action] {
        handle(.connectionLost(id), at: time)
    }
    mutating func heard(_ id: MemberID, at time: HostTime) -> [Action] { handle(.memberHeard(id), at: time) }
    mutating func met(_ info: RoomInfo, provedBy key: KeyFingerprint, at time: HostTime) -> [Action] {
        handle(.peerDescribed(info, provedBy: key), at: time)
    }
    mutating func decide(_ id: JoinRequestID, isWelcome: Bool, at time: HostTime) -> [Action] {
        handle(.decide(id, isWelcome: isWelcome), at: time)
    }
    mutating func block(_ id: JoinRequestID, at time: HostTime) -> [Action] { handle(.blockGuest(id), at: time) }
    mutating func remove(_ id: MemberID, at time: HostTime) -> [Action] { handle(.remove(id), at: time) }
    mutating func block(_ id: MemberID, at time: HostTime) -> [Action] { handle(.block(id), at: time) }
    mutating func update(_ update: MemberUpdate, at time: HostTime) -> [Action] { handle(.update(update), at: time) }
    mutating func offer(_ description: SignedDescription, to id: MemberID, at time: HostTime) -> [Action] {
        handle(.offer(description, to: id), at: time)
    }
    mutating func answer(_ description: SignedDescription, at time: HostTime) -> [Action] {
        handle(.answer(description), at: time)
    }
    mutating func endSession(_ offer: OfferID, with id: MemberID, at time: HostTime) -> [Action] {
        handle(.endSession(offer, with: id), at: time)
    }
    mutating func leave(at time: HostTime) -> [Action] { handle(.leave, at: time) }
    mutating func close(at time: HostTime) -> [Action] { handle(.close, at: time) }
    mutating func tick(at time: HostTime) -> [Action] { handle(.tick, at: time) }
}

/// The same for a guest.
extension RoomGuest {
    mutating func replied(
        _ id: CallID, _ reply: RoomReply, provedBy key: KeyFingerprint, from address: SocketAddress, at time: HostTime
    ) -> [Action] { handle(.replied(id, reply, provedBy: key, from: address), at: time) }
    mutating func failed(_ id: CallID, _ failure: RequestFailure, at time: HostTime) -> [Action] {
        handle(.callFailed(id, failure), at: time)
    }
    mutating func received(_ item: EventStreamParser.Item, on id: CallID, at time: HostTime) -> [Action] {
        handle(.itemReceived(item, on: id), at: time)
    }
    mutating func received(_ request: RoomRequest, as id: RequestID, at time: HostTime) -> [Action] {
        handle(.requestReceived(request, id), at: time)
    }
    mutating func met(_ info: RoomInfo, provedBy key: KeyFingerprint, at time: HostTime) -> [Action] {
        handle(.peerDescribed(info, provedBy: key, from: SocketAddress(.v4(0x0A00_00FE), port: 7_000)), at: time)
    }
    mutating func described(
        _ info: RoomInfo, provedBy key: KeyFingerprint, from address: SocketAddress, at time: HostTime
    ) -> [Action] { handle(.peerDescribed(info, provedBy: key, from: address), at: time) }
    mutating func located(_ key: KeyFingerprint, at address: SocketAddress, time: HostTime) -> [Action] {
        handle(.hostLocated(key, at: address), at: time)
    }
    mutating func join(_ endpoint: Endpoint, at time: HostTime) -> [Action] { handle(.join(endpoint), at: time) }
    mutating func provide(_ key: PINKey, at time: HostTime) -> [Action] { handle(.pinKeyDerived(key), at: time) }
    mutating func update(_ update: MemberUpdate, at time: HostTime) -> [Action] { handle(.update(update), at: time) }
    mutating func leave(at time: HostTime) -> [Action] { handle(.leave, at: time) }
    mutating func offer(_ sdp: String, as offer: OfferID, to id: MemberID, at time: HostTime) -> [Action] {
        handle(.offer(sdp: sdp, offer, to: id), at: time)
    }
    mutating func answer(_ sdp: String, to offer: OfferID, at time: HostTime) -> [Action] {
        handle(.answer(sdp: sdp, offer), at: time)
    }
    mutating func endSession(_ offer: OfferID, answeredBy id: MemberID, at time: HostTime) -> [Action] {
        handle(.endSession(offer, answeredBy: id), at: time)
    }
    mutating func tick(at time: HostTime) -> [Action] { handle(.tick, at: time) }
}
