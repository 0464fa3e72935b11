// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Testing

@testable import EarshotRooms

/// Offers that a later description of the same session has overtaken.
@Suite struct NegotiationOriginTests {
    private let remote = NegotiationPair.remote

    private func sdp(_ session: UInt64, _ version: UInt64) -> String {
        var description = SessionDescription.offer(formats: [.opus()], address: .any, port: 9, sessionID: session)
        description.origin.version = version
        return description.description
    }

    private func offer(_ number: UInt64) -> OfferID { OfferID(from: remote, number: number) }

    /// A pair that has answered version 5 of the remote peer's session 70.
    private func answered(isOfferer: Bool) -> NegotiationPair {
        var pair = NegotiationPair(isOfferer: isOfferer)
        pair.enter("S")
        _ = pair.core.handle(.offerReceived(offer(10), sdp: sdp(70, 5)), at: pair.now)
        _ = pair.core.handle(.offerAnswered(offer(10), keepsTransport: false), at: pair.now)
        return pair
    }

    @Test(arguments: [true, false]) func `an offer older than the one already answered is ignored`(isOfferer: Bool) {
        var pair = answered(isOfferer: isOfferer)
        #expect(pair.core.handle(.offerReceived(offer(9), sdp: sdp(70, 4)), at: pair.now) == [])
        #expect(pair.state == "R" && pair.core.session(with: remote) == offer(10))
        #expect(pair.core.handle(.offerReceived(offer(11), sdp: sdp(70, 6)), at: pair.now).map(\.label) == ["answer"])
    }

    @Test func `an offer older than the applied answer is ignored, and a pending offer is kept`() throws {
        var pair = NegotiationPair(isOfferer: false)
        pair.enter("L")
        _ = pair.core.handle(.answerReceived(pair.local, sdp: sdp(70, 5), by: remote), at: pair.now)
        _ = pair.core.handle(.answerApplied(pair.local, keepsTransport: false), at: pair.now)
        let made = pair.core.handle(.renegotiate(remote), at: pair.now)
        #expect(made.map(\.label) == ["reoffer"])
        let pending = try #require(pair.core.pendingOffer(to: remote))
        #expect(pair.core.handle(.offerReceived(offer(9), sdp: sdp(70, 4)), at: pair.now) == [])
        #expect(pair.core.pendingOffer(to: remote) == pending)
    }

    @Test func `a repeated offer of the current description is answered again, as the answer may be lost`() {
        var pair = answered(isOfferer: false)
        #expect(pair.core.handle(.offerReceived(offer(10), sdp: sdp(70, 5)), at: pair.now).map(\.label) == ["answer"])
    }

    @Test(arguments: [true, false])
    func `description versions start over with a new session, and a rejected one does not count`(
        isOfferer: Bool
    ) {
        var pair = answered(isOfferer: isOfferer)
        _ = pair.core.handle(.offerReceived(offer(11), sdp: sdp(70, 9)), at: pair.now)
        _ = pair.core.handle(.offerRejected(offer(11), keepsTransport: true), at: pair.now)
        #expect(pair.core.handle(.offerReceived(offer(12), sdp: sdp(70, 8)), at: pair.now).map(\.label) == ["answer"])
        _ = pair.core.handle(.offerAnswered(offer(12), keepsTransport: true), at: pair.now)
        // Its process has restarted.
        #expect(pair.core.handle(.offerReceived(offer(1), sdp: sdp(71, 1)), at: pair.now).map(\.label) == ["answer"])
        _ = pair.core.handle(.offerAnswered(offer(1), keepsTransport: false), at: pair.now)
        let unreadable = pair.core.handle(.offerReceived(offer(2), sdp: "no description"), at: pair.now)
        #expect(unreadable.map(\.label) == ["answer"])
    }

    @Test func `an outdated offer is still ignored after its session has ended`() {
        var pair = answered(isOfferer: false)
        _ = pair.core.handle(.transportEnded(remote), at: pair.now)
        #expect(pair.core.session(with: remote) == nil)
        #expect(pair.core.handle(.offerReceived(offer(9), sdp: sdp(70, 4)), at: pair.now) == [])
    }
}
