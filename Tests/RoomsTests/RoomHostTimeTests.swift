// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import Testing

@testable import EarshotRooms

/// The times at which a host wants to be called, and the changes that it counts.
@Suite struct RoomHostTimeTests {
    /// Returns the seconds until the host's next deadline, to the millisecond.
    private func wait(_ test: TestHost) throws -> Double {
        (try #require(test.host.nextDeadline).seconds(since: test.now) * 1_000).rounded() / 1_000
    }

    @Test func `a host without guests has no deadline`() {
        #expect(TestHost().host.nextDeadline == nil)
    }

    @Test func `a member's deadline is five seconds, and its stream's is two`() throws {
        var test = TestHost()
        test.admit(1)
        #expect(try wait(test) == 5)
        test.now = test.now.advanced(bySeconds: 1)
        _ = test.listen(1)
        #expect(try wait(test) == 2)
        test.now = test.now.advanced(bySeconds: 2)
        #expect(test.host.tick(at: test.now).count == 1)
        #expect(try wait(test) == 2)
    }

    @Test func `a member is away after exactly 5 s, and has left after exactly 60 s`() throws {
        var test = TestHost()
        test.admit(1)
        let start = test.now
        #expect(test.host.tick(at: start.advanced(bySeconds: 4.99)) == [])
        let away = test.host.tick(at: start.advanced(bySeconds: 5))
        #expect(away.news == [.changed([.away(test.host.roster.members[1], true)])])
        for second in stride(from: 10.0, through: 55, by: 5) {
            test.now = start.advanced(bySeconds: second)
            #expect(try wait(test) == 0)
            #expect(test.host.tick(at: test.now) == [.probe(Endpoint(test.host.roster.members[1])!)])
        }
        #expect(test.host.tick(at: start.advanced(bySeconds: 59.99)) == [])
        let member = test.host.roster.members[1]
        #expect(test.host.tick(at: start.advanced(bySeconds: 60)).news == [.changed([.left(member)])])
        #expect(test.host.nextDeadline == nil)
    }

    @Test func `a member that is heard again is not probed until it is silent again`() throws {
        var test = TestHost()
        test.admit(1)
        _ = test.wait(7)
        _ = test.host.heard(MemberID(2)!, at: test.now)
        #expect(try wait(test) == 5)
        let again = test.wait(5)
        #expect(again.count { if case .probe = $0 { true } else { false } } == 1)
    }

    @Test func `no event is written to a stream that has ended`() {
        var test = TestHost()
        test.admit(1)
        test.admit(2)
        let (stream, _) = test.listen(1)
        _ = test.wait(5.5, keeping: [2])
        let muted = test.send(.update(MemberUpdate(isMuted: true)), caller(2)).1
        #expect(!muted.contains { if case .send(_, stream) = $0 { true } else { false } })
        _ = test.listen(1)
        let lost = test.listen(2).0
        #expect(test.host.connectionLost(lost, at: test.now) == [])
        let unmuted = test.send(.update(MemberUpdate(isMuted: false)), caller(2)).1
        #expect(unmuted.contains { if case .send = $0 { true } else { false } })
        #expect(!unmuted.contains { if case .send(_, lost) = $0 { true } else { false } })
    }

    @Test func `a question expires after 30 s, and an offer after 10 s`() throws {
        var test = TestHost(policy: .ask)
        _ = test.send(.ask(request(1)), caller(1))
        #expect(try wait(test) == 30)
        test.now = test.now.advanced(bySeconds: 29.9)
        #expect(test.host.tick(at: test.now) == [])
        test.now = test.now.advanced(bySeconds: 0.1)
        #expect(test.host.tick(at: test.now).count == 2)
        test.host.policy = .all
        test.admit(1)
        test.admit(2)
        let offer = SignedDescription(offer: OfferID(from: MemberID(2)!, number: 1), sdp: "o")
        let (id, _) = test.send(.offer(offer, to: MemberID(3)!), caller(1))
        #expect(test.wait(9.5, keeping: [1, 2]).reply(to: id) == nil)
        let due = test.now.advanced(bySeconds: 0.5)
        #expect(test.host.nextDeadline == due)
        #expect(test.host.tick(at: due).reply(to: id)?.error == .offerUnanswered)
    }

    @Test func `each roster change increments the revision by one, and a keep-alive does not`() {
        var test = TestHost()
        var revision: UInt64 = 1
        func expectNext(by count: UInt64 = 1, _ what: String) {
            revision += count
            #expect(test.host.roster.revision == revision, "\(what)")
            revision = test.host.roster.revision
        }
        expectNext(by: 0, "founded")
        test.admit(1)
        expectNext("joined")
        test.admit(2)
        expectNext("joined")
        _ = test.ask(.update(MemberUpdate()), caller(1))
        expectNext(by: 0, "sign of life")
        _ = test.ask(.update(MemberUpdate(name: name("Other"), isMuted: true)), caller(1))
        expectNext("changed")
        test.admit(1, name: "Other")
        expectNext("asked again, no longer muted")
        test.admit(1, name: "Other")
        expectNext(by: 0, "asked again")
        _ = test.host.update(MemberUpdate(isMuted: true), at: test.now)
        expectNext("host changed")
        _ = test.host.update(MemberUpdate(isMuted: true), at: test.now)
        expectNext(by: 0, "host said the same")
        _ = test.wait(5.5, keeping: [2])
        expectNext("away")
        _ = test.host.heard(MemberID(2)!, at: test.now)
        expectNext("heard again")
        _ = test.ask(.leave, caller(1))
        expectNext("left")
        _ = test.host.remove(MemberID(3)!, at: test.now)
        expectNext("removed")
    }

    @Test func `a closed room takes no further action`() {
        var test = TestHost(policy: .ask)
        let (_, asked) = test.send(.ask(request(1)), caller(1))
        let (waiting, again) = test.send(.ask(request(2)), caller(2))
        _ = test.host.decide(asked.questions[0].0, isWelcome: true, at: test.now)
        _ = test.host.close(at: test.now)
        let offer = SignedDescription(offer: OfferID(from: .first, number: 1), sdp: "o")
        let member = MemberID(2)!
        let question = again.questions[0].0
        #expect(test.host.close(at: test.now) == [] && test.host.leave(at: test.now) == [])
        #expect(test.host.decide(question, isWelcome: true, at: test.now) == [])
        #expect(test.host.block(question, at: test.now) == [] && test.host.block(member, at: test.now) == [])
        #expect(test.host.update(MemberUpdate(isMuted: true), at: test.now) == [])
        #expect(test.host.offer(offer, to: member, at: test.now) == [] && test.host.answer(offer, at: test.now) == [])
        #expect(test.host.endSession(offer.offer, with: member, at: test.now) == [])
        #expect(test.host.connectionLost(waiting, at: test.now) == [] && test.host.heard(member, at: test.now) == [])
    }

    @Test func `a host that leaves is succeeded by the first member that is not away`() {
        var test = TestHost()
        for number in 1...3 { test.admit(number) }
        let (stream, _) = test.listen(3)
        _ = test.wait(6, keeping: [2, 3])
        #expect(test.host.leave(at: test.now).events(on: stream) == [.closing(next: MemberID(3)!)])
        var alone = TestHost()
        alone.admit(1)
        _ = alone.wait(6)
        #expect(alone.host.leave(at: alone.now) == [.notify(.closed)])
        #expect(alone.ask(.describe, caller(1))?.error == .closed)
    }

    @Test func `a silent member of a room that was taken over is away after 5 s and gone after 60 s`() throws {
        var test = TestHost()
        test.admit(1)
        var roster = test.host.roster
        roster.host = MemberID(2)!
        roster.epoch = Epoch(2)!
        let succession = HostHandover(roster: roster, lastMember: MemberID(9)!, needsPIN: false, update: MemberUpdate())
        var next = TestHost()
        next.host = RoomHost(
            succeeding: succession, secret: [UInt8](repeating: 3, count: 32),
            configuration: RoomHost.Configuration(name: name("Guest 1"), addresses: []), at: next.now)
        next.host.policy = .all
        #expect(try wait(next) == 5)
        #expect(next.admit(5)?.member == MemberID(10))
        _ = next.wait(5, keeping: [5])
        #expect(next.host.roster.members.map(\.isAway) == [true, false, false])
        _ = next.wait(55, keeping: [5])
        #expect(next.host.roster.members.map(\.id) == [MemberID(2), MemberID(10)])
    }
}
