import AudioBase
import MediaTransport
import TestSupport
import Testing

@testable import Rooms

/// A guest with the key 1, and the host of ``TestHost`` to answer it by hand.
struct TestGuest {
    var guest: RoomGuest
    var now = HostTime.seconds(1_000)
    var actions: [RoomGuest.Action] = []
    let hostAddress = SocketAddress(address(100), port: 47_400)

    init(hasPIN: Bool = false, known: KnownPeers = KnownPeers()) {
        var random = SeededRandom(seed: 5)
        var configuration = RoomGuest.Configuration(name: name("Guest 1"), addresses: [address(1)])
        configuration.hasPIN = hasPIN
        guest = RoomGuest(configuration, signer: TestKey(1).signer, knownPeers: known, using: &random)
    }

    /// A guest that is in, with an open stream.
    static func inside(_ test: inout TestHost) -> TestGuest {
        var guest = TestGuest()
        guest.now = test.now
        guest.join()
        guest.pump(&test)
        return guest
    }

    mutating func join(_ key: Endpoint.ExpectedKey = .any) {
        actions = guest.join(Endpoint(addresses: [hostAddress], key: key), at: now)
    }

    /// The latest call of that kind that is under way.
    func call(_ isMeant: (RoomRequest) -> Bool) -> CallID? {
        var found: CallID?
        for case .call(let id, let request, _) in actions where isMeant(request) { found = id }
        return found
    }

    var news: [RoomGuest.News] { actions.compactMap { if case .tell(let news) = $0 { news } else { nil } } }

    /// Lets the host answer all calls, and the guest what follows from that.
    mutating func pump(_ test: inout TestHost, ignoring isLost: (RoomRequest) -> Bool = { _ in false }) {
        var open = actions
        while !open.isEmpty {
            guard case .call(let id, let request, _) = open.removeFirst(), !isLost(request) else { continue }
            let (requestID, answers) = test.send(request, caller(1))
            var next: [RoomGuest.Action] = []
            for answer in answers {
                switch answer {
                case .reply(requestID, let reply):
                    next += guest.replied(id, reply, provedBy: TestKey(0).fingerprint, from: hostAddress, at: now)
                    if case .events = reply { streams[requestID] = id }
                default: next += deliver(answer)
                }
            }
            actions += next
            open += next
        }
    }

    var streams: [RequestID: CallID] = [:]

    mutating func deliver(_ action: RoomHost.Action) -> [RoomGuest.Action] {
        guard case .send(let bytes, let request) = action, let id = streams[request] else { return [] }
        var parser = EventStreamParser()
        return try! parser.take(bytes).flatMap { guest.received($0, on: id, at: now) }
    }

    /// Lets time pass without an answer to anything.
    mutating func wait(_ seconds: Double) {
        let end = now.advanced(bySeconds: seconds)
        while now < end {
            now = min(end, now.advanced(bySeconds: 0.1))
            actions += guest.tick(at: now)
        }
    }
}

@Suite struct RoomGuestTests {
    @Test func `a guest finds the room, asks, is in, and listens`() throws {
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
    func `a no is told`(error: RoomError) throws {
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
        RoomGuest.CallFailure.refused, .unreachable, .timedOut, .closed, .wrongKey(TestKey(9).fingerprint),
    ])
    func `a host that is not reached is told, with what to do`(failure: RoomGuest.CallFailure) throws {
        var guest = TestGuest()
        guest.join()
        let call = try #require(guest.call { $0 == .describe })
        guest.actions = guest.guest.failed(call, failure, at: guest.now)
        guard case .over(let ending)? = guest.news.first else { Issue.record("not over"); return }
        #expect(ending.description.contains("10.0.0.100:47400") && !ending.description.contains("\n"))
    }

    @Test func `a host that never answers is given up after seconds, a person after half a minute`() {
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

    @Test func `a host's name under another key is refused before anything is sent`() {
        var known = KnownPeers()
        known.note(TestKey(7).fingerprint, as: name("Hanna"), isAccepted: true, date: 1)
        var test = TestHost()
        var guest = TestGuest(known: known)
        guest.join()
        guest.pump(&test)
        let ending = RoomGuest.Ending.changedKey(
            name: name("Hanna"), was: TestKey(7).fingerprint, now: TestKey(0).fingerprint)
        #expect(guest.guest.ending == ending && guest.call { if case .ask = $0 { true } else { false } } == nil)
        #expect(ending.description.contains("earshot peers forget \(TestKey(7).fingerprint.hex.prefix(16))"))
        var blocking = KnownPeers()
        blocking.block(TestKey(0).fingerprint, as: name("Hanna"), date: 1)
        var other = TestGuest(known: blocking)
        other.join()
        other.pump(&test)
        #expect(other.guest.ending == .blockedHost(name("Hanna"), TestKey(0).fingerprint))
    }

    @Test func `a PIN is asked for, proved, and the host proves it too`() throws {
        var test = TestHost(pin: "4711")
        var guest = TestGuest(hasPIN: true)
        guest.join()
        guest.pump(&test)
        #expect(guest.actions.last == .needPIN(test.host.roster.room, host: TestKey(0).fingerprint))
        // The person takes longer than a nonce lives.
        guest.wait(500)
        test.now = guest.now
        let key = PINKey(try PIN("4711"), room: test.host.roster.room, host: TestKey(0).fingerprint, rounds: 10)
        guest.actions = guest.guest.provide(key, at: guest.now)
        guest.pump(&test)
        #expect(guest.guest.isConnected)
    }

    @Test func `a host that cannot prove the PIN is an impostor`() throws {
        var test = TestHost(pin: "4711")
        var guest = TestGuest(hasPIN: true)
        guest.join()
        guest.pump(&test)
        // It knows another PIN, and takes any proof.
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

    @Test func `a PIN that nobody wants ends it`() {
        var test = TestHost()
        var guest = TestGuest(hasPIN: true)
        guest.join()
        guest.pump(&test)
        guard case .noPINWanted? = guest.guest.ending else { Issue.record("went in"); return }
    }

    @Test func `a roster with another host than the one that proved its key is none`() throws {
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

    @Test func `the guest gives a sign of life each second and a half, and shows it to others`() {
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
        guard case .reply(_, .room(let info))? = answer.last else { return }
        #expect(info.role == .guest && info.isHostHeard && info.hostKey == TestKey(0).fingerprint)
        let other = guest.guest.received(.events(after: nil), as: RequestID(2), at: guest.now)
        #expect(other == [.reply(RequestID(2), .refused(.notHost))])
    }

    @Test func `a silent host is looked for, and a guest alone does not take over`() {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        guest.wait(5.1)
        #expect(guest.news.last == .reconnecting && !guest.guest.isConnected)
        guest.wait(50)
        #expect(guest.guest.ending == nil)
        guest.wait(6)
        #expect(guest.guest.ending == .lost)
    }

    @Test func `a host that answers again has its guest back, with what it missed`() {
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

    @Test func `a host whose process ended is succeeded at once by the one guest`() throws {
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

    @Test func `a host that leaves hands over at once`() throws {
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

    @Test(arguments: [RoomEvent.removed(isBlocked: false), .removed(isBlocked: true), .replaced, .closing(next: nil)])
    func `the last word of a host ends it`(event: RoomEvent) throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        let stream = try #require(guest.streams.values.first)
        guest.actions = guest.guest.received(
            .event(ServerSentEvent(name: event.name, data: event.data)), on: stream, at: guest.now)
        guard case .over? = guest.news.last else { Issue.record("went on"); return }
        #expect(guest.actions.contains(.cancel(stream)) && guest.guest.roster == nil)
        #expect(guest.guest.tick(at: .seconds(5_000)) == [] && guest.guest.leave(at: .seconds(5_001)) == [])
    }

    @Test func `lost events are noticed by the answer to a sign of life`() throws {
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

    @Test func `a name that is changed while the host is silent is told when it is back`() {
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

    @Test func `what the host makes up in another's name is not used`() throws {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        for action in test.send(.ask(request(2)), caller(2)).1 { _ = guest.deliver(action) }
        let two = try #require(guest.guest.roster?.members.last)
        let stream = try #require(guest.streams.values.first)
        let roster = test.host.roster
        func tell(_ offer: SignedDescription) -> [RoomGuest.Action] {
            let event = RoomEvent.offer(offer)
            return guest.guest.received(
                .event(ServerSentEvent(name: event.name, data: event.data)), on: stream, at: guest.now)
        }
        let id = OfferID(from: two.id, number: 4)
        let forged = TestKey(0).signer.signed("v=0", as: .offer, of: id, in: roster, for: roster.members[1])
        #expect(tell(forged) == [.tell(.forged(from: two))])
        let genuine = TestKey(2).signer.signed("v=0", as: .offer, of: id, in: roster, for: roster.members[1])
        #expect(tell(genuine) == [.tell(.offered(id, sdp: "v=0", from: two))])
        #expect(tell(genuine) == [])
        // And an answer that the host put in the place of another's.
        let made = guest.guest.offer("o", to: two.id, at: guest.now)
        let (offer, actions) = try #require(made)
        guard case .call(let call, _, _)? = actions.first else { return }
        let answer = TestKey(0).signer.signed("a", as: .answer, of: offer, in: roster, for: roster.members[1])
        let told = guest.guest.replied(
            call, .answered(answer, by: two.id), provedBy: TestKey(0).fingerprint, from: guest.hostAddress,
            at: guest.now)
        #expect(told == [.tell(.forged(from: two)), .tell(.unanswered(offer, .offerUnanswered))])
    }

    @Test func `a machine that slept does not take its host for gone`() {
        var test = TestHost()
        var guest = TestGuest.inside(&test)
        guest.now = guest.now.advanced(bySeconds: 3_600)
        guest.actions = guest.guest.tick(at: guest.now)
        #expect(guest.guest.isConnected && !guest.news.contains(.reconnecting))
    }
}
