// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import Testing

@testable import EarshotRooms

@Suite struct RoomHostOfferTests {
    private func description(_ from: MemberID, _ number: UInt64, _ sdp: String) -> SignedDescription {
        SignedDescription(offer: OfferID(from: from, number: number), sdp: sdp, signature: [1], publicKey: [2])
    }

    private func room() -> (TestHost, MemberID, MemberID, RequestID) {
        var test = TestHost()
        test.admit(1)
        test.admit(2)
        let (stream, _) = test.listen(1)
        return (test, MemberID(2)!, MemberID(3)!, stream)
    }

    @Test func `an offer and its answer are forwarded between guests`() {
        var (test, one, two, stream) = room()
        // On any path the sender of the request is the offering member.
        let (offering, offered) = test.send(.offer(description(one, 7, "offer"), to: one), caller(2))
        #expect(offered.reply(to: offering) == nil)
        #expect(offered.events(on: stream) == [.offer(description(two, 7, "offer"))])
        let answer = description(two, 7, "answer")
        #expect(test.ask(.answer(answer), caller(2))?.error == .noSuchOffer)
        let (answering, answered) = test.send(.answer(answer), caller(1))
        #expect(answered.reply(to: answering) == .done)
        #expect(answered.reply(to: offering) == .answered(answer, by: one))
        #expect(test.ask(.answer(answer), caller(1))?.error == .noSuchOffer)
    }

    @Test func `an offer to the host is answered by the host`() {
        var (test, _, two, _) = room()
        let (offering, offered) = test.send(.offer(description(.first, 7, "offer"), to: .first), caller(2))
        #expect(offered.contains(.offered(description(two, 7, "offer"))))
        let answered = test.host.answer(description(two, 7, "answer"), at: test.now)
        #expect(answered == [.reply(offering, .answered(description(two, 7, "answer"), by: .first))])
    }

    @Test func `the host's own offer is sent as an event`() {
        var (test, one, _, stream) = room()
        let offer = description(.first, 9, "offer")
        #expect(test.host.offer(offer, to: one, at: test.now).events(on: stream) == [.offer(offer)])
        let (_, answered) = test.send(.answer(description(.first, 9, "answer")), caller(1))
        #expect(answered.contains(.answered(description(.first, 9, "answer"), by: one)))
        _ = test.host.offer(offer, to: one, at: test.now)
        #expect(test.wait(11, keeping: [1, 2]).contains(.unanswered(offer.offer)))
    }

    @Test func `a newer offer of the host replaces only its older one to the same member`() {
        var (test, one, two, _) = room()
        let offers = (1...3).map { description(.first, $0, "offer") }
        #expect(!test.host.offer(offers[0], to: one, at: test.now).contains(.unanswered(offers[0].offer)))
        #expect(!test.host.offer(offers[1], to: two, at: test.now).contains(.unanswered(offers[0].offer)))
        let actions = test.host.offer(offers[2], to: one, at: test.now)
        #expect(actions.contains(.unanswered(offers[0].offer)) && !actions.contains(.unanswered(offers[1].offer)))
        #expect(test.host.offers.map(\.description.offer) == [offers[1].offer, offers[2].offer])
    }

    @Test func `an offer fails after ten seconds, or if its receiver is away or gone`() {
        var (test, one, two, _) = room()
        let (first, _) = test.send(.offer(description(two, 1, "a"), to: one), caller(2))
        #expect(test.wait(11, keeping: [1, 2]).reply(to: first)?.error == .offerUnanswered)
        let (second, _) = test.send(.offer(description(two, 2, "a"), to: one), caller(2))
        #expect(test.wait(6, keeping: [2]).reply(to: second)?.error == .memberAway)
        #expect(test.ask(.offer(description(two, 3, "a"), to: one), caller(2))?.error == .memberAway)
        _ = test.ask(.update(MemberUpdate()), caller(1))
        let (fourth, _) = test.send(.offer(description(two, 4, "a"), to: one), caller(2))
        #expect(test.send(.leave, caller(1)).1.reply(to: fourth)?.error == .noSuchMember)
        #expect(test.ask(.offer(description(two, 5, "a"), to: one), caller(2))?.error == .noSuchMember)
        #expect(test.ask(.offer(description(two, 5, "a"), to: two), caller(2))?.error == .noSuchMember)
    }

    @Test func `only the latest offer of each pair stays pending`() {
        var (test, one, two, _) = room()
        var replaced = 0
        for number in 0..<1_000 {
            let (_, actions) = test.send(.offer(description(two, UInt64(number), "a"), to: one), caller(2))
            replaced += actions.count { if case .reply(_, .refused(.noSuchOffer)) = $0 { true } else { false } }
        }
        #expect(test.host.offers.count == 1 && replaced == 999)
    }

    @Test func `an offer too long for an event is refused, and the others are kept`() {
        var (test, one, two, stream) = room()
        let (waiting, _) = test.send(.offer(description(.first, 1, "a"), to: one), caller(2))
        let (id, actions) = test.send(
            .offer(description(two, 7, String(repeating: "\u{1}", count: 32_768)), to: one), caller(2))
        #expect(actions.reply(to: id)?.error == .tooLarge(limit: 65_536))
        #expect(actions.events(on: stream).isEmpty && actions.reply(to: waiting) == nil)
        #expect(test.host.offers.count == 1)
    }

    @Test func `a pending offer is sent again to a member that reopens its stream`() {
        var (test, one, two, _) = room()
        _ = test.send(.offer(description(two, 7, "offer"), to: one), caller(2))
        #expect(test.listen(1).1.last == .offer(description(two, 7, "offer")))
    }

    @Test func `the end of a session is forwarded only if one of its members sent it`() {
        var (test, one, two, stream) = room()
        let offer = OfferID(from: two, number: 7)
        #expect(test.send(.end(offer, with: one), caller(2)).1.events(on: stream) == [.ended(offer)])
        test.admit(3)
        #expect(test.ask(.end(offer, with: one), caller(3))?.error == .noSuchOffer)
        let toHost = OfferID(from: two, number: 8)
        #expect(test.send(.end(toHost, with: .first), caller(2)).1.contains(.ended(toHost)))
        #expect(test.host.endSession(toHost, with: one, at: test.now).events(on: stream) == [.ended(toHost)])
    }

    @Test func `a pending offer is refused when the host closes or leaves the room`() {
        for hasSuccessor in [false, true] {
            var (test, one, two, _) = room()
            let (waiting, _) = test.send(.offer(description(two, 1, "a"), to: one), caller(2))
            _ = test.host.offer(description(.first, 2, "b"), to: one, at: test.now)
            let actions = hasSuccessor ? test.host.leave(at: test.now) : test.host.close(at: test.now)
            #expect(actions.reply(to: waiting) == .refused(.closed) && test.host.offers.isEmpty)
        }
    }

    @Test func `an offer replaces only an earlier one between the same members in the same direction`() {
        var (test, one, two, _) = room()
        test.admit(3)
        let (first, _) = test.send(.offer(description(two, 1, "a"), to: one), caller(2))
        var waiting: [RequestID] = []
        for (number, to) in [(1, two), (2, .first), (3, one), (3, two)] {
            let (id, actions) = test.send(.offer(description(two, 2, "b"), to: to), caller(number))
            waiting.append(id)
            #expect(actions.reply(to: first) == nil && !waiting.contains { actions.reply(to: $0) != nil })
        }
        let (_, newer) = test.send(.offer(description(two, 3, "c"), to: one), caller(2))
        #expect(newer.reply(to: first)?.error == .noSuchOffer && !waiting.contains { newer.reply(to: $0) != nil })
    }

    @Test func `an offer whose sender disconnected, left or was removed can no longer be answered`() {
        for end in 0..<3 {
            var (test, one, two, _) = room()
            let (waiting, _) = test.send(.offer(description(two, 1, "a"), to: one), caller(2))
            let (toHost, _) = test.send(.offer(description(two, 2, "a"), to: .first), caller(2))
            switch end {
            case 0:
                #expect(test.host.connectionLost(waiting, at: test.now) == [])
                #expect(test.host.offers.count == 1)
                #expect(test.host.connectionLost(toHost, at: test.now) == [])
            case 1:
                let actions = test.send(.leave, caller(2)).1
                #expect(actions.reply(to: waiting)?.error == .noSuchOffer)
            default:
                let actions = test.host.remove(two, at: test.now)
                #expect(actions.reply(to: waiting)?.error == .noSuchOffer)
            }
            #expect(test.ask(.answer(description(two, 1, "b")), caller(1))?.error == .noSuchOffer)
            #expect(test.host.answer(description(two, 2, "b"), at: test.now) == [])
        }
    }

    @Test func `an offer of the host to itself, an unknown member or an absent one fails immediately`() {
        var (test, one, two, _) = room()
        _ = test.wait(6, keeping: [2])
        let offer = description(.first, 1, "a")
        for receiver in [.first, MemberID(9)!, one] {
            #expect(test.host.offer(offer, to: receiver, at: test.now) == [.unanswered(offer.offer)])
        }
        #expect(test.host.offers.isEmpty)
        #expect(test.host.offer(offer, to: two, at: test.now) == [] && test.host.offers.count == 1)
        // A second answer comes too late.
        #expect(test.ask(.answer(description(.first, 1, "b")), caller(2)) == .done)
        #expect(test.ask(.answer(description(.first, 1, "b")), caller(2))?.error == .noSuchOffer)
    }

    @Test func `an offer of the host fails when its receiver goes away or leaves`() {
        for isAway in [false, true] {
            var (test, one, _, _) = room()
            let offer = description(.first, 1, "a")
            _ = test.host.offer(offer, to: one, at: test.now)
            let actions = isAway ? test.wait(5.5, keeping: [2]) : test.send(.leave, caller(1)).1
            #expect(actions.contains(.unanswered(offer.offer)) && test.host.offers.isEmpty)
        }
    }

    @Test func `the host can answer an offer only once, and only if it is addressed to the host`() {
        var (test, one, two, _) = room()
        let (other, _) = test.send(.offer(description(two, 1, "a"), to: one), caller(2))
        let (offering, _) = test.send(.offer(description(two, 2, "a"), to: .first), caller(2))
        #expect(test.host.answer(description(two, 1, "b"), at: test.now) == [])
        #expect(test.host.answer(description(two, 2, "b"), at: test.now).reply(to: offering) != nil)
        #expect(test.host.answer(description(two, 2, "b"), at: test.now) == [])
        #expect(test.send(.answer(description(two, 1, "b")), caller(1)).1.reply(to: other) != nil)
    }

    @Test func `ending a session with a member that has left sends that member no event`() {
        var (test, one, two, stream) = room()
        let offer = OfferID(from: two, number: 7)
        _ = test.ask(.leave, caller(2))
        #expect(test.send(.end(offer, with: one), caller(1)).1.count == 1)
        let (id, actions) = test.send(.end(OfferID(from: one, number: 1), with: two), caller(1))
        #expect(actions == [.reply(id, .done)])
        #expect(test.host.endSession(offer, with: two, at: test.now) == [])
        #expect(test.host.endSession(offer, with: one, at: test.now).events(on: stream) == [.ended(offer)])
        // The answerer also ends it, and the offerer is told.
        test.admit(3)
        let third = OfferID(from: MemberID(4)!, number: 1)
        let (listening, _) = test.listen(3)
        #expect(test.send(.end(third, with: one), caller(1)).1.events(on: listening) == [.ended(third)])
    }
}
