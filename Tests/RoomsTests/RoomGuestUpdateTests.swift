// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import TestSupport
import Testing

@testable import EarshotRooms

/// Changes of a guest's own name and state that the host cannot receive at once.
@Suite struct RoomGuestUpdateTests {
    private let secret = [UInt8](repeating: 3, count: 32)
    /// A closed event stream is opened again after 0.1 s.
    private let untilReopened = 0.2
    /// The other members may answer for one second. The first round of questions after that is 1.75 s after the first one.
    private let untilTakeover = 2.5

    private func update(in actions: [RoomGuest.Action]) -> (CallID, MemberUpdate)? {
        for case .call(let id, .update(let update), _) in actions { return (id, update) }
        return nil
    }

    /// Returns the room that the guest takes over; nil if it takes none over.
    private func findHandover(in actions: [RoomGuest.Action]) -> HostHandover? {
        for case .becomeHost(let handover) in actions { return handover }
        return nil
    }

    private func makeHost(from handover: HostHandover, at now: HostTime) -> RoomHost {
        RoomHost(
            succeeding: handover, secret: secret,
            configuration: RoomHost.Configuration(name: name("Guest 1"), addresses: [address(1)]), at: now)
    }

    /// Delivers the host's roster with this epoch and revision, and a changed entry of the guest. Returns the update that the
    /// guest sends at once; nil if it sends none.
    private func deliverRoster(
        _ epoch: UInt64, _ revision: UInt64, of test: TestHost, to guest: inout TestGuest,
        _ change: (inout Member) -> Void = { _ in }
    ) throws -> MemberUpdate? {
        var roster = test.host.roster
        roster.epoch = try #require(Epoch(epoch))
        roster.revision = revision
        change(&roster.members[1])
        let event = RoomEvent.roster(roster)
        let item = EventStreamParser.Item.event(ServerSentEvent(name: event.name, data: event.data))
        let stream = try #require(guest.streams.values.first)
        guest.actions = guest.guest.received(item, on: stream, at: guest.now)
        return update(in: guest.actions)?.1
    }

    /// Confirms the guest's last update. The host's roster remains at this epoch and revision.
    private func confirmUpdate(_ epoch: UInt64, _ revision: UInt64, to guest: inout TestGuest) throws {
        let (call, _) = try #require(update(in: guest.actions))
        let status = RoomReply.status(MemberStatus(epoch: try #require(Epoch(epoch)), revision: revision))
        let key = TestKey(0).fingerprint
        guest.actions = guest.guest.replied(call, status, provedBy: key, from: guest.hostAddress, at: guest.now)
        #expect(guest.actions == [])
    }

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
        let handover = try #require(findHandover(in: guest.actions))
        let member = makeHost(from: handover, at: guest.now).member
        #expect(member.isMuted && member.name == name("New"))
    }

    @Test func `of two updates the later value counts, and what only one of them changes stays`() {
        let first = MemberUpdate(isMuted: true, isRecording: true, allowsRecording: true)
        #expect(first.followed(by: MemberUpdate()) == first && MemberUpdate().followed(by: first) == first)
        #expect(
            first.followed(by: MemberUpdate(isRecording: false))
                == MemberUpdate(isMuted: true, isRecording: false, allowsRecording: true))
        #expect(
            first.followed(by: MemberUpdate(isMuted: false, allowsRecording: false))
                == MemberUpdate(isMuted: false, isRecording: true, allowsRecording: false))
    }

    @Test func `a guest sends its recording and its answer, again after a failure, and when it rejoins`() throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        let both = MemberUpdate(isRecording: true, allowsRecording: true)
        let (call, sent) = try #require(update(in: guest.guest.update(both, at: guest.now)))
        #expect(sent == both)
        #expect(guest.guest.update(MemberUpdate(allowsRecording: false), at: guest.now) == [])
        #expect(guest.guest.failed(call, .closed, at: guest.now) == [])
        guest.actions = []
        guest.wait(0.6)
        #expect(update(in: guest.actions)?.1 == MemberUpdate(isRecording: true, allowsRecording: false))
        test.now = guest.now
        guest.pump(&test)
        let member = test.host.roster.members[1]
        #expect(member.isRecording && member.allowsRecording == false && !member.isMuted)
        let configuration = guest.guest.configuration
        #expect(configuration.isRecording && configuration.allowsRecording == false)

        // The same process asks to be admitted again.
        var again = TestGuest()
        again.guest = RoomGuest(configuration, signer: TestKey(1).signer)
        again.now = guest.now
        again.join()
        again.pump(&test)
        #expect(again.guest.isConnected && test.host.roster.members[1] == member)
        let requests = again.actions.compactMap { action -> JoinRequestBody? in
            if case .call(_, .ask(let ask), _) = action { ask } else { nil }
        }
        #expect(requests.map(\.recording) == [true] && requests.map(\.allowsRecording) == [false])
    }

    @Test func `a host that is succeeded loses no member's recording and no answer`() throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        for action in test.send(.ask(request(2)), caller(2)).1 { _ = guest.deliver(action) }
        for action in test.host.update(MemberUpdate(isRecording: true, allowsRecording: true), at: test.now) {
            _ = guest.deliver(action)
        }
        let answer = MemberUpdate(isRecording: true, allowsRecording: false)
        for action in test.send(.update(answer), caller(2)).1 { _ = guest.deliver(action) }
        guest.actions = guest.guest.update(MemberUpdate(allowsRecording: true), at: guest.now)
        guest.pump(&test)
        let roster = try #require(guest.guest.roster)
        #expect(roster.members.map(\.isRecording) == [true, false, true])
        #expect(roster.members.map(\.allowsRecording) == [true, true, false])
        // The host's process ends, and its place is kept.
        let stream = try #require(guest.streams.values.first)
        guest.actions = guest.guest.failed(stream, .closed, at: guest.now)
        guest.wait(untilReopened)
        let attempt = try #require(guest.call { if case .events = $0 { true } else { false } })
        guest.actions = guest.guest.failed(attempt, .refused, at: guest.now)
        let retry = try #require(guest.call { if case .events = $0 { true } else { false } })
        guest.actions += guest.guest.failed(retry, .refused, at: guest.now)
        guest.wait(untilTakeover)
        let handover = try #require(findHandover(in: guest.actions))
        var next = TestHost()
        next.now = guest.now
        next.host = makeHost(from: handover, at: guest.now)
        #expect(next.host.roster.host == MemberID(2) && next.host.roster.epoch == Epoch(2))
        #expect(next.host.roster.members.map(\.isRecording) == [true, false, true])
        #expect(next.host.roster.members.map(\.allowsRecording) == [true, true, false])
        // The old host returns as a guest, with the same state.
        var ask = request(0)
        (ask.recording, ask.allowsRecording) = (true, true)
        #expect(next.ask(.ask(ask), caller(0))?.admission?.member == MemberID.first)
        #expect(next.host.roster.members.map(\.isRecording) == [true, false, true])
        #expect(next.host.roster.members.map(\.allowsRecording) == [true, true, false])
    }

    @Test func `a guest that takes over keeps its recording and its answer, even if the host dropped them`() throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        // The host confirms the update, and its roster has nothing of it.
        let both = MemberUpdate(isRecording: true, allowsRecording: true)
        let (call, _) = try #require(update(in: guest.guest.update(both, at: guest.now)))
        let status = RoomReply.status(MemberStatus(epoch: .first, revision: test.host.roster.revision))
        let key = TestKey(0).fingerprint
        _ = guest.guest.replied(call, status, provedBy: key, from: guest.hostAddress, at: guest.now)
        guest.actions = []
        for action in test.host.leave(at: test.now) { guest.actions += guest.deliver(action) }
        let handover = try #require(findHandover(in: guest.actions))
        let own = try #require(handover.roster[MemberID(2)!])
        #expect(!own.isRecording && own.allowsRecording == nil)
        let member = makeHost(from: handover, at: guest.now).member
        #expect(member.isRecording && member.allowsRecording == true && !member.isMuted)
    }

    @Test func `a guest sends its state again to a new host that lacks it, once`() throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        let state = MemberUpdate(isMuted: true, isRecording: true, allowsRecording: false)
        guest.actions = guest.guest.update(state, at: guest.now)
        guest.pump(&test)
        #expect(test.host.roster.members[1].isRecording)
        var sent = try deliverRoster(2, 20, of: test, to: &guest)
        #expect(sent == nil)
        sent = try deliverRoster(3, 21, of: test, to: &guest) { $0.allowsRecording = nil }
        #expect(sent == MemberUpdate(allowsRecording: false))
        try confirmUpdate(3, 21, to: &guest)
        // The host, of an older version, never has it.
        sent = try deliverRoster(3, 22, of: test, to: &guest) { $0.allowsRecording = nil }
        #expect(sent == nil)
        sent = try deliverRoster(4, 23, of: test, to: &guest) {
            $0.isMuted = false
            $0.isRecording = false
            $0.name = name("Guest 1 (2)")
        }
        #expect(sent == MemberUpdate(isMuted: true, isRecording: true))
    }

    @Test func `a guest without an answer declines if a new host has a consent of its last process`() throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        #expect(guest.guest.configuration.allowsRecording == nil)
        var sent = try deliverRoster(2, 20, of: test, to: &guest) { $0.allowsRecording = true }
        #expect(sent == MemberUpdate(allowsRecording: false))
        try confirmUpdate(2, 20, to: &guest)
        #expect(guest.guest.configuration.allowsRecording == nil)
        // A refusal permits no more than no answer does, and nothing is sent.
        for (epoch, answer) in [(3, false), (4, nil)] as [(UInt64, Bool?)] {
            sent = try deliverRoster(epoch, 20 + epoch, of: test, to: &guest) { $0.allowsRecording = answer }
            #expect(sent == nil, "epoch \(epoch)")
        }
    }

    @Test func `a guest without an answer declines when it takes over a roster with a consent`() throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        // The host confirms the withdrawal, and its roster remains wrong.
        let sent = try deliverRoster(1, 20, of: test, to: &guest) { $0.allowsRecording = true }
        #expect(sent == MemberUpdate(allowsRecording: false))
        try confirmUpdate(1, 20, to: &guest)
        for action in test.host.leave(at: test.now) { guest.actions += guest.deliver(action) }
        let handover = try #require(findHandover(in: guest.actions))
        #expect(handover.roster[handover.roster.host]?.allowsRecording == true)
        #expect(makeHost(from: handover, at: guest.now).member.allowsRecording == false)
    }

    @Test(arguments: [nil, false] as [Bool?])
    func `a consent that only the host has is withdrawn, at most once a second`(answer: Bool?) throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        if let answer {
            guest.actions = guest.guest.update(MemberUpdate(allowsRecording: answer), at: guest.now)
            guest.pump(&test)
        }
        let start = guest.now
        var sent = try deliverRoster(1, 20, of: test, to: &guest) { $0.allowsRecording = true }
        #expect(sent == MemberUpdate(allowsRecording: false))
        try confirmUpdate(1, 20, to: &guest)
        for revision: UInt64 in 21...24 {
            guest.now = guest.now.advanced(bySeconds: 0.2)
            sent = try deliverRoster(1, revision, of: test, to: &guest) { $0.allowsRecording = true }
            #expect(sent == nil && guest.guest.nextDeadline == start.advanced(bySeconds: 1), "revision \(revision)")
        }
        guest.now = start.advanced(bySeconds: 1)
        guest.actions = guest.guest.tick(at: guest.now)
        #expect(update(in: guest.actions)?.1 == MemberUpdate(allowsRecording: false))
        try confirmUpdate(1, 24, to: &guest)
        // The next withdrawal waits, and a consent that the guest gives in the meantime replaces it.
        sent = try deliverRoster(1, 25, of: test, to: &guest) { $0.allowsRecording = true }
        #expect(sent == nil && guest.guest.nextDeadline == start.advanced(bySeconds: 2))
        guest.actions = guest.guest.update(MemberUpdate(allowsRecording: true), at: guest.now)
        #expect(update(in: guest.actions)?.1 == MemberUpdate(allowsRecording: true))
        try confirmUpdate(1, 25, to: &guest)
        sent = try deliverRoster(1, 26, of: test, to: &guest) { $0.allowsRecording = true }
        #expect(sent == nil && guest.guest.nextDeadline == guest.now.advanced(bySeconds: 1.5))
    }

    @Test func `a refusal that crosses a roster with the consent is sent once more`() throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        guest.actions = guest.guest.update(MemberUpdate(allowsRecording: true), at: guest.now)
        guest.pump(&test)
        // The refusal is on its way, as is a roster that another member's change has caused.
        let (call, refusal) = try #require(
            update(in: guest.guest.update(MemberUpdate(isMuted: true, allowsRecording: false), at: guest.now)))
        #expect(refusal == MemberUpdate(isMuted: true, allowsRecording: false))
        var sent = try deliverRoster(1, 20, of: test, to: &guest)
        #expect(sent == nil)
        let status = RoomReply.status(MemberStatus(epoch: .first, revision: 20))
        let key = TestKey(0).fingerprint
        guest.actions = guest.guest.replied(call, status, provedBy: key, from: guest.hostAddress, at: guest.now)
        #expect(update(in: guest.actions)?.1 == MemberUpdate(allowsRecording: false))
        try confirmUpdate(1, 20, to: &guest)
        sent = try deliverRoster(1, 21, of: test, to: &guest) { $0.allowsRecording = false }
        #expect(sent == nil && guest.guest.nextDeadline == guest.now.advanced(bySeconds: 1.5))
    }

    @Test func `a consent in the admission that the guest has not given is withdrawn at once`() throws {
        var test = TestHost()
        var guest = TestGuest()
        guest.join()
        guest.pump(&test) { if case .ask = $0 { true } else { false } }
        let ask = try #require(guest.call { if case .ask = $0 { true } else { false } })
        let admitted = test.admit(1)
        var admission = try #require(admitted)
        admission.roster.members[1].allowsRecording = true
        let key = TestKey(0).fingerprint
        guest.actions = guest.guest.replied(
            ask, .admitted(admission), provedBy: key, from: guest.hostAddress, at: guest.now)
        #expect(update(in: guest.actions)?.1 == MemberUpdate(allowsRecording: false))
    }
}
