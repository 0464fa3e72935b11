// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import TestSupport
import Testing

@testable import EarshotRooms

/// Changes of a guest's own name and mute state that the host cannot receive at once.
@Suite struct RoomGuestUpdateTests {
    @Test func `a guest that mutes itself while it awaits admission is muted in the room`() throws {
        var test = TestHost(policy: .ask)
        var guest = TestGuest()
        guest.join()
        let describe = try #require(guest.call { $0 == .describe })
        let description = test.ask(.describe, caller(1))
        let info = try #require(description)
        let key = TestKey(0).fingerprint
        guest.actions = guest.guest.replied(describe, info, provedBy: key, from: guest.hostAddress, at: guest.now)
        let call = try #require(guest.call { if case .ask = $0 { true } else { false } })
        let requests = guest.actions.compactMap { if case .call(call, let request, _) = $0 { request } else { nil } }
        let (id, actions) = test.send(try #require(requests.first), caller(1))
        _ = guest.guest.update(MemberUpdate(isMuted: true), at: guest.now)
        let question = try #require(actions.questions.first)
        let decided = test.host.decide(question.0, isWelcome: true, at: test.now)
        let reply = try #require(decided.reply(to: id))
        guest.actions = guest.guest.replied(call, reply, provedBy: key, from: guest.hostAddress, at: guest.now)
        #expect(!test.host.roster.members[1].isMuted)
        guest.pump(&test)
        #expect(guest.guest.isConnected && test.host.roster.members[1].isMuted)
    }

    @Test func `a guest that takes over keeps the name and the mute that it could not send`() throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        guest.wait(6)
        _ = guest.guest.update(MemberUpdate(name: name("New"), isMuted: true), at: guest.now)
        let attempt = try #require(guest.call { if case .events = $0 { true } else { false } })
        guest.actions = guest.guest.failed(attempt, .refused, at: guest.now)
        guest.wait(1)
        let successions = guest.actions.compactMap { if case .becomeHost(let next) = $0 { next } else { nil } }
        let succession = try #require(successions.first)
        let host = RoomHost(
            succeeding: succession, secret: [UInt8](repeating: 3, count: 32),
            configuration: RoomHost.Configuration(name: name("New"), addresses: [address(1)]), at: guest.now)
        #expect(host.member.isMuted && host.member.name == name("New"))
    }
}
