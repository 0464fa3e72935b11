// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import TestSupport
import Testing

@testable import EarshotRooms

/// Retries, deadlines and renegotiation of one negotiation.
@Suite struct NegotiationTimeTests {
    private let remote = NegotiationPair.remote

    /// Returns the number of the offer that the actions make.
    private func offer(_ actions: [MediaNegotiation.Action]) -> OfferID? {
        for case .makeOffer(let offer, _, _) in actions { return offer }
        return nil
    }

    @Test func `a failed offer is retried after 500 ms, with growing delays of up to 15 s`() throws {
        var pair = NegotiationPair(isOfferer: true)
        pair.enter("L")
        var (now, pending) = (pair.now, pair.local)
        var delays: [Double] = []
        for _ in 0..<7 {
            _ = pair.core.handle(.offerFailed(pending, .offerUnanswered), at: now)
            let due = try #require(pair.core.nextDeadline)
            delays.append((due.seconds(since: now) * 1_000).rounded() / 1_000)
            #expect(pair.core.handle(.tick, at: due.advanced(bySeconds: -0.001)) == [])
            now = due
            pending = try #require(offer(pair.core.handle(.tick, at: now)))
            #expect(pair.core.nextDeadline == nil && pair.core.pendingOffer(to: remote) == pending)
        }
        #expect(delays == [0.5, 1, 2, 4, 8, 15, 15])
        // An answer is not a success before media runs.
        _ = pair.core.handle(.answerApplied(pending, keepsTransport: false), at: now)
        _ = pair.core.handle(.transportEnded(remote), at: now)
        #expect(pair.core.nextDeadline == now.advanced(bySeconds: 15))
        pending = try #require(offer(pair.core.handle(.tick, at: now.advanced(bySeconds: 15))))
        _ = pair.core.handle(.answerApplied(pending, keepsTransport: false), at: now)
        _ = pair.core.handle(.transportOpened(remote), at: now)
        _ = pair.core.handle(.transportEnded(remote), at: now)
        #expect(pair.core.nextDeadline == now.advanced(bySeconds: 0.5))
    }

    /// Seed 150 of the simulated days: the offerer had a session, the other side's handshake had failed, and neither offered.
    @Test(arguments: ["lost", "unknown"]) func `the side that awaits an offer sends its own after ten seconds`(
        cause: String
    ) throws {
        var pair = NegotiationPair(isOfferer: false)
        if cause == "lost" {
            pair.enter("R")
            _ = pair.core.handle(.transportEnded(remote), at: pair.now)
        }
        let due = pair.now.advanced(bySeconds: 10)
        #expect(pair.core.nextDeadline == due)
        var offered = pair
        #expect(pair.core.handle(.tick, at: due.advanced(bySeconds: -0.001)) == [])
        #expect(offer(pair.core.handle(.tick, at: due)) != nil)
        // An offer in time is answered, and none is made.
        _ = offered.core.handle(.offerReceived(offered.received, sdp: "o"), at: offered.now)
        #expect(offer(offered.core.handle(.tick, at: due)) == nil && offered.state == "A")
    }

    @Test(arguments: ["answered", "applied"], [true, false])
    func `missing media is reported once, then the offerer sends a new offer`(
        event: String, isOfferer: Bool
    ) throws {
        var pair = NegotiationPair(isOfferer: isOfferer)
        pair.enter(event == "applied" ? "L" : "A")
        var other = pair
        _ = pair.core.handle(try pair.event(event), at: pair.now)
        let (due, end) = (pair.now.advanced(bySeconds: 2), pair.now.advanced(bySeconds: 10))
        #expect(pair.core.nextDeadline == due)
        #expect(pair.core.handle(.tick, at: due.advanced(bySeconds: -0.001)) == [])
        var open = pair
        _ = open.core.handle(.transportOpened(remote), at: pair.now)
        #expect(open.core.nextDeadline == nil && open.core.handle(.tick, at: end) == [])
        #expect(pair.core.handle(.tick, at: due) == [.reportMissingMedia(pair.member)])
        #expect(pair.core.nextDeadline == (isOfferer ? end : nil))
        #expect(pair.core.handle(.tick, at: end.advanced(bySeconds: -0.001)) == [])
        #expect(pair.core.handle(.tick, at: end) == (isOfferer ? [.closeTransport(of: remote)] : []))
        #expect(pair.state == (isOfferer ? "W" : "R"))
        // The user is not told of the next session without media.
        _ = pair.core.handle(.offerReceived(pair.received, sdp: "o"), at: end)
        _ = pair.core.handle(.offerAnswered(pair.received, keepsTransport: false), at: end)
        #expect(pair.core.handle(.tick, at: end.advanced(bySeconds: 9)) == [])
        // With the running transport, media runs already.
        _ = other.core.handle(try other.event(event + "Kept"), at: other.now)
        #expect(other.core.nextDeadline == nil)
    }

    @Test(arguments: [
        ("L", "applied"), ("L", "answerRejected"), ("LR", "appliedKept"), ("LR", "answerRejected"),
        ("LR", "offerEnded"),
        ("A", "answered"), ("A", "rejected"), ("AR", "answeredKept"), ("AR", "rejectedKept"),
    ])
    func `a media change during a pending description is offered once afterwards`(_ test: (String, String)) throws {
        var pair = NegotiationPair(isOfferer: true)
        pair.enter(test.0)
        #expect(pair.core.handle(.renegotiate(remote), at: pair.now) == [])
        let made = offer(pair.core.handle(try pair.event(test.1), at: pair.now))
        #expect(made != nil && pair.core.pendingOffer(to: remote) == made)
        // Once.
        _ = pair.core.handle(.answerApplied(try #require(made), keepsTransport: true), at: pair.now)
        #expect(pair.state == "R" && pair.core.pendingOffer(to: remote) == nil)
    }

    @Test func `an answer includes the current media, so no further offer follows`() throws {
        var pair = NegotiationPair(isOfferer: false)
        pair.enter("L")
        _ = pair.core.handle(.renegotiate(remote), at: pair.now)
        // The remote peer's crossed offer counts; its answer comes after the change.
        #expect(pair.core.handle(.offerReceived(pair.received, sdp: "o"), at: pair.now).map(\.label) == ["answer"])
        #expect(pair.core.handle(.offerAnswered(pair.received, keepsTransport: false), at: pair.now) == [])
        #expect(pair.core.session(with: remote) == pair.received)
    }

    @Test func `an offerer whose offer failed sends one more after it has answered the remote peer's`() throws {
        for (isOfferer, isUncertain) in [(true, true), (true, false), (false, true)] {
            var pair = NegotiationPair(isOfferer: isOfferer)
            pair.enter(isUncertain ? "L" : "S")
            _ = pair.core.handle(.offerFailed(pair.local, .offerUnanswered), at: pair.now)
            _ = pair.core.handle(.offerReceived(pair.received, sdp: "o"), at: pair.now)
            let actions = pair.core.handle(.offerAnswered(pair.received, keepsTransport: false), at: pair.now)
            #expect(actions.map(\.label) == (isOfferer && isUncertain ? ["reoffer"] : []))
        }
    }

    @Test func `a member that is away gets an offer when it returns, not when the local media changes`() throws {
        var pair = NegotiationPair(isOfferer: true)
        pair.enter("B", isAway: true)
        #expect(pair.core.handle(.renegotiate(remote), at: pair.now) == [] && pair.core.nextDeadline == nil)
        #expect(pair.core.handle(try pair.event("back"), at: pair.now).map(\.label) == ["offer"])
    }

    @Test func `the later member sends an offer to a member that is new in its roster`() throws {
        for isOfferer in [true, false] {
            var pair = NegotiationPair(isOfferer: isOfferer)
            _ = pair.core.handle(try pair.event("memberLeft"), at: pair.now)
            let actions = pair.core.handle(.rosterChanged(pair.roster, as: pair.me), at: pair.now)
            #expect(actions.map(\.label) == (isOfferer ? ["offer"] : []))
        }
    }

    @Test func `offer numbers increase by one and wrap around at 53 bits`() throws {
        var core = MediaNegotiation(firstOffer: 1 << 53 - 1)
        let pair = NegotiationPair(isOfferer: true)
        let first = offer(core.handle(.admitted(pair.roster, as: pair.me), at: pair.now))
        let second = offer(core.handle(.admitted(pair.roster, as: pair.me), at: pair.now))
        #expect(first == OfferID(from: pair.me, number: 1 << 53 - 1) && second == OfferID(from: pair.me, number: 0))
    }
}
