// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import TestSupport
import Testing

@testable import EarshotRooms

@Suite struct RoomGuestSeekingTests {
    @Test func `a silent host is searched for, and a guest that is alone does not take over`() {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        guest.wait(5.1)
        #expect(guest.news.last == .reconnecting && !guest.guest.isConnected)
        guest.wait(50)
        #expect(guest.guest.ending == nil)
        guest.wait(6)
        #expect(guest.guest.ending == .lost)
    }

    @Test func `a guest reconnects to a host that responds again, and gets what it missed`() {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        guest.wait(20)
        test.now = guest.now
        _ = test.host.tick(at: test.now)
        test.admit(2)
        guest.actions = []
        guest.wait(2.5)
        guest.pump(&test)
        #expect(guest.news.contains(.reconnected) && guest.guest.roster == test.host.roster)
        #expect(guest.guest.memberID == MemberID(2))
    }

    @Test func `a host whose process ended is succeeded promptly by its only guest`() throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        let stream = try #require(guest.streams.values.first)
        guest.actions = guest.guest.failed(stream, .closed, at: guest.now)
        guest.wait(0.2)
        let again = try #require(guest.call { if case .events = $0 { true } else { false } })
        guest.actions = guest.guest.failed(again, .refused, at: guest.now)
        guest.wait(0.1)
        let retry = try #require(guest.call { if case .events = $0 { true } else { false } })
        guest.actions += guest.guest.failed(retry, .refused, at: guest.now)
        guest.wait(1)
        let succession = guest.actions.compactMap { if case .becomeHost(let next) = $0 { next } else { nil } }
        #expect(succession.first?.roster.epoch == Epoch(2) && succession.first?.roster.host == MemberID(2))
        #expect(succession.first?.roster.members.map(\.isAway) == [true, false])
        #expect(guest.guest.ending == .becameHost)
    }

    @Test func `a host that leaves hands over immediately`() throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        guest.actions = []
        for action in test.host.leave(at: test.now) { guest.actions += guest.deliver(action) }
        guard case .becomeHost(let succession)? = guest.actions.last else { Issue.record("no host"); return }
        #expect(succession.roster.members.map(\.id) == [MemberID(2)])
        var configuration = RoomHost.Configuration(name: name("Guest 1"), addresses: [])
        configuration.policy = .all
        var next = TestHost()
        next.host = RoomHost(
            succeeding: succession, secret: [UInt8](repeating: 3, count: 32), configuration: configuration, at: next.now
        )
        #expect(next.admit(5)?.member == MemberID(3) && next.host.roster.epoch == Epoch(2))
    }

    @Test func `the next host does not reuse the number of a member that left`() throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        for action in test.send(.ask(request(2)), caller(2)).1 { _ = guest.deliver(action) }
        for action in test.send(.leave, caller(2)).1 { _ = guest.deliver(action) }
        #expect(guest.guest.roster?.members.count == 2)
        guest.actions = []
        for action in test.host.leave(at: test.now) { guest.actions += guest.deliver(action) }
        let succession = try #require(successions(guest).first)
        var next = TestHost()
        next.host = RoomHost(
            succeeding: succession, secret: [UInt8](repeating: 3, count: 32),
            configuration: RoomHost.Configuration(name: name("Guest 1"), addresses: []), at: next.now)
        next.host.policy = .all
        #expect(next.admit(5)?.member == MemberID(4))
    }

    @Test func `an unsigned offer in the old host's name, sent by the new host, is reported as forged`() throws {
        var (test, guest, _) = try seeking(isFirst: false)
        try notify(
            &guest,
            try answer(&test) {
                $0.role = .host; $0.epoch = Epoch(2)!
            })
        let call = try #require(guest.call { if case .events = $0 { true } else { false } })
        _ = guest.guest.replied(
            call, .events, provedBy: TestKey(2).fingerprint, from: SocketAddress(address(2), port: 47_400),
            at: guest.now)
        let host = test.host.member
        let offer = RoomEvent.offer(SignedDescription(offer: OfferID(from: host.id, number: 1), sdp: "x"))
        guest.actions = guest.guest.received(
            .event(ServerSentEvent(id: "2-1", name: offer.name, data: offer.data)), on: call, at: guest.now)
        #expect(guest.news == [.forged(from: host)])
    }

    /// A guest whose host does not answer, with another member that joined after it or before.
    private func seeking(isFirst: Bool) throws -> (TestHost, TestGuest, Member) {
        var test = TestHost()
        if !isFirst { test.admit(2) }
        var guest = TestGuest.inside(&test)
        if isFirst { for action in test.send(.ask(request(2)), caller(2)).1 { _ = guest.deliver(action) } }
        guest.actions = []
        guest.wait(5.1)
        let other = try #require(guest.guest.roster?.member(with: TestKey(2).fingerprint))
        return (test, guest, other)
    }

    /// Returns the other member's answer.
    private func answer(_ test: inout TestHost, _ change: (inout RoomInfo) -> Void) throws -> RoomReply {
        guard case .room(var info)? = test.ask(.describe, caller(2)) else { throw RoomError.notFound }
        info.role = .guest
        change(&info)
        return .room(info)
    }

    private func notify(_ guest: inout TestGuest, _ reply: RoomReply) throws {
        let probe = try #require(guest.call { $0 == .describe })
        guest.actions += guest.guest.replied(
            probe, reply, provedBy: TestKey(2).fingerprint, from: SocketAddress(address(2), port: 47_400), at: guest.now
        )
    }

    private func successions(_ guest: TestGuest) -> [HostHandover] {
        guest.actions.compactMap { if case .becomeHost(let succession) = $0 { succession } else { nil } }
    }

    @Test func `a host seen at another address is called there, and the old call is cancelled`()
        throws
    {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        guest.wait(5.1)
        let old = try #require(guest.call { if case .events = $0 { true } else { false } })
        guest.actions = guest.guest.located(
            TestKey(0).fingerprint, at: SocketAddress(address(150), port: 47_400), time: guest.now)
        #expect(guest.actions.contains(.cancel(old)))
        let new = try #require(guest.call { if case .events = $0 { true } else { false } })
        #expect(new != old && !guest.actions.contains(.cancel(new)))
    }

    @Test func `a session is answered and ended only while the host is connected`() throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        let offer = OfferID(from: test.host.member.id, number: 1)
        for isHeard in [true, false] {
            let answered = guest.guest.answer("a", to: offer, at: guest.now)
            let ended = guest.guest.endSession(offer, answeredBy: test.host.member.id, at: guest.now)
            #expect(answered.count == (isHeard ? 1 : 0) && ended.count == (isHeard ? 1 : 0))
            if isHeard { guest.wait(5.1) }
        }
    }

    @Test func `no guest takes over while a member still hears the host`() throws {
        var (test, guest, _) = try seeking(isFirst: true)
        for _ in 0..<4 {
            try notify(&guest, try answer(&test) { $0.isHostHeard = true })
            guest.wait(2)
        }
        #expect(successions(guest).isEmpty && guest.guest.ending == nil)
        try notify(&guest, try answer(&test) { $0.isHostHeard = false })
        let succession = try #require(successions(guest).first)
        #expect(succession.roster.epoch == Epoch(2) && succession.roster.members.map(\.isAway) == [true, false, false])
    }

    @Test func `a later member waits for an earlier one to take over, unless that is unreachable`() throws {
        var (test, guest, _) = try seeking(isFirst: false)
        for _ in 0..<4 {
            try notify(&guest, try answer(&test) { $0.isHostHeard = false })
            guest.wait(2)
        }
        #expect(successions(guest).isEmpty && guest.guest.ending == nil)
        guest.wait(7)
        // Nobody answers any more, so this one may be cut off; then the host's machine refuses the connection.
        #expect(successions(guest).isEmpty)
        let attempt = try #require(guest.call { if case .events = $0 { true } else { false } })
        guest.actions += guest.guest.failed(attempt, .refused, at: guest.now)
        guest.wait(1)
        #expect(successions(guest).count == 1)
    }

    @Test func `a member that took over is followed only under its own key and with a later epoch`() throws {
        var (test, guest, other) = try seeking(isFirst: false)
        try notify(
            &guest,
            try answer(&test) {
                $0.role = .host; $0.epoch = .first; $0.hostKey = TestKey(2).fingerprint
            })
        var streams = guest.actions.compactMap { action -> Endpoint? in
            if case .call(_, .events, let endpoint) = action { endpoint } else { nil }
        }
        let place = try #require(Endpoint(other))
        #expect(!streams.contains(place))
        guest.wait(1)
        try notify(
            &guest,
            try answer(&test) {
                $0.role = .host; $0.epoch = Epoch(2)!
            })
        streams = guest.actions.compactMap { if case .call(_, .events, let endpoint) = $0 { endpoint } else { nil } }
        #expect(streams.last == Endpoint(other))
        let call = try #require(guest.call { if case .events = $0 { true } else { false } })
        let key = TestKey(2).fingerprint
        var lost = guest
        guest.actions = guest.guest.replied(
            call, .events, provedBy: key, from: SocketAddress(address(2), port: 47_400), at: guest.now)
        #expect(guest.news == [.handedOver(to: other)] && guest.guest.isConnected)
        // Before the new roster nothing is offered: it would be signed for the old epoch.
        let (early, unsent) = try guest.offer(to: other.id)
        #expect(unsent == [.notify(.unanswered(early, .offerUnanswered))])
        var roster = test.host.roster
        roster.epoch = Epoch(2)!
        roster.host = other.id
        let event = RoomEvent.roster(roster)
        guest.actions = guest.guest.received(
            .event(ServerSentEvent(id: "2-1", name: event.name, data: event.data)), on: call, at: guest.now)
        #expect(guest.guest.roster == roster && guest.news.contains(.changed([.host(other)])))
        guard case .call? = try guest.offer(to: other.id).1.first else {
            Issue.record("no offer to the new host")
            return
        }
        // If it had not known this guest, the guest would have asked again.
        lost.actions = lost.guest.replied(
            call, .refused(.notMember), provedBy: key, from: SocketAddress(address(2), port: 47_400), at: lost.now)
        #expect(lost.news == [.askingAgain(other)] && lost.call { $0 == .describe } != nil && lost.guest.roster == nil)
    }

    @Test func `a lost host is called at a new address only if seen there with its own key`() throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        guest.wait(6)
        let place = SocketAddress(address(77), port: 47_400)
        #expect(guest.guest.located(TestKey(9).fingerprint, at: place, time: guest.now).isEmpty)
        guest.wait(3)
        guest.actions = guest.guest.located(TestKey(0).fingerprint, at: place, time: guest.now)
        let endpoints = guest.actions.compactMap {
            if case .call(_, .events, let endpoint) = $0 { endpoint } else { nil }
        }
        #expect(endpoints.last?.addresses == [place, guest.hostAddress])
        #expect(endpoints.last?.key == .exactly(TestKey(0).fingerprint))
    }

    @Test(arguments: [RoomInfo.Role.host, .guest])
    func `a lost host is called at its announced address only if it still hosts the room`(
        role: RoomInfo.Role
    ) throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        let place = SocketAddress(address(77), port: 47_400)
        guard case .room(let info) = try answer(&test, { $0.role = role }) else { throw RoomError.notFound }
        guest.wait(9)
        #expect(guest.guest.isHostLost)
        // Another key proves nothing about this host.
        let other = guest.guest.described(info, provedBy: TestKey(9).fingerprint, from: place, at: guest.now)
        #expect(!other.contains { if case .call = $0 { true } else { false } })
        guest.actions = guest.guest.described(info, provedBy: TestKey(0).fingerprint, from: place, at: guest.now)
        let endpoints = guest.actions.compactMap {
            if case .call(_, .events, let endpoint) = $0 { endpoint } else { nil }
        }
        // A process with the host's key that no longer has the room is not the host.
        #expect(endpoints.map(\.addresses) == (role == .host ? [[place, guest.hostAddress]] : []))
    }
}
