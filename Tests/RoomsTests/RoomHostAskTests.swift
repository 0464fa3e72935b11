// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import TestSupport
import TestTraits
import Testing

@testable import EarshotRooms

@Suite(.optimized) struct RoomHostAskTests {
    @Test func `every guest is admitted under the policy for all`() throws {
        var test = TestHost(policy: .all)
        let admissionMade = test.admit(1)
        let admission = try #require(admissionMade)
        #expect(admission.member == MemberID(2) && admission.token == nil && admission.hostProof == nil)
        #expect(admission.roster.members.map(\.name.text) == ["Hanna", "Guest 1"])
        #expect(admission.roster.members[1].addresses == [address(1)])
        #expect(test.host.roster == admission.roster)
    }

    @Test func `the host's user is asked, and a yes admits the guest`() throws {
        var test = TestHost(policy: .ask)
        var ask = request(1)
        ask.purpose = try Purpose("to sing")
        let (id, actions) = test.send(.ask(ask), caller(1))
        #expect(actions.reply(to: id) == nil)
        let (question, what) = try #require(actions.questions.first)
        #expect(what.name == name("Guest 1") && what.purpose?.text == "to sing" && what.key == TestKey(1).fingerprint)
        #expect(!what.isKnown && test.host.roster.members.count == 1)
        let decided = test.host.decide(question, isWelcome: true, at: test.now)
        guard case .admitted = decided.reply(to: id) else { Issue.record("not in"); return }
        #expect(decided.contains(.note(TestKey(1).fingerprint, as: name("Guest 1"), isAccepted: true)))
        #expect(test.host.decide(question, isWelcome: false, at: test.now) == [])
    }

    @Test func `a declined or unanswered guest is notified, and the question is withdrawn`() throws {
        var test = TestHost(policy: .ask)
        let (first, firstActions) = test.send(.ask(request(1)), caller(1))
        let (second, secondActions) = test.send(.ask(request(2)), caller(2))
        let declined = test.host.decide(firstActions.questions[0].0, isWelcome: false, at: test.now)
        #expect(declined.reply(to: first)?.error == .declined)
        #expect(test.wait(29.5).reply(to: second) == nil)
        let late = test.wait(1)
        #expect(late.reply(to: second)?.error == .unanswered)
        #expect(late.contains(.withdraw(secondActions.questions[0].0, .unanswered)))
        #expect(test.host.roster.members.count == 1)
    }

    @Test func `a guest can withdraw its question by a request or by disconnecting`() throws {
        var test = TestHost(policy: .ask)
        let (id, actions) = test.send(.ask(request(1)), caller(1))
        let (cancelling, cancelled) = test.send(.leave, caller(1))
        #expect(cancelled.reply(to: cancelling) == .done && cancelled.reply(to: id)?.error == .cancelled)
        #expect(cancelled.contains(.withdraw(actions.questions[0].0, .cancelled)))
        let (again, question) = test.send(.ask(request(1)), caller(1))
        let lost = test.host.connectionLost(again, at: test.now)
        #expect(lost == [.withdraw(question.questions[0].0, .cancelled)])
        #expect(test.host.decide(question.questions[0].0, isWelcome: true, at: test.now) == [])
    }

    @Test func `only accepted guests with a proven key are admitted under the policy for known peers`() throws {
        var known = KnownPeers()
        known.note(TestKey(1).fingerprint, as: name("Guest 1"), isAccepted: true, date: 1)
        known.note(TestKey(2).fingerprint, as: name("Guest 2"), isAccepted: false, date: 1)
        var test = TestHost(policy: .known, known: known)
        #expect(test.admit(1) != nil)
        #expect(test.ask(.ask(request(2)), caller(2))?.error == .unknownKey)
        #expect(test.ask(.ask(request(3)), caller(3))?.error == .unknownKey)
        #expect(test.ask(.ask(request(1)), RequestOrigin(address: address(1)))?.error == .keyNeeded)
    }

    @Test func `a known name under a different key is refused, and the host is warned`() throws {
        var known = KnownPeers()
        known.note(TestKey(1).fingerprint, as: name("Anna"), isAccepted: true, date: 1)
        for policy in AdmissionPolicy.allCases {
            var test = TestHost(policy: policy, known: known)
            let (id, actions) = test.send(.ask(request(2, name: "anna")), caller(2))
            let error = RoomError.changedKey(name: name("anna"), was: TestKey(1).fingerprint)
            #expect(actions.reply(to: id)?.error == error)
            #expect(actions.news == [.refused(error, guest: "'anna' at 10.0.0.2")])
        }
        // A browser proves nothing, so it does not get the name either.
        var test = TestHost(policy: .all, known: known)
        let reply = test.ask(.ask(request(5, name: "Anna")), RequestOrigin(address: address(5)))
        let admission = try #require(reply?.admission)
        #expect(admission.roster.members[1].name == name("Anna (2)"))
    }

    @Test func `a known name cannot be taken after admission by renaming or by asking again`() throws {
        var known = KnownPeers()
        known.note(TestKey(1).fingerprint, as: name("Anna"), isAccepted: true, date: 1)
        var test = TestHost(known: known)
        test.admit(2)
        _ = test.ask(.update(MemberUpdate(name: name("anna"))), caller(2))
        #expect(test.host.roster.members[1].name == name("anna (2)"))
        _ = test.ask(.update(MemberUpdate(name: name("Otto"))), caller(2))
        guard case .admitted(let again) = test.ask(.ask(request(2, name: "Anna")), caller(2)) else {
            Issue.record("not in")
            return
        }
        #expect(again.roster.members[1].name == name("Anna (2)"))
        // The name's owner gets it.
        #expect(test.admit(1, name: "Anna")?.roster.members[2].name == name("Anna"))
    }

    @Test func `admitting a key withdraws its earlier question`() throws {
        var test = TestHost(policy: .ask)
        let (first, actions) = test.send(.ask(request(1)), caller(1))
        let question = try #require(actions.questions.first?.0)
        test.host.policy = .all
        let (second, entered) = test.send(.ask(request(1)), caller(1))
        guard case .admitted = entered.reply(to: second) else { Issue.record("not in"); return }
        #expect(entered.reply(to: first)?.error == .replaced && entered.contains(.withdraw(question, .replaced)))
        #expect(test.host.decide(question, isWelcome: true, at: test.now) == [])
        #expect(test.host.roster.members.count == 2)
    }

    @Test func `a guest unblocked by another process is admitted again`() {
        var test = TestHost()
        test.admit(1)
        _ = test.host.block(MemberID(2)!, at: test.now)
        #expect(test.ask(.ask(request(1)), caller(1))?.error == .blocked)
        test.host.knownPeers.unblock(TestKey(1).fingerprint)
        #expect(test.admit(1) != nil)
    }

    @Test func `repeated questions from one address are soon refused`() throws {
        var test = TestHost(policy: .ask)
        var questions = 0
        for number in 0..<1_000 {
            let (id, actions) = test.send(
                .ask(request(1 + number % 50)),
                RequestOrigin(address: address(1), key: TestKey(1 + number % 50).fingerprint))
            questions += actions.questions.count
            _ = test.host.connectionLost(id, at: test.now)
        }
        #expect(questions == RoomHost.maximumQuestionCountPerAddress)
        // Nor does using another name each time help.
        test.now = test.now.advanced(bySeconds: 31)
        for number in 0..<100 {
            questions += test.send(.ask(request(1, name: "Name \(number)")), caller(1)).1.questions.count
        }
        #expect(questions == 2 * RoomHost.maximumQuestionCountPerAddress)
        #expect(test.send(.ask(request(60)), caller(60)).1.questions.count == 1)
    }

    @Test func `the host's own key is not admitted as a guest`() {
        var test = TestHost()
        #expect(test.ask(.ask(request(0)), caller(0))?.error == .ownKey)
        #expect(test.ask(.events(after: nil), caller(0))?.error == .notMember)
    }

    @Test func `a room is full with eight native members, until one leaves`() {
        var test = TestHost()
        for number in 1...7 { #expect(test.admit(number) != nil) }
        #expect(test.ask(.ask(request(8)), caller(8))?.error == .full(limit: 8))
        #expect(test.ask(.leave, caller(3)) == .done)
        #expect(test.admit(8)?.member == MemberID(9))
        #expect(test.host.roster.members.map(\.id.number) == [1, 2, 3, 5, 6, 7, 8, 9])
    }

    @Test func `a guest accepted after the room has become full is refused as such`() {
        var test = TestHost(policy: .ask, capacity: 2)
        let pendingRequests = (1...2).map { test.send(.ask(request($0)), caller($0)) }
        _ = test.host.decide(pendingRequests[0].1.questions[0].0, isWelcome: true, at: test.now)
        let second = test.host.decide(pendingRequests[1].1.questions[0].0, isWelcome: true, at: test.now)
        #expect(second.reply(to: pendingRequests[1].0)?.error == .full(limit: 2))
    }

    @Test func `a repeated request by the same key replaces the earlier one`() throws {
        var test = TestHost(policy: .ask)
        let (first, actions) = test.send(.ask(request(1)), caller(1))
        let (second, again) = test.send(.ask(request(1)), caller(1))
        #expect(again.reply(to: first)?.error == .replaced && again.questions.isEmpty)
        let (third, changed) = test.send(.ask(request(1, name: "Other")), caller(1))
        #expect(changed.reply(to: second)?.error == .replaced)
        #expect(changed.questions.map(\.0) == actions.questions.map(\.0))
        let decided = test.host.decide(actions.questions[0].0, isWelcome: true, at: test.now)
        guard case .admitted(let admission) = decided.reply(to: third) else { Issue.record("not in"); return }
        #expect(admission.roster.members[1].name == name("Other"))
    }

    @Test func `names that differ only in case are made unique by a number`() {
        var test = TestHost()
        test.admit(1, name: "hanna")
        test.admit(2, name: "HANNA")
        #expect(test.host.roster.members.map(\.name.text) == ["Hanna", "hanna (2)", "HANNA (3)"])
        #expect(test.ask(.update(MemberUpdate(name: name("hanna (2)"))), caller(1)) != nil)
        #expect(test.host.roster.members[1].name.text == "hanna (2)")
        _ = test.ask(.update(MemberUpdate(name: name("Hanna (3)"))), caller(1))
        #expect(test.host.roster.members[1].name.text == "Hanna (3) (2)")
    }

    @Test func `a missing or wrong PIN is refused, and the right one is accepted`() throws {
        var test = TestHost(pin: "4711")
        guard case .room(let info) = test.ask(.describe, caller(1)), let nonce = info.nonce?.bytes else {
            Issue.record("no nonce")
            return
        }
        #expect(info.needsPIN)
        func proved(_ number: Int, _ pin: String) throws -> JoinRequestBody {
            let key = PINKey(try PIN(pin), room: info.room, host: TestKey(0).fingerprint, rounds: 10)
            var ask = request(number)
            ask.pinProof = Base64(key.proof(by: .guest, nonce: nonce, guest: TestKey(number).fingerprint.bytes))
            return ask
        }
        #expect(test.ask(.ask(request(1)), caller(1))?.error == .pinNeeded)
        for left in [4, 3, 2, 1, 0] {
            #expect(test.ask(.ask(try proved(1, "0000")), caller(1))?.error == .wrongPIN(attemptsLeft: left))
        }
        #expect(test.ask(.ask(try proved(1, "4711")), caller(1))?.error == .tooManyAttempts(retryAfter: 600))
        guard case .admitted(let admission) = test.ask(.ask(try proved(2, "4711")), caller(2)) else {
            Issue.record("not in")
            return
        }
        #expect(admission.hostProof != nil)
        // One member's proof is not valid for another.
        #expect(test.ask(.ask(try proved(2, "4711")), caller(3))?.error == .wrongPIN(attemptsLeft: 4))
        // A browser's proof covers its own bytes.
        let key = PINKey(try PIN("4711"), room: info.room, host: TestKey(0).fingerprint, rounds: 10)
        var browser = request(4)
        browser.pinSeed = Base64([UInt8](repeating: 5, count: 16))
        browser.pinProof = Base64(key.proof(by: .guest, nonce: nonce, guest: [UInt8](repeating: 5, count: 16)))
        guard case .admitted = test.ask(.ask(browser), RequestOrigin(address: address(4))) else {
            Issue.record("not in"); return
        }
    }

    @Test func `a million requests at the door are refused without filling memory or flooding the host`() {
        var test = TestHost(policy: .ask)
        var news = 0
        var busy = 0
        for number in 0..<1_000_000 {
            // Some keys and addresses are repeated, most are new; forty thousand per second.
            let caller = RequestOrigin(
                address: .v4(UInt32(number % 70_000)), key: number % 3 == 0 ? nil : Self.keys[number % 1_000])
            test.now = test.now.advanced(bySeconds: 25e-6)
            let (id, actions) = test.send(.ask(Self.ask), caller)
            news += actions.news.count
            if case .busy? = actions.reply(to: id)?.error { busy += 1 }
        }
        #expect(test.host.pendingRequests.count <= RoomHost.maximumPendingCount && busy > 900_000 && news <= 16)
        #expect(test.host.roster.members.count == 1)
    }

    private static let ask = request(1)
    private static let keys = (1...1_000).map { TestKey($0).fingerprint }

    @Test func `one address cannot occupy all pending requests`() {
        var test = TestHost(policy: .ask)
        for number in 1...4 {
            #expect(
                test.ask(.ask(request(number)), RequestOrigin(address: address(1), key: TestKey(number).fingerprint))
                    == nil)
        }
        let fifth = test.ask(.ask(request(5)), RequestOrigin(address: address(1), key: TestKey(5).fingerprint))
        #expect(fifth?.error == .busy(retryAfter: 30))
        #expect(test.ask(.ask(request(6)), caller(6)) == nil)
    }
}

@Suite struct EphemeralGuestTests {
    @Test(arguments: [AdmissionPolicy.all, .ask])
    func `an ephemeral key is not stored as known`(policy: AdmissionPolicy) throws {
        var test = TestHost(policy: policy)
        var ask = request(1)
        ask.ephemeral = true
        var (_, actions) = test.send(.ask(ask), caller(1))
        if policy == .ask {
            actions = test.host.decide(try #require(actions.questions.first).0, isWelcome: true, at: test.now)
        }
        #expect(test.host.roster.members.count == 2)
        #expect(!actions.contains { if case .note = $0 { true } else { false } })
    }

    @Test func `the ephemeral flag is encoded only if it is true`() throws {
        let lasting = WireJSON.encoded(JoinRequestBody(name: name("A"), addresses: [], port: 1))
        let ephemeral = WireJSON.encoded(JoinRequestBody(name: name("A"), addresses: [], port: 1, isEphemeral: true))
        #expect(!String(decoding: lasting, as: UTF8.self).contains("ephemeral"))
        #expect(String(decoding: ephemeral, as: UTF8.self).contains("\"ephemeral\":true"))
    }
}
