// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import TestSupport
import Testing

@testable import EarshotRooms

@Suite struct RoomGuestStayingTests {
    @Test func `an offer that the host forged in another member's name is not used`() throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        for action in test.send(.ask(request(2)), caller(2)).1 { _ = guest.deliver(action) }
        let two = try #require(guest.guest.roster?.members.last)
        let stream = try #require(guest.streams.values.first)
        let roster = test.host.roster
        func notify(_ offer: SignedDescription) -> [RoomGuest.Action] {
            let event = RoomEvent.offer(offer)
            return guest.guest.received(
                .event(ServerSentEvent(name: event.name, data: event.data)), on: stream, at: guest.now)
        }
        let id = OfferID(from: two.id, number: 4)
        let forged = TestKey(0).signer.signed("v=0", as: .offer, of: id, in: roster, for: roster.members[1])
        #expect(notify(forged) == [.notify(.forged(from: two))])
        let genuine = TestKey(2).signer.signed("v=0", as: .offer, of: id, in: roster, for: roster.members[1])
        #expect(notify(genuine) == [.notify(.offered(id, sdp: "v=0", from: two))])
        #expect(notify(genuine) == [])
        // And an answer that the host substituted for another.
        let (offer, actions) = try guest.offer(to: two.id)
        guard case .call(let call, _, _)? = actions.first else { Issue.record("\(actions)"); return }
        let answer = TestKey(0).signer.signed("a", as: .answer, of: offer, in: roster, for: roster.members[1])
        let told = guest.guest.replied(
            call, .answered(answer, by: two.id), provedBy: TestKey(0).fingerprint, from: guest.hostAddress,
            at: guest.now)
        #expect(told == [.notify(.forged(from: two)), .notify(.unanswered(offer, .offerUnanswered))])
    }

    @Test func `the guest sends a keep-alive every 1500 ms, and tells others that it hears the host`() {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        guest.actions = []
        var updates = 0
        for _ in 0..<100 {
            guest.wait(0.1)
            test.now = guest.now
            guest.pump(&test)
            updates += guest.actions.count { if case .call(_, .update, _) = $0 { true } else { false } }
            guest.actions = []
        }
        #expect((6...7).contains(updates) && guest.guest.isConnected)
        let answer = guest.guest.received(.describe, as: RequestID(1), at: guest.now)
        guard case .reply(_, .room(let info))? = answer.last else { Issue.record("\(answer)"); return }
        #expect(info.role == .guest && info.isHostHeard && info.hostKey == TestKey(0).fingerprint)
        let other = guest.guest.received(.events(after: nil), as: RequestID(2), at: guest.now)
        #expect(other == [.reply(RequestID(2), .refused(.notHost))])
    }

    @Test(arguments: [RoomEvent.removed(isBlocked: false), .removed(isBlocked: true), .replaced, .closing(next: nil)])
    func `a final event from the host ends membership`(event: RoomEvent) throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        let stream = try #require(guest.streams.values.first)
        guest.actions = guest.guest.received(
            .event(ServerSentEvent(name: event.name, data: event.data)), on: stream, at: guest.now)
        guard case .over? = guest.news.last else { Issue.record("went on"); return }
        #expect(guest.actions.contains(.cancel(stream)) && guest.guest.roster == nil)
        #expect(guest.guest.tick(at: .seconds(5_000)) == [] && guest.guest.leave(at: .seconds(5_001)) == [])
    }

    @Test func `a guest that was removed while its stream was broken is notified when it reconnects`() throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        let stream = try #require(guest.streams.values.first)
        guest.actions = guest.guest.failed(stream, .closed, at: guest.now)
        _ = test.host.remove(MemberID(2)!, at: test.now)
        guest.wait(0.2)
        guest.pump(&test)
        #expect(guest.guest.ending == .removed(isBlocked: false))
    }

    @Test func `a stream that falls silent is reopened, although the host responds`() throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        let stream = try #require(guest.streams.values.first)
        let status = MemberStatus(epoch: .first, revision: test.host.roster.revision)
        guest.actions = []
        var seen = 0
        for _ in 0..<52 {
            guest.wait(0.1)
            for case .call(let id, .update, _) in guest.actions[seen...] {
                guest.actions += guest.guest.replied(
                    id, .status(status), provedBy: TestKey(0).fingerprint, from: guest.hostAddress, at: guest.now)
            }
            seen = guest.actions.count
        }
        #expect(guest.actions.contains(.cancel(stream)) && !guest.news.contains(.reconnecting))
        #expect(guest.call { $0 == .events(after: EventID("1-2")) } != nil)
    }

    @Test func `lost events are detected by the response to a keep-alive`() throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        test.admit(2)  // its event is lost
        guest.actions = []
        for _ in 0..<40 {
            guest.wait(0.1)
            test.now = guest.now
            guest.pump(&test)
            guest.actions = []
        }
        #expect(guest.guest.roster == test.host.roster)
    }

    @Test func `a name changed while the host is silent is sent when the host is back`() {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        guest.wait(6)
        guest.actions += guest.guest.update(MemberUpdate(name: name("Gustav")), at: guest.now)
        guest.actions = []
        guest.wait(4)
        test.now = guest.now
        guest.pump(&test)
        #expect(test.host.roster.members[1].name == name("Gustav"))
    }

    @Test func `a guest whose machine slept does not consider its host lost`() {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        guest.now = guest.now.advanced(bySeconds: 3_600)
        guest.actions = guest.guest.tick(at: guest.now)
        #expect(guest.guest.isConnected && !guest.news.contains(.reconnecting))
    }
}
