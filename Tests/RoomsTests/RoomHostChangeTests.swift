// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import TestSupport
import Testing

@testable import EarshotRooms

/// Members that return, change, leave and are removed.
@Suite struct RoomHostChangeTests {
    @Test func `the room's description matches its roster`() throws {
        var test = TestHost(capacity: 3)
        test.admit(1)
        let reply = test.ask(.describe, caller(2))
        let info = try #require(reply?.info)
        let roster = test.host.roster
        #expect(info.room == roster.room && info.name == name("Studio") && info.epoch == .first)
        #expect(info.role == .host && info.isHostHeard && info.hostName == name("Hanna"))
        #expect(info.hostKey == TestKey(0).fingerprint && info.memberCount == 2 && info.capacity == 3)
        #expect(!info.needsPIN && info.nonce == nil)
    }

    @Test func `a member that asks again gets its new port, addresses and mute, and keeps its number`() {
        var test = TestHost()
        test.admit(1)
        _ = test.ask(.update(MemberUpdate(isMuted: true)), caller(1))
        let ask = JoinRequestBody(name: name("Guest 1"), addresses: [address(1), address(60)], port: 5_000)
        let caller = RequestOrigin(address: address(50), key: TestKey(1).fingerprint)
        #expect(test.ask(.ask(ask), caller)?.admission?.member == MemberID(2))
        let member = test.host.roster.members[1]
        #expect(member.addresses == [address(50), address(1), address(60)] && member.port == 5_000)
        #expect(!member.isMuted && member.name == name("Guest 1"))
    }

    @Test func `a member that asks again keeps its recording and its answer only if it sends them again`() {
        var test = TestHost()
        test.admit(1)
        test.admit(2)
        _ = test.ask(.update(MemberUpdate(isRecording: true, allowsRecording: true)), caller(1))
        var ask = request(1)
        (ask.recording, ask.allowsRecording) = (true, true)
        let before = test.host.roster
        #expect(test.ask(.ask(ask), caller(1))?.admission?.roster == before && test.host.roster == before)
        // A new process has not answered, nor has an older version.
        let (id, actions) = test.send(.ask(request(1)), caller(1))
        let member = test.host.roster.members[1]
        #expect(!member.isRecording && member.allowsRecording == nil)
        #expect(actions.reply(to: id)?.admission?.roster == test.host.roster)
        #expect(actions.news == [.changed([.recording(member, false), .recordingConsent(member, false)])])
    }

    @Test func `a member that was away keeps its recording and its answer`() {
        var test = TestHost()
        test.admit(1)
        test.admit(2)
        _ = test.ask(.update(MemberUpdate(isRecording: true, allowsRecording: false)), caller(1))
        _ = test.wait(20, keeping: [2])
        let away = test.host.roster.members[1]
        #expect(away.isAway && away.isRecording && away.allowsRecording == false)
        _ = test.ask(.update(MemberUpdate()), caller(1))
        let back = test.host.roster.members[1]
        #expect(!back.isAway && back.isRecording && back.allowsRecording == false)
    }

    @Test func `a new room's host has its state from the start`() {
        var configuration = RoomHost.Configuration(name: name("Hanna"), addresses: [address(100)])
        configuration.isMuted = true
        configuration.isRecording = true
        configuration.allowsRecording = false
        let host = RoomHost(
            room: TestHost().host.roster.room, name: name("Studio"), key: TestKey(0).fingerprint,
            secret: [UInt8](repeating: 7, count: 32), configuration: configuration)
        #expect(host.member.isMuted && host.member.isRecording && host.member.allowsRecording == false)
        #expect(host.roster.revision == 1)
    }

    @Test func `a member that is away and asks again is present immediately`() {
        var test = TestHost()
        test.admit(1)
        test.admit(2)
        let (stream, _) = test.listen(2)
        _ = test.wait(6, keeping: [2])
        #expect(test.host.roster.members[1].isAway)
        let (id, actions) = test.send(.ask(request(1)), caller(1))
        #expect(actions.reply(to: id)?.admission?.roster == test.host.roster)
        #expect(!test.host.roster.members[1].isAway && actions.events(on: stream) == [.roster(test.host.roster)])
        #expect(test.wait(4.5, keeping: [2]).news == [])
    }

    @Test func `addresses sent by a member are listed after the one seen by the host`() {
        var test = TestHost()
        test.admit(1)
        let moved = RequestOrigin(address: address(70), key: TestKey(1).fingerprint)
        let (id, actions) = test.send(.update(MemberUpdate(addresses: [address(71), address(70)])), moved)
        #expect(test.host.roster.members[1].addresses == [address(70), address(71)])
        #expect(actions.news == [.changed([.moved(test.host.roster.members[1])])])
        #expect(actions.reply(to: id)?.error == nil)
        _ = test.host.update(MemberUpdate(addresses: [address(80)]), at: test.now)
        #expect(test.host.member.addresses == [address(80)])
    }

    @Test func `a browser is blocked at its last address, and native guests there are not`() throws {
        var test = TestHost()
        let reply = test.ask(.ask(request(9)), RequestOrigin(address: address(9)))
        let admission = try #require(reply?.admission)
        _ = test.ask(.update(MemberUpdate()), RequestOrigin(address: address(3), token: admission.token))
        #expect(test.host.block(admission.member, at: test.now).news.count == 1)
        #expect(test.ask(.ask(request(9)), RequestOrigin(address: address(3)))?.error == .blocked)
        #expect(test.ask(.ask(request(9)), RequestOrigin(address: address(9)))?.error == nil)
        #expect(test.ask(.ask(request(3)), caller(3))?.error == nil)
    }

    @Test func `a browser blocked while asking stays blocked, and so are others at its address`() throws {
        var test = TestHost(policy: .ask)
        let (id, actions) = test.send(.ask(request(9)), RequestOrigin(address: address(9)))
        let question = try #require(actions.questions.first?.0)
        let blocked = test.host.block(question, at: test.now)
        #expect(blocked == [.reply(id, .refused(.blocked)), .withdraw(question, .blocked)])
        #expect(test.ask(.ask(request(9)), RequestOrigin(address: address(9)))?.error == .blocked)
        #expect(test.host.block(question, at: test.now) == [])
    }

    @Test func `a guest that was removed, rejoined and left counts as having left`() {
        var test = TestHost()
        test.admit(1)
        _ = test.host.remove(MemberID(2)!, at: test.now)
        test.admit(1)
        #expect(test.ask(.leave, caller(1)) == .done)
        #expect(test.ask(.events(after: nil), caller(1))?.error == .notMember)
        #expect(test.host.remove(MemberID(2)!, at: test.now) == [])
    }

    @Test func `a member's event stream ends when it leaves`() {
        var test = TestHost()
        test.admit(1)
        let (stream, _) = test.listen(1)
        let (id, actions) = test.send(.leave, caller(1))
        #expect(actions.first == .reply(id, .done) && actions.contains(.end(stream)))
        #expect(test.host.roster.members.count == 1 && test.host.nextDeadline == nil)
    }

    @Test func `a member's second stream replaces and ends the first`() {
        var test = TestHost()
        test.admit(1)
        let (first, _) = test.listen(1)
        let (second, actions) = test.send(.events(after: nil), caller(1))
        #expect(actions.events(on: first) == [.replaced] && actions.contains(.end(first)))
        #expect(actions.reply(to: second) == .events && actions.items(on: second).first == .retry(1_000))
        // The end of the first does not end the second.
        #expect(test.host.connectionLost(first, at: test.now) == [])
        #expect(test.host.update(MemberUpdate(isMuted: true), at: test.now).events(on: second).count == 1)
    }

    @Test func `a change that exceeds the rate limit is refused`() {
        var test = TestHost()
        test.admit(1)
        for number in 0..<40 { _ = test.ask(.update(MemberUpdate(isMuted: number % 2 == 0)), caller(1)) }
        let before = test.host.roster
        #expect(test.ask(.update(MemberUpdate(isMuted: true)), caller(1))?.error == .busy(retryAfter: 1))
        #expect(test.host.roster == before && !before.members[1].isMuted)
    }

    @Test func `a rate limiter is replenished when its window is over, and not before`() {
        var rateLimiter = RateLimiter(2, inSeconds: 30)
        #expect(
            rateLimiter.acquire(at: .seconds(10)) && rateLimiter.acquire(at: .seconds(39))
                && !rateLimiter.acquire(at: .seconds(39.9)))
        #expect(
            rateLimiter.acquire(at: .seconds(40)) && rateLimiter.acquire(at: .seconds(41))
                && !rateLimiter.acquire(at: .seconds(69)))
    }

    @Test func `an event queue keeps the last 32 events, and returns those after a given number`() {
        var queue = EventQueue()
        #expect(queue.events(after: 0)?.count == 0 && queue.events(after: 1) == nil)
        for number in 1...40 { #expect(queue.add("e", "\(number)", epoch: .first).id == "1-\(number)") }
        #expect(queue.count == 32 && queue.last == 40)
        #expect(queue.events(after: 8)?.map(\.data) == (9...40).map { "\($0)" })
        #expect(queue.events(after: 7) == nil && queue.events(after: 41) == nil)
        #expect(queue.events(after: 39)?.map(\.data) == ["40"] && queue.events(after: 40)?.isEmpty == true)
    }

    @Test func `an event queue does not exceed its size in bytes`() {
        var queue = EventQueue()
        let quarter = String(repeating: "a", count: EventQueue.maximumSize / 4)
        for _ in 0..<4 { _ = queue.add("e", quarter, epoch: .first) }
        #expect(queue.count == 4 && queue.size == EventQueue.maximumSize)
        _ = queue.add("e", "b", epoch: .first)
        #expect(queue.count == 4 && queue.size == EventQueue.maximumSize / 4 * 3 + 1)
        #expect(queue.events(after: 1)?.count == 4 && queue.events(after: 0) == nil)
    }
}
