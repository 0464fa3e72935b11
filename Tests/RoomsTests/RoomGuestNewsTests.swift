// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import TestSupport
import Testing

@testable import EarshotRooms

/// Events of a guest: offers, rosters, and other parts of its room.
@Suite struct RoomGuestNewsTests {
    private let key = TestKey(0).fingerprint

    /// A guest in a room with another member, and its host.
    private func inside() throws -> (TestHost, TestGuest, Member) {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        for action in test.send(.ask(request(2)), caller(2)).1 { _ = guest.deliver(action) }
        return (test, guest, try #require(guest.guest.roster?.members.last))
    }

    private func notify(_ guest: inout TestGuest, _ event: RoomEvent) throws -> [RoomGuest.Action] {
        let stream = try #require(guest.streams.values.first)
        let item = EventStreamParser.Item.event(ServerSentEvent(name: event.name, data: event.data))
        return guest.guest.received(item, on: stream, at: guest.now)
    }

    @Test func `an offer repeated within the next 31 offers is reported only once`() throws {
        var (_, guest, _) = try inside()
        func offer(_ number: UInt64) throws -> Bool {
            let offer = SignedDescription(offer: OfferID(from: .first, number: number), sdp: "o")
            return try notify(&guest, .offer(offer)).count == 1
        }
        for number: UInt64 in 0..<32 { #expect(try offer(number)) }
        for number: UInt64 in 0..<32 { #expect(try !offer(number)) }
        #expect(try offer(32))
        #expect(try !offer(1))
        #expect(try offer(0))
    }

    @Test func `an offer in the guest's own name or from a stranger is ignored`() throws {
        var (test, guest, two) = try inside()
        let me = try #require(guest.guest.memberID)
        let own = TestKey(1).signer.signed(
            "o", as: .offer, of: OfferID(from: me, number: 1), in: test.host.roster, for: two)
        let stranger = SignedDescription(offer: OfferID(from: MemberID(9)!, number: 1), sdp: "o")
        #expect(try notify(&guest, .offer(own)) == [] && notify(&guest, .offer(stranger)) == [])
        let ended = OfferID(from: two.id, number: 1)
        #expect(try notify(&guest, .ended(ended)) == [.notify(.ended(ended))])
        #expect(guest.guest.answer("a", to: stranger.offer, at: guest.now) == [])
    }

    @Test func `a guest sends offers only to other members, and only under its own number`() throws {
        var (_, guest, two) = try inside()
        let me = try #require(guest.guest.memberID)
        for member in [me, MemberID(9)!] {
            let (offer, actions) = try guest.offer(to: member)
            #expect(actions == [.notify(.unanswered(offer, .offerUnanswered))])
        }
        let foreign = OfferID(from: two.id, number: 1)
        #expect(
            guest.guest.offer("o", as: foreign, to: two.id, at: guest.now)
                == [.notify(.unanswered(foreign, .offerUnanswered))])
        let (offer, actions) = try guest.offer(to: two.id, number: 1 << 53 - 1)
        guard case .call(_, .offer(let description, to: two.id), _)? = actions.first else {
            Issue.record("\(actions)")
            return
        }
        #expect(description.offer == offer)
    }

    @Test func `an offer times out after 12 s, and its end is reported with the reason`() throws {
        var (_, guest, two) = try inside()
        let (offer, actions) = try guest.offer(to: two.id)
        guard case .call(let call, _, let endpoint)? = actions.first else { Issue.record("\(actions)"); return }
        #expect(endpoint.addresses == [guest.hostAddress])
        var refused = guest
        #expect(
            refused.guest.replied(
                call, .refused(.memberAway), provedBy: key, from: guest.hostAddress, at: guest.now)
                == [.notify(.unanswered(offer, .memberAway))])
        var broken = guest
        #expect(
            broken.guest.failed(call, .closed, at: guest.now) == [.notify(.unanswered(offer, .offerUnanswered))])
        #expect(guest.guest.calls[call]?.deadline == guest.now.advanced(bySeconds: 12))
    }

    @Test func `an answer is reported only if it is signed for this offer by a present member`() throws {
        var (test, guest, two) = try inside()
        let me = test.host.roster.members[1]
        /// Offers, and gets an answer to the offer with a number this much later.
        func answer(_ later: UInt64) throws -> (OfferID, [RoomGuest.Action]) {
            let (offer, actions) = try guest.offer(to: two.id)
            guard case .call(let call, _, _)? = actions.first else { return (offer, []) }
            let named = OfferID(from: offer.from, number: offer.number + later)
            let answer = TestKey(2).signer.signed("a", as: .answer, of: named, in: test.host.roster, for: me)
            let told = guest.guest.replied(
                call, .answered(answer, by: two.id), provedBy: key, from: guest.hostAddress, at: guest.now)
            return (offer, told)
        }
        let (first, answered) = try answer(0)
        #expect(answered == [.notify(.answered(first, sdp: "a", by: two))])
        let (second, forged) = try answer(1)
        #expect(forged == [.notify(.forged(from: two)), .notify(.unanswered(second, .offerUnanswered))])
        let (late, actions) = try guest.offer(to: two.id)
        guard case .call(let call, _, _)? = actions.first else { Issue.record("\(actions)"); return }
        for action in test.send(.leave, caller(2)).1 { _ = guest.deliver(action) }
        let gone = TestKey(2).signer.signed("a", as: .answer, of: late, in: test.host.roster, for: me)
        #expect(
            guest.guest.replied(
                call, .answered(gone, by: two.id), provedBy: key, from: guest.hostAddress, at: guest.now)
                == [.notify(.unanswered(late, .noSuchMember))])
    }

    @Test func `a newer roster is used, and one of another room or without this guest ends membership`() throws {
        let (test, guest, two) = try inside()
        func told(_ change: (inout Roster) -> Void) throws -> [RoomGuest.Action] {
            var roster = test.host.roster
            change(&roster)
            var other = guest
            return try notify(&other, .roster(roster))
        }
        #expect(try told { $0.members[2].isMuted = true } == [])
        #expect(
            try told {
                $0.revision -= 1
                $0.members[2].isMuted = true
            } == [])
        var muted = two
        muted.isMuted = true
        #expect(
            try told {
                $0.revision += 1
                $0.members[2].isMuted = true
            } == [.notify(.changed([.muted(muted, true)]))])
        #expect(try told { $0.revision += 1 } == [])
        for change: (inout Roster) -> Void in [
            { $0.members.remove(at: 1) }, { $0.host = two.id },
            {
                $0 = Roster(
                    room: RoomID("00000000000000000000000008")!, name: $0.name, epoch: $0.epoch,
                    revision: $0.revision + 1, host: $0.host, members: $0.members)
            },
        ] {
            let news = try told(change).compactMap { if case .notify(let news) = $0 { news } else { nil } }
            guard case .over(.refused(.malformed))? = news.last else { Issue.record("\(news)"); continue }
        }
    }

    @Test func `new addresses of the host are added after the known ones, up to a member's limit`() throws {
        var (test, guest, _) = try inside()
        var roster = test.host.roster
        for count in [2, 40] {
            roster.revision += 1
            roster.members[0].addresses = (0..<count).map { address(100 + $0) }
            _ = try notify(&guest, .roster(roster))
            let kept = guest.guest.membership?.host.addresses ?? []
            let wanted = (0..<min(count, Member.maximumAddressCount)).map { address(100 + $0) }
            #expect(kept.map(\.address) == wanted && kept.allSatisfy { $0.port == 47_400 })
        }
    }

    @Test func `another part of the room is reported once, and this part and another room never`() throws {
        var (test, guest, _) = try inside()
        let reply = test.ask(.describe, caller(3))
        var info = try #require(reply?.info)
        #expect(guest.guest.met(info, provedBy: key, at: guest.now) == [])
        #expect(guest.guest.met(info, provedBy: TestKey(1).fingerprint, at: guest.now) == [])
        info.hostKey = TestKey(8).fingerprint
        let other = TestKey(7).fingerprint
        var told = info
        told.hostKey = other
        #expect(guest.guest.met(info, provedBy: other, at: guest.now) == [.notify(.split(told))])
        #expect(guest.guest.met(info, provedBy: other, at: guest.now) == [])
        info.role = .guest
        #expect(guest.guest.met(info, provedBy: other, at: guest.now) == [.notify(.split(info))])
        var random = SeededRandom(seed: 99)
        info.room = RoomID(using: &random)
        #expect(guest.guest.met(info, provedBy: TestKey(6).fingerprint, at: guest.now) == [])
    }

    @Test func `a host without a stream is called immediately at a newly seen address`() throws {
        var (_, guest, _) = try inside()
        let stream = try #require(guest.streams.values.first)
        _ = guest.guest.failed(stream, .closed, at: guest.now)
        let place = SocketAddress(address(77), port: 47_400)
        guest.actions = guest.guest.located(key, at: place, time: guest.now)
        guard case .call(_, .events, let endpoint)? = guest.actions.first else { Issue.record("no call"); return }
        #expect(endpoint.addresses == [place, guest.hostAddress] && guest.actions.count == 1)
        #expect(guest.guest.located(key, at: place, time: guest.now) == [])
    }

    @Test func `an unexpected reply ends a guest that has not joined yet`() throws {
        var guest = TestGuest()
        guest.join()
        let call = try #require(guest.call { $0 == .describe })
        guest.actions = guest.guest.replied(call, .done, provedBy: key, from: guest.hostAddress, at: guest.now)
        guard case .unreached(.invalidResponse, _)? = guest.guest.ending else { Issue.record("went on"); return }
        #expect(guest.guest.replied(call, .done, provedBy: key, from: guest.hostAddress, at: guest.now) == [])
        #expect(guest.guest.ending?.description.contains("does not answer like Earshot") == true)
    }
}
