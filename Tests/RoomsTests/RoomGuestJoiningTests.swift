// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import TestSupport
import Testing

@testable import EarshotRooms

@Suite struct RoomGuestJoiningTests {
    @Test func `a guest finds the room, asks, is admitted, and listens to events`() throws {
        var test = TestHost()
        let guest = TestGuest.inside(&test)
        #expect(guest.guest.isConnected && guest.guest.roster == test.host.roster)
        #expect(guest.actions.contains(.note(TestKey(0).fingerprint, as: name("Hanna"))))
        guard case .asking = guest.news.first, case .admitted(_, MemberID(2)) = guest.news.last else {
            Issue.record("\(guest.news)")
            return
        }
    }

    @Test(arguments: [
        RoomError.declined, .blocked, .full(limit: 8), .busy(retryAfter: 5), .tooManyAttempts(retryAfter: 5),
        .version(2),
    ])
    func `a refusal ends joining and is reported`(error: RoomError) throws {
        var test = TestHost()
        var guest = TestGuest()
        guest.join()
        guest.pump(&test) { if case .ask = $0 { true } else { false } }
        let ask = try #require(guest.call { if case .ask = $0 { true } else { false } })
        let key = TestKey(0).fingerprint
        guest.actions = guest.guest.replied(ask, .refused(error), provedBy: key, from: guest.hostAddress, at: guest.now)
        #expect(guest.news == [.over(.refused(error))] && guest.guest.nextDeadline == nil)
    }

    @Test(arguments: [
        RequestFailure.refused, .unreachable, .timedOut, .closed, .wrongKey(TestKey(9).fingerprint),
    ])
    func `an unreachable host is named by its address in the error`(failure: RequestFailure) throws {
        var guest = TestGuest()
        guest.join()
        let call = try #require(guest.call { $0 == .describe })
        guest.actions = guest.guest.failed(call, failure, at: guest.now)
        guard case .over(let ending)? = guest.news.first else { Issue.record("not over"); return }
        #expect(ending.description.contains("10.0.0.100:47400") && !ending.description.contains("\n"))
    }

    @Test func `a response from this peer itself counts as an unreachable host`() throws {
        let own = TestKey(1).fingerprint
        var guest = TestGuest()
        guest.join()
        let call = try #require(guest.call { $0 == .describe })
        guest.actions = guest.guest.replied(
            call, .refused(.notHost), provedBy: own, from: guest.hostAddress, at: guest.now)
        guard case .unreached(.refused, _)? = guest.guest.ending else { Issue.record("by address"); return }
        // A code of this machine's, but of an earlier key.
        guest = TestGuest()
        guest.join(.exactly(TestKey(9).fingerprint))
        let second = try #require(guest.call { $0 == .describe })
        guest.actions = guest.guest.failed(second, .wrongKey(own), at: guest.now)
        guard case .unreached(.refused, _)? = guest.guest.ending else { Issue.record("by code"); return }
    }

    @Test func `a response from another peer that is not a host is reported as such`() throws {
        var guest = TestGuest()
        guest.join()
        let call = try #require(guest.call { $0 == .describe })
        guest.actions = guest.guest.replied(
            call, .refused(.notHost), provedBy: TestKey(0).fingerprint, from: guest.hostAddress, at: guest.now)
        #expect(guest.guest.ending == .refused(.notHost))
    }

    @Test func `a host that does not respond is given up after 3 s, an undecided one after 35 s`() {
        var guest = TestGuest()
        guest.join()
        guest.wait(2.9)
        #expect(guest.guest.ending == nil)
        guest.wait(0.2)
        guard case .unreached(.timedOut, _)? = guest.guest.ending else { Issue.record("not over"); return }
        var test = TestHost(policy: .ask)
        var waiting = TestGuest()
        waiting.join()
        waiting.pump(&test)
        waiting.wait(34.9)
        #expect(waiting.guest.ending == nil)
        waiting.wait(0.2)
        #expect(waiting.guest.ending != nil)
    }

    @Test func `a known host name with a different key is refused before the guest asks to join`() {
        var known = KnownPeers()
        known.note(TestKey(7).fingerprint, as: name("Hanna"), isAccepted: true, date: 1)
        var test = TestHost()
        var guest = TestGuest(known: known)
        guest.join()
        guest.pump(&test)
        let ending = RoomEnding.changedKey(
            name: name("Hanna"), was: TestKey(7).fingerprint, now: TestKey(0).fingerprint)
        #expect(guest.guest.ending == ending && guest.call { if case .ask = $0 { true } else { false } } == nil)
        #expect(
            ending.description.contains(
                "DIFFERENT KEY (\(TestKey(0).fingerprint)) than before (\(TestKey(7).fingerprint))"))
        var blocking = KnownPeers()
        blocking.block(TestKey(0).fingerprint, as: name("Hanna"), date: 1)
        var other = TestGuest(known: blocking)
        other.join()
        other.pump(&test)
        #expect(other.guest.ending == .blockedHost(name("Hanna"), TestKey(0).fingerprint))
    }

    @Test func `the guest is asked for the PIN and proves it, and the host proves it too`() throws {
        var test = TestHost(pin: "4711")
        var guest = TestGuest(hasPIN: true)
        guest.join()
        guest.pump(&test)
        #expect(guest.actions.last == .needPIN(test.host.roster.room, host: TestKey(0).fingerprint))
        // The user takes longer than a nonce is valid.
        guest.wait(500)
        test.now = guest.now
        let key = PINKey(try PIN("4711"), room: test.host.roster.room, host: TestKey(0).fingerprint, rounds: 10)
        guest.actions = guest.guest.provide(key, at: guest.now)
        guest.pump(&test)
        #expect(guest.guest.isConnected)
    }

    @Test func `a host that cannot prove the PIN is reported as an impostor`() throws {
        var test = TestHost(pin: "4711")
        var guest = TestGuest(hasPIN: true)
        guest.join()
        guest.pump(&test)
        // It has another PIN, and accepts any proof.
        var impostor = TestHost(policy: .all, pin: "0000")
        let key = PINKey(try PIN("4711"), room: test.host.roster.room, host: TestKey(0).fingerprint, rounds: 10)
        guest.actions = guest.guest.provide(key, at: guest.now)
        guest.pump(&test) { if case .ask = $0 { true } else { false } }
        let ask = try #require(guest.call { if case .ask = $0 { true } else { false } })
        impostor.host.pin = nil
        let admissionMade = impostor.admit(1)
        let admission = try #require(admissionMade)
        guest.actions = guest.guest.replied(
            ask, .admitted(admission), provedBy: TestKey(0).fingerprint, from: guest.hostAddress, at: guest.now)
        #expect(guest.guest.ending == .impostor(TestKey(0).fingerprint))
        #expect(guest.call { $0 == .leave } != nil)
    }

    @Test func `joining with a PIN ends if the room does not need one`() {
        var test = TestHost()
        var guest = TestGuest(hasPIN: true)
        guest.join()
        guest.pump(&test)
        guard case .noPINWanted? = guest.guest.ending else { Issue.record("went in"); return }
    }

    @Test func `a roster is refused if its host is not the one that proved its key`() throws {
        var test = TestHost()
        var guest = TestGuest()
        guest.join()
        guest.pump(&test) { if case .ask = $0 { true } else { false } }
        let ask = try #require(guest.call { if case .ask = $0 { true } else { false } })
        let admissionMade = test.admit(1)
        var admission = try #require(admissionMade)
        admission.roster.host = MemberID(2)!
        guest.actions = guest.guest.replied(
            ask, .admitted(admission), provedBy: TestKey(0).fingerprint, from: guest.hostAddress, at: guest.now)
        guard case .refused(.malformed)? = guest.guest.ending else { Issue.record("believed it"); return }
    }
}
