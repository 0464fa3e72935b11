// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import TestSupport
import Testing

@testable import EarshotRooms

@Suite struct RoomHostMemberTests {
    @Test func `a new member gets the roster, and the others are notified of the new member`() throws {
        var test = TestHost()
        test.admit(1)
        let (stream, first) = test.listen(1)
        #expect(first == [.roster(test.host.roster)])
        let (_, actions) = test.send(.ask(request(2)), caller(2))
        #expect(actions.events(on: stream) == [.roster(test.host.roster)])
        #expect(actions.news == [.changed([.joined(test.host.roster.members[2])])])
        #expect(test.listen(2).1 == [.roster(test.host.roster)])
    }

    @Test func `changes of name and mute are sent to all, and an update without a change is not`() {
        var test = TestHost()
        test.admit(1)
        test.admit(2)
        let (stream, _) = test.listen(2)
        let (id, muted) = test.send(.update(MemberUpdate(isMuted: true)), caller(1))
        #expect(muted.events(on: stream) == [.roster(test.host.roster)] && test.host.roster.members[1].isMuted)
        #expect(muted.reply(to: id) == .status(MemberStatus(epoch: .first, revision: test.host.roster.revision)))
        #expect(test.send(.update(MemberUpdate(isMuted: true)), caller(1)).1.events(on: stream) == [])
        let renamed = test.host.update(MemberUpdate(name: name("Hugo"), isMuted: true), at: test.now)
        #expect(renamed.events(on: stream) == [.roster(test.host.roster)] && test.host.member.name == name("Hugo"))
        let own = test.host.roster.members[0]
        #expect(renamed.news == [.changed([.renamed(own, was: name("Hanna")), .muted(own, true)])])
    }

    @Test func `a member's recording and consent are sent to all, and so are the host's`() {
        var test = TestHost()
        test.admit(1)
        test.admit(2)
        let (stream, _) = test.listen(2)
        let before = test.host.roster
        let (id, recording) = test.send(.update(MemberUpdate(isRecording: true)), caller(1))
        #expect(recording.events(on: stream) == [.roster(test.host.roster)])
        #expect(recording.news == [.changed([.recording(test.host.roster.members[1], true)])])
        let status = MemberStatus(epoch: .first, revision: before.revision + 1)
        #expect(recording.reply(to: id) == .status(status) && test.host.roster.revision == status.revision)
        #expect(test.send(.update(MemberUpdate(isRecording: true)), caller(1)).1.events(on: stream) == [])
        // Only the sender has changed, and only what it sent.
        var expected = before
        expected.members[1].isRecording = true
        expected.revision += 1
        #expect(test.host.roster == expected)
        _ = test.ask(.update(MemberUpdate(allowsRecording: false)), caller(2))
        expected.members[2].allowsRecording = false
        expected.revision += 1
        #expect(test.host.roster == expected)
        let own = test.host.update(MemberUpdate(isRecording: true, allowsRecording: true), at: test.now)
        #expect(own.events(on: stream) == [.roster(test.host.roster)])
        let host = test.host.member
        #expect(host.isRecording && host.allowsRecording == true)
        #expect(own.news == [.changed([.recording(host, true), .recordingConsent(host, true)])])
        let ended = test.host.update(MemberUpdate(isRecording: false), at: test.now)
        #expect(ended.news == [.changed([.recording(test.host.member, false)])])
        #expect(test.host.member.allowsRecording == true)
    }

    @Test func `a browser may record and answer as any member`() throws {
        var test = TestHost()
        var ask = request(9)
        ask.allowsRecording = true
        let reply = test.ask(.ask(ask), RequestOrigin(address: address(9)))
        let admission = try #require(reply?.admission)
        #expect(test.host.roster.members[1].key == nil && test.host.roster.members[1].allowsRecording == true)
        let browser = RequestOrigin(address: address(9), token: admission.token)
        let update = MemberUpdate(isRecording: true, allowsRecording: false)
        #expect(test.ask(.update(update), browser)?.error == nil)
        let member = test.host.roster.members[1]
        #expect(member.isRecording && member.allowsRecording == false)
    }

    @Test func `every request of a caller that was not admitted is refused`() {
        var test = TestHost(policy: .ask)
        let offer = SignedDescription(offer: OfferID(from: .first, number: 1), sdp: "")
        for caller in [caller(1), RequestOrigin(address: address(1)), RequestOrigin(address: address(1), token: "00")] {
            for request: RoomRequest in [
                .events(after: nil), .update(MemberUpdate(isMuted: true)), .leave, .offer(offer, to: .first),
                .answer(offer),
                .end(offer.offer, with: .first),
            ] {
                #expect(test.ask(request, caller)?.error == .notMember)
            }
        }
    }

    @Test func `a browser is recognized only by its token`() throws {
        var test = TestHost()
        let browser = RequestOrigin(address: address(9))
        let reply = test.ask(.ask(request(9)), browser)
        let admission = try #require(reply?.admission)
        let token = try #require(admission.token)
        #expect(test.host.roster.members[1].key == nil && test.host.roster.members[1].port == 0)
        #expect(test.ask(.update(MemberUpdate()), browser)?.error == .notMember)
        #expect(test.ask(.update(MemberUpdate()), RequestOrigin(address: address(3), token: token))?.error == nil)
        let parts = HTTPMessage(fields: ["authorization": "bearer \(token)"])
        #expect(
            test.ask(.update(MemberUpdate()), RequestOrigin(address: address(3), key: nil, parts: parts))?.error == nil)
        let secondReply = test.ask(.ask(request(9)), browser)
        let second = try #require(secondReply?.admission)
        #expect(second.token != token && second.member != admission.member)
    }

    @Test func `a member is away after 5 s of silence, and has left after a minute`() {
        var test = TestHost()
        test.admit(1)
        test.admit(2)
        let (stream, _) = test.listen(1)
        #expect(!test.wait(4.5, keeping: [2]).contains { $0 == .end(stream) })
        let away = test.wait(1, keeping: [2])
        #expect(away.contains(.end(stream)) && test.host.roster.members[1].isAway)
        #expect(away.news == [.changed([.away(test.host.roster.members[1], true)])])
        #expect(away.contains(.probe(Endpoint(test.host.roster.members[1])!)))
        _ = test.wait(54, keeping: [2])
        #expect(test.host.roster.members.count == 3)
        _ = test.wait(1, keeping: [2])
        #expect(test.host.roster.members.map(\.id.number) == [1, 3])
        #expect(test.ask(.events(after: nil), caller(1))?.error == .notMember)
    }

    @Test func `a member whose media arrives stays present without sending requests`() {
        var test = TestHost()
        test.admit(1)
        test.admit(2)
        var news: [RoomHost.Notification] = []
        for _ in 0..<15 {
            news += test.wait(4.9, keeping: [2]).news
            // The session acts at the time that the host has returned.
            test.now = test.now.advanced(bySeconds: 0.2)
            news += test.host.heard(MemberID(2)!, at: test.now).news
        }
        #expect(news.isEmpty && test.host.roster.members.count == 3)
        #expect(test.wait(6, keeping: [2]).news == [.changed([.away(test.host.roster.members[1], true)])])
        let back = test.host.heard(MemberID(2)!, at: test.now).news
        #expect(back == [.changed([.away(test.host.roster.members[1], false)])])
    }

    @Test func `a member that returns within a minute keeps its place, and gets the missed events`() throws {
        var test = TestHost()
        test.admit(1)
        test.admit(2)
        let (stream, actions) = test.send(.events(after: nil), caller(1))
        let last = try #require(actions.serverEvents(on: stream).last?.id.flatMap { EventID($0) })
        _ = test.wait(20, keeping: [2])
        _ = test.ask(.update(MemberUpdate(isMuted: true)), caller(2))
        let roster = test.host.roster
        let (_, missed) = test.listen(1, after: last)
        #expect(missed.count == 3 && missed.last == .roster(test.host.roster))
        #expect(missed.contains(.roster(roster)))
        #expect(test.host.roster.members.map(\.id.number) == [1, 2, 3] && !test.host.roster.members[1].isAway)
    }

    @Test func `a member that missed too many events gets the whole roster`() {
        var test = TestHost()
        test.admit(1)
        test.admit(2)
        for number in 0..<100 { _ = test.ask(.update(MemberUpdate(isMuted: number % 2 == 0)), caller(2)) }
        for id in [EventID("1-3"), EventID("1-5000"), EventID("7-100"), nil] {
            #expect(test.listen(1, after: id).1 == [.roster(test.host.roster)])
        }
        let queue = test.host.memberConnections.values.map(\.queue)
        #expect(queue.allSatisfy { $0.count <= EventQueue.capacity && $0.size <= EventQueue.maximumSize })
    }

    @Test func `a restarted process with the same key keeps its place, and its older stream ends`() {
        var test = TestHost()
        test.admit(1)
        test.admit(2)
        let (stream, _) = test.listen(1)
        let (id, actions) = test.send(.ask(request(1, name: "New")), caller(1))
        guard case .admitted(let admission) = actions.reply(to: id) else { Issue.record("not in"); return }
        #expect(admission.member == MemberID(2) && admission.roster[admission.member]?.name == name("New"))
        #expect(actions.events(on: stream) == [.replaced] && actions.contains(.end(stream)))
        #expect(test.host.roster.members.count == 3)
    }

    @Test func `a removed guest may ask again, and a blocked one may not`() throws {
        var test = TestHost()
        test.admit(1)
        let (stream, _) = test.listen(1)
        let removed = test.host.remove(MemberID(2)!, at: test.now)
        #expect(removed.events(on: stream) == [.removed(isBlocked: false)] && removed.contains(.end(stream)))
        // Even if its stream was not open at that time.
        #expect(test.ask(.update(MemberUpdate()), caller(1))?.error == .removed)
        #expect(test.ask(.events(after: nil), caller(1))?.error == .removed)
        #expect(test.ask(.events(after: nil), caller(2))?.error == .notMember)
        let againMade = test.admit(1)
        let again = try #require(againMade)
        let blocked = test.host.block(again.member, at: test.now)
        #expect(blocked.contains(.block(TestKey(1).fingerprint, as: name("Guest 1"))))
        #expect(test.ask(.ask(request(1)), caller(1))?.error == .blocked)
        // Without its key it is a browser, which is identified by its address.
        let reply = test.ask(.ask(request(1)), RequestOrigin(address: address(1)))
        let browser = try #require(reply?.admission)
        let page = RequestOrigin(address: address(1), token: browser.token)
        #expect(test.ask(.events(after: nil), page)?.error == nil)
        _ = test.host.block(browser.member, at: test.now)
        #expect(test.ask(.events(after: nil), page)?.error == .removed)
        #expect(test.ask(.ask(request(1)), RequestOrigin(address: address(1)))?.error == .blocked)
        #expect(test.host.remove(.first, at: test.now) == [])
    }

    @Test func `a guest blocked while asking stays blocked`() {
        var test = TestHost(policy: .ask)
        let (id, actions) = test.send(.ask(request(1)), caller(1))
        #expect(test.host.block(actions.questions[0].0, at: test.now).reply(to: id)?.error == .blocked)
        #expect(test.ask(.ask(request(1)), caller(1))?.error == .blocked)
    }

    @Test func `a host whose machine slept for minutes drops no member`() {
        var test = TestHost(policy: .all)
        test.admit(1)
        test.admit(2)
        let (stream, _) = test.listen(1)
        test.now = test.now.advanced(bySeconds: 600)
        let woken = test.host.tick(at: test.now)
        #expect(!woken.contains(.end(stream)) && !test.host.roster.members.contains(where: \.isAway))
        _ = test.wait(4.5, keeping: [1])
        #expect(test.host.roster.members.map(\.isAway) == [false, false, true])
        test.now = test.now.advanced(bySeconds: 3_600)
        _ = test.host.tick(at: test.now)
        #expect(test.host.roster.members.count == 3)
    }

    @Test func `an idle stream gets a keep-alive every two seconds`() {
        var test = TestHost()
        test.admit(1)
        let (stream, _) = test.listen(1)
        let items = test.wait(10, keeping: [1]).items(on: stream)
        #expect(items == [.comment, .comment, .comment, .comment, .comment])
    }

    @Test func `closing ends the room for all, and leaving names the next host`() {
        var test = TestHost(policy: .ask)
        let (asking, actions) = test.send(.ask(request(1)), caller(1))
        _ = test.host.decide(actions.questions[0].0, isWelcome: true, at: test.now)
        _ = asking
        let (waiting, _) = test.send(.ask(request(2)), caller(2))
        let (stream, _) = test.listen(1)
        var closing = test
        let closed = closing.host.close(at: test.now)
        #expect(closed.events(on: stream) == [.closing(next: nil)] && closed.contains(.end(stream)))
        #expect(closed.reply(to: waiting)?.error == .closed && closed.last == .notify(.closed))
        #expect(closing.ask(.events(after: nil), caller(1))?.error == .closed)
        #expect(closing.host.nextDeadline == nil && closing.host.tick(at: test.now) == [])
        let left = test.host.leave(at: test.now)
        #expect(left.events(on: stream) == [.closing(next: MemberID(2)!)])
        #expect(test.ask(.events(after: nil), caller(1))?.error == .notHost)
    }

    @Test func `a host that was cut off alone returns as a guest of the new host`() throws {
        var test = TestHost()
        test.admit(1)
        test.admit(2)
        let reply = test.ask(.describe, caller(1))
        var info = try #require(reply?.info)
        info.epoch = Epoch(2)!
        info.hostKey = TestKey(1).fingerprint
        // While others are with it, the user is asked.
        _ = test.wait(6, keeping: [2])
        #expect(test.host.met(info, provedBy: TestKey(1).fingerprint, at: test.now) == [.notify(.split(info))])
        _ = test.wait(6)
        let endpoint = try #require(Endpoint(test.host.roster.members[1]))
        var guestsWord = info
        guestsWord.role = .guest
        // A guest's message does not admit anybody, nor does that of a member that claims to be its own guest: absent members are
        // still asked for.
        for speaker in [1, 2] {
            #expect(test.host.met(guestsWord, provedBy: TestKey(speaker).fingerprint, at: test.now) == [])
        }
        #expect(test.wait(6).contains(.probe(endpoint)))
        // No unknown member, and none that is not ahead.
        #expect(test.host.met(info, provedBy: TestKey(9).fingerprint, at: test.now).news.count == 1)
        var older = info
        older.epoch = .first
        #expect(!test.host.met(older, provedBy: TestKey(1).fingerprint, at: test.now).contains(.becomeGuest(endpoint)))
        #expect(test.host.met(info, provedBy: TestKey(1).fingerprint, at: test.now) == [.becomeGuest(endpoint)])
        #expect(test.host.isClosed && test.ask(.events(after: nil), caller(2))?.error == .notHost)
    }

    @Test func `an older part of the room is reported only after a delay, as its host may return`() {
        var test = TestHost()
        test.admit(1)
        var parts = PartitionDetector()
        var roster = test.host.roster
        roster.epoch = Epoch(2)!
        let older = PartitionDetector.Part(epoch: .first, host: TestKey(1).fingerprint)
        #expect(
            !parts.isNewPart(older, roster: roster, at: .seconds(10))
                && !parts.isNewPart(older, roster: roster, at: .seconds(20)))
        #expect(
            parts.isNewPart(older, roster: roster, at: .seconds(26))
                && !parts.isNewPart(older, roster: roster, at: .seconds(60)))
        #expect(
            parts.isNewPart(
                PartitionDetector.Part(epoch: .first, host: TestKey(8).fingerprint), roster: roster, at: .seconds(61))
                == true)
    }

    @Test func `the number of reports of further parts of the room is limited`() {
        let test = TestHost()
        var parts = PartitionDetector()
        var told = 0
        for round in 0..<50 {
            for number in 10..<100 {
                let part = PartitionDetector.Part(epoch: Epoch(9)!, host: TestKey(number).fingerprint)
                if parts.isNewPart(part, roster: test.host.roster, at: .seconds(60 + 5 * Double(round))) { told += 1 }
            }
        }
        #expect(told == 4)
    }

    @Test func `a member that changes too often gets a busy error, and its changes are not forwarded`() {
        var test = TestHost()
        test.admit(1)
        test.admit(2)
        let (stream, _) = test.listen(2)
        var passed = 0
        var refused = 0
        for number in 0..<1_000 {
            let isOn = number / 3 % 2 == 0
            let updates = [
                MemberUpdate(isMuted: isOn), MemberUpdate(isRecording: isOn), MemberUpdate(allowsRecording: isOn),
            ]
            let (id, actions) = test.send(.update(updates[number % 3]), caller(1))
            passed += actions.events(on: stream).count
            if actions.reply(to: id)?.error == .busy(retryAfter: 1) { refused += 1 }
        }
        #expect(passed == 40 && refused > 400)
        #expect(test.ask(.ask(request(1, name: "New")), caller(1))?.error == .busy(retryAfter: 30))
        // Keep-alives are not changes, and a while later all is well.
        let before = test.host.roster.members[1]
        #expect(test.ask(.update(MemberUpdate()), caller(1))?.error == nil)
        _ = test.wait(31, keeping: [1, 2])
        let change = MemberUpdate(
            isMuted: !before.isMuted, isRecording: !before.isRecording, allowsRecording: before.allowsRecording != true)
        #expect(test.ask(.update(change), caller(1))?.error == nil)
        let after = test.host.roster.members[1]
        #expect(after.isMuted != before.isMuted && after.isRecording != before.isRecording)
        #expect(after.allowsRecording == change.allowsRecording)
    }

    @Test func `a guest that changed its answer too often delivers the last one when it may`() throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        // The host accepts 40 changes. It refuses each further one that would change its roster, and the last one here.
        for number in 0...60 {
            guest.actions = guest.guest.update(MemberUpdate(allowsRecording: number % 2 == 0), at: guest.now)
            guest.pump(&test)
        }
        #expect(test.host.roster.members[1].allowsRecording == false)
        #expect(guest.guest.configuration.allowsRecording == true && guest.guest.isConnected)
        var accepted: Double?
        for half in 1...80 where accepted == nil {
            guest.actions = []
            guest.wait(0.5)
            test.now = guest.now
            for action in test.host.tick(at: test.now) { guest.actions += guest.deliver(action) }
            guest.pump(&test)
            if test.host.roster.members[1].allowsRecording == true { accepted = Double(half) / 2 }
        }
        // The limit is for 30 s. The guest tries every half second.
        let seconds = try #require(accepted)
        #expect((29.5...31).contains(seconds), "\(seconds) s")
        #expect(guest.guest.roster?.members[1].allowsRecording == true)
    }

    @Test func `another part of the room is reported with the key that its host has proved`() throws {
        var test = TestHost()
        let reply = test.ask(.describe, caller(1))
        var info = try #require(reply?.info)
        info.role = .host
        info.hostKey = TestKey(6).fingerprint  // only what it says
        let actions = test.host.met(info, provedBy: TestKey(5).fingerprint, at: test.now)
        info.hostKey = TestKey(5).fingerprint
        #expect(actions == [.notify(.split(info))])
    }

    @Test func `another part of the room is reported once, and the roster stays unchanged`() throws {
        var test = TestHost()
        test.admit(1)
        let reply = test.ask(.describe, caller(1))
        var info = try #require(reply?.info)
        info.hostKey = TestKey(5).fingerprint
        let before = test.host.roster
        let actions = test.host.met(info, provedBy: TestKey(5).fingerprint, at: test.now)
        #expect(actions == [.notify(.split(info))])
        #expect(test.host.met(info, provedBy: TestKey(5).fingerprint, at: test.now) == [])
        info.epoch = Epoch(2)!
        #expect(test.host.met(info, provedBy: TestKey(5).fingerprint, at: test.now) == [.notify(.split(info))])
        var random = SeededRandom(seed: 99)
        info.room = RoomID(using: &random)
        #expect(test.host.met(info, provedBy: TestKey(5).fingerprint, at: test.now) == [])
        #expect(test.host.roster == before)
    }
}
