// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import TestSupport
import Testing

@testable import EarshotRooms

/// The times at which a guest acts, while its host answers and while it looks for the host.
@Suite struct RoomGuestTimeTests {
    private let key = TestKey(0).fingerprint

    private func isEvents(_ request: RoomRequest) -> Bool { if case .events = request { true } else { false } }

    private func update(in actions: [RoomGuest.Action]) -> (CallID, MemberUpdate)? {
        for case .call(let id, .update(let update), _) in actions { return (id, update) }
        return nil
    }

    /// Advances the time to the guest's next deadline, and does what is due.
    private func step(_ guest: inout TestGuest) throws {
        guest.now = try #require(guest.guest.nextDeadline)
        guest.actions = guest.guest.tick(at: guest.now)
    }

    @Test func `a guest has no deadline before it joins, and one of three seconds while joining`() throws {
        var guest = TestGuest()
        #expect(guest.guest.nextDeadline == nil && guest.guest.tick(at: guest.now) == [])
        guest.join()
        #expect(guest.guest.nextDeadline == guest.now.advanced(bySeconds: 3))
        #expect(guest.guest.tick(at: guest.now.advanced(bySeconds: 2.99)) == [])
        let call = try #require(guest.call { $0 == .describe })
        #expect(guest.guest.tick(at: guest.now.advanced(bySeconds: 3)).first == .cancel(call))
    }

    @Test func `a keep-alive is sent after 1500 ms, and again 500 ms after a failure`() throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        let start = guest.now
        #expect(guest.guest.tick(at: start.advanced(bySeconds: 1.49)) == [])
        try step(&guest)
        #expect(guest.now == start.advanced(bySeconds: 1.5) && guest.actions.count == 1)
        let (first, _) = try #require(update(in: guest.actions))
        try step(&guest)
        #expect(guest.now == start.advanced(bySeconds: 4.5) && guest.actions == [.cancel(first)])
        try step(&guest)
        #expect(guest.now == start.advanced(bySeconds: 5) && guest.news == [.reconnecting])
    }

    @Test func `the next update repeats the content of a failed one, except for newer values`() throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        let all = MemberUpdate(name: name("Old"), isMuted: false, addresses: [address(5)])
        let (first, sent) = try #require(update(in: guest.guest.update(all, at: guest.now)))
        #expect(sent == all)
        #expect(guest.guest.update(MemberUpdate(name: name("New")), at: guest.now) == [])
        #expect(guest.guest.update(MemberUpdate(isMuted: true), at: guest.now) == [])
        #expect(guest.guest.failed(first, .closed, at: guest.now) == [])
        #expect(guest.guest.nextDeadline == guest.now.advanced(bySeconds: 0.5))
        try step(&guest)
        let (second, again) = try #require(update(in: guest.actions))
        #expect(again == MemberUpdate(name: name("New"), isMuted: true, addresses: [address(5)]))
        let status = MemberStatus(epoch: .first, revision: test.host.roster.revision)
        #expect(
            guest.guest.replied(second, .status(status), provedBy: key, from: guest.hostAddress, at: guest.now) == [])
        try step(&guest)
        #expect(update(in: guest.actions)?.1 == MemberUpdate())
        let own = guest.guest.configuration
        #expect(own.name == name("New") && own.isMuted && own.addresses == [address(5)])
    }

    @Test func `a broken stream is reopened after 100 ms, then with doubled delays of up to 2 s`()
        throws
    {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        var stream = try #require(guest.streams.values.first)
        let status = MemberStatus(epoch: .first, revision: test.host.roster.revision)
        func waits(_ count: Int) throws -> [Double] {
            var waits: [Double] = []
            while waits.count < count {
                let failed = guest.now
                _ = guest.guest.failed(stream, .closed, at: guest.now)
                var opened: CallID?
                while opened == nil {
                    try step(&guest)
                    if let (id, _) = update(in: guest.actions) {
                        _ = guest.guest.replied(
                            id, .status(status), provedBy: key, from: guest.hostAddress, at: guest.now)
                    }
                    opened = guest.call(isEvents)
                }
                stream = try #require(opened)
                waits.append((guest.now.seconds(since: failed) * 1_000).rounded() / 1_000)
            }
            return waits
        }
        #expect(try waits(7) == [0.1, 0.2, 0.4, 0.8, 1.6, 2, 2])
        #expect(guest.guest.replied(stream, .events, provedBy: key, from: guest.hostAddress, at: guest.now) == [])
        #expect(try waits(1) == [2])
        #expect(guest.guest.replied(stream, .events, provedBy: key, from: guest.hostAddress, at: guest.now) == [])
        #expect(guest.guest.received(.comment, on: stream, at: guest.now) == [])
        #expect(try waits(2) == [0.1, 0.2])
    }

    @Test func `a busy host is asked for its events again after one second`() throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        let stream = try #require(guest.streams.values.first)
        _ = guest.guest.failed(stream, .closed, at: guest.now)
        try step(&guest)
        let second = try #require(guest.call(isEvents))
        let refused = guest.guest.replied(
            second, .refused(.busy(retryAfter: 9)), provedBy: key, from: guest.hostAddress, at: guest.now)
        #expect(refused == [] && guest.guest.isConnected)
        #expect(guest.guest.nextDeadline == guest.now.advanced(bySeconds: 1))
        try step(&guest)
        #expect(guest.call(isEvents) != nil)
    }

    @Test(arguments: [
        (RoomError.notMember, RoomEnding.dropped), (.closed, .closed), (.removed, .removed(isBlocked: false)),
        (.blocked, .removed(isBlocked: true)),
    ])
    func `a permanent refusal of a keep-alive ends membership`(error: RoomError, ending: RoomEnding) throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        try step(&guest)
        let (call, _) = try #require(update(in: guest.actions))
        var seeking = guest
        _ = guest.guest.replied(call, .refused(error), provedBy: key, from: guest.hostAddress, at: guest.now)
        #expect(guest.guest.ending == ending)
        // The host being looked for answers the stream in the same way.
        seeking.wait(4)
        let stream = try #require(seeking.call(isEvents))
        _ = seeking.guest.replied(stream, .refused(error), provedBy: key, from: guest.hostAddress, at: seeking.now)
        #expect(seeking.guest.ending == ending)
    }

    @Test func `a lost host is called at growing intervals of up to 2 s, for one minute`()
        throws
    {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        let heard = guest.now
        while guest.news != [.reconnecting] { try step(&guest) }
        var rounds: [Double] = []
        while guest.guest.ending == nil {
            try step(&guest)
            guard let call = guest.call(isEvents) else { continue }
            rounds.append((guest.now.seconds(since: heard) * 1_000).rounded() / 1_000)
            #expect(guest.guest.failed(call, .unreachable, at: guest.now) == [])
        }
        #expect(rounds.prefix(3) == [5, 5.25, 5.75])
        // A round every second until fifteen seconds after the host was missed, then every two.
        let later = (6...21).map { Double($0) + 0.75 } + Array(stride(from: 23.75, to: 60, by: 2))
        #expect(Array(rounds.dropFirst(3)) == later)
        #expect(guest.guest.ending == .lost && guest.now == heard.advanced(bySeconds: 60))
        #expect(guest.guest.nextDeadline == nil)
    }

    /// A guest that begins to look for its host, with a member that joined after it and has not answered yet.
    private func seeking() throws -> (TestGuest, Member) {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        for action in test.send(.ask(request(2)), caller(2)).1 { _ = guest.deliver(action) }
        while guest.news != [.reconnecting] { try step(&guest) }
        try step(&guest)
        return (guest, try #require(guest.guest.roster?.member(with: TestKey(2).fingerprint)))
    }

    @Test func `the other members have one second to respond before a guest takes over`() throws {
        for (seconds, isSoEarly) in [(0.99, true), (1, false)] {
            var (guest, _) = try seeking()
            let since = guest.now
            let first = try #require(guest.call(isEvents))
            _ = guest.guest.failed(first, .unreachable, at: guest.now)
            while guest.call(isEvents) == nil || guest.now == since { try step(&guest) }
            let call = try #require(guest.call(isEvents))
            guest.now = since.advanced(bySeconds: seconds)
            _ = guest.guest.failed(call, .refused, at: guest.now)
            #expect((guest.guest.ending == nil) == isSoEarly, "after \(seconds) s")
        }
    }

    @Test func `a refused connection or a wrong key shows that the host is gone, other failures do not`() throws {
        for (failure, showsHostEnded) in [
            (RequestFailure.refused, true), (.wrongKey(TestKey(9).fingerprint), true), (.unreachable, false),
            (.timedOut, false), (.closed, false), (.invalidResponse(.notFound), false),
        ] {
            var test = TestHost()
            var guest = TestGuest.inside(&test)
            try step(&guest)
            let (call, _) = try #require(update(in: guest.actions))
            let actions = guest.guest.failed(call, failure, at: guest.now)
            #expect(
                actions.contains(.notify(.reconnecting)) == showsHostEnded && guest.guest.isConnected != showsHostEnded)
        }
    }

    @Test func `a guest says that it has lost its host, and one without a room that it is no host`() throws {
        let (seeking, _) = try seeking()
        var guest = seeking
        let reply = guest.guest.received(.describe, as: RequestID(4), at: guest.now)
        guard case .reply(RequestID(4), .room(let info))? = reply.last else { Issue.record("\(reply)"); return }
        #expect(!info.isHostHeard && info.role == .guest && info.memberCount == 3 && info.epoch == .first)
        #expect(info.capacity == 8 && !info.needsPIN && info.nonce == nil && info.hostName == name("Hanna"))
        var other = TestGuest()
        #expect(
            other.guest.received(.describe, as: RequestID(5), at: other.now)
                == [.reply(RequestID(5), .refused(.notHost))])
    }

    @Test func `a pending offer fails immediately when the host is lost`() throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        let (offer, _) = try guest.offer(to: .first)
        let stream = try #require(guest.streams.values.first)
        _ = guest.guest.failed(stream, .closed, at: guest.now)
        try step(&guest)
        let again = try #require(guest.call(isEvents))
        guest.actions = guest.guest.failed(again, .refused, at: guest.now)
        #expect(guest.news.prefix(2) == [.unanswered(offer, .memberAway), .reconnecting])
    }

    @Test func `a guest that leaves notifies its host, or the host that it has asked`() throws {
        var test = TestHost(policy: .ask)
        var guest = TestGuest()
        #expect(guest.guest.leave(at: guest.now) == [.notify(.over(.left))])
        guest = TestGuest()
        guest.join()
        let describing = try #require(guest.call { $0 == .describe })
        var early = guest
        #expect(early.guest.leave(at: early.now) == [.cancel(describing), .notify(.over(.left))])
        guest.pump(&test)
        guest.actions = guest.guest.leave(at: guest.now)
        #expect(guest.call { $0 == .leave } != nil && guest.guest.ending == .left)
        test.host.policy = .all
        var inside = TestGuest.inside(&test)
        var (seeking, _) = try seeking()
        inside.actions = inside.guest.leave(at: inside.now)
        #expect(inside.call { $0 == .leave } != nil && inside.guest.ending == .left)
        let call = try #require(inside.call { $0 == .leave })
        #expect(inside.guest.replied(call, .done, provedBy: key, from: inside.hostAddress, at: inside.now) == [])
        seeking.actions = seeking.guest.leave(at: seeking.now)
        #expect(seeking.call { $0 == .leave } == nil && seeking.guest.ending == .left)
    }
}
