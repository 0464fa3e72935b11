// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import TestSupport
import Testing

@testable import EarshotRooms

/// A session's state in one room after another.
@Suite struct SessionCoreTests {
    private let identity: Identity

    init() throws {
        identity = try Identity.generate(at: 1_795_305_600)  // 22 November 2026
    }

    @Test func `the answer about recordings ends with the stay in a room, and muting and recording stay set`() throws {
        var session = TestSession(identity)
        var refusing = TestHost(policy: .known)
        session.act { $0.update(isMuted: true, isRecording: true, allowsRecording: true, at: $1) }
        session.join()
        session.pump(&refusing)
        #expect(session.endings == [.refused(.unknownKey)])
        // The answer was given for the room, and the guest was not in it: the next attempt has the answer too.
        var test = TestHost()
        session.join()
        session.pump(&test)
        let admitted = try #require(test.host.roster.members.last)
        #expect(admitted.isMuted && admitted.isRecording && admitted.allowsRecording == true)
        session.act { $0.handle([.guest(.leave)], at: $1) }
        session.pump(&test)
        #expect(session.endings.last == .left && session.core.local.allowsRecording == nil)

        var other = TestHost()
        session.join()
        session.pump(&other)
        let next = try #require(other.host.roster.members.last)
        #expect(next.isMuted && next.isRecording && next.allowsRecording == nil)
    }

    @Test func `the answer about recordings is not passed on to the next room of a host`() throws {
        var session = TestSession(identity)
        session.act { $0.update(isRecording: true, allowsRecording: true, at: $1) }
        session.host()
        #expect(session.own?.allowsRecording == true)
        session.act { $0.handle([.host(.leave)], at: $1) }
        session.host()
        let own = try #require(session.own)
        #expect(own.isRecording && own.allowsRecording == nil)
        session.act { $0.update(allowsRecording: false, at: $1) }
        session.act { $0.handle([.host(.close)], at: $1) }
        #expect(session.core.local.allowsRecording == nil)
    }

    @Test func `a guest that becomes the host keeps its answer about recordings`() throws {
        var test = TestHost()
        var session = TestSession(identity)
        session.join()
        session.pump(&test)
        session.act { $0.update(allowsRecording: true, at: $1) }
        session.pump(&test)
        let stream = try #require(session.stream)
        let closing = RoomEvent.closing(next: session.core.memberID)
        let item = EventStreamParser.Item.event(ServerSentEvent(name: closing.name, data: closing.data))
        session.act { $0.handle([.guest(.itemReceived(item, on: stream))], at: $1) }
        #expect(session.isHost && session.own?.allowsRecording == true && session.core.local.allowsRecording == true)
        #expect(session.endings == [])
    }

    @Test func `a host that becomes a guest keeps its answer about recordings until it is refused`() throws {
        var session = TestSession(identity)
        session.core.choices.policy = .all
        session.act { $0.update(allowsRecording: true, at: $1) }
        session.host()
        session.act { $0.receive(.ask(request(2)), RequestID(1), from: caller(2), at: $1) }
        session.now = session.now.advanced(bySeconds: RoomHost.Limit.silence + 0.5)
        session.act { $0.tick(at: $1) }
        session.act { $0.receive(.describe, RequestID(2), from: caller(2), at: $1) }
        var info = try #require(session.description)
        info.epoch = Epoch(2)!
        info.hostKey = TestKey(2).fingerprint
        session.act { $0.handle([.host(.peerDescribed(info, provedBy: TestKey(2).fingerprint))], at: $1) }
        #expect(!session.isHost && session.core.local.allowsRecording == true)
        try session.reply(.refused(.notHost), from: 2) { $0 == .describe }
        #expect(session.endings == [.refused(.notHost)] && session.core.local.allowsRecording == nil)
    }

    @Test func `a guest that must ask a new host again keeps its answer about recordings`() throws {
        var test = TestHost()
        test.admit(2)
        var session = TestSession(identity)
        session.join()
        session.pump(&test)
        session.act { $0.update(allowsRecording: true, at: $1) }
        session.pump(&test)
        let description = test.ask(.describe, caller(2))
        var info = try #require(description?.info)
        info.epoch = Epoch(2)!
        info.hostName = name("Guest 2")
        info.hostKey = TestKey(2).fingerprint
        // The host's process has ended, and guest 2 hosts the room without this guest.
        let stream = try #require(session.stream)
        session.act { $0.handle([.guest(.callFailed(stream, .refused))], at: $1) }
        try session.reply(.room(info), from: 2) { $0 == .describe }
        try session.reply(.refused(.notMember), from: 2) { if case .events = $0 { true } else { false } }
        #expect(session.hasAskedAgain && session.core.local.allowsRecording == true)
        try session.reply(.room(info), from: 2) { $0 == .describe }
        let asked = session.actions.compactMap { action -> Bool? in
            if case .call(_, .ask(let ask), _) = action { ask.allowsRecording } else { nil }
        }
        #expect(asked == [true] && session.endings == [])
    }
}

/// A session's core without media, and its last actions.
private struct TestSession {
    var core: SessionCore
    var now = HostTime.seconds(1_000)
    var actions: [SessionCore.Action] = []
    var endings: [RoomEnding] = []
    /// The open event stream.
    var stream: CallID?

    init(_ identity: Identity) {
        core = SessionCore(
            SessionCore.LocalPeer(identity: identity, name: name("Anna"), addresses: [address(1)], port: 47_400),
            port: EmptyPort(), media: nil, generator: SeededRandom(seed: 1))
    }

    var isHost: Bool { if case .host = core.role { true } else { false } }
    /// The local peer's entry in the roster.
    var own: Member? { core.memberID.flatMap { core.roster?[$0] } }
    /// The last description of the room that the core sent.
    var description: RoomInfo? {
        actions.lazy.compactMap { if case .reply(_, .room(let info)) = $0 { info } else { nil } }.last
    }
    var hasAskedAgain: Bool {
        actions.contains { if case .guestNotification(.askingAgain, _) = $0 { true } else { false } }
    }

    mutating func act(_ body: (inout SessionCore, HostTime) -> [SessionCore.Action]) {
        actions = body(&core, now)
        for case .ended(let ending) in actions { endings.append(ending) }
    }

    mutating func host() {
        let room = core.makeRoomID()
        core.host(room, name: name("Studio"), knownPeers: KnownPeers())
    }

    mutating func join() {
        let endpoint = Endpoint(addresses: [SocketAddress(address(100), port: 47_400)], key: .any)
        act { $0.join(endpoint, knownPeers: KnownPeers(), at: $1) }
    }

    /// Replies to the last such request, as the peer with this number. Host 0 is at address 100.
    mutating func reply(_ reply: RoomReply, from peer: Int, to isMeant: (RoomRequest) -> Bool) throws {
        var call: CallID?
        for case .call(let id, let request, _) in actions where isMeant(request) { call = id }
        answer(try #require(call), reply, from: peer)
    }

    private mutating func answer(_ call: CallID, _ reply: RoomReply, from peer: Int) {
        let source = SocketAddress(address(peer == 0 ? 100 : peer), port: 47_400)
        let event = RoomGuest.Event.replied(call, reply, provedBy: TestKey(peer).fingerprint, from: source)
        act { $0.handle([.guest(event)], at: $1) }
    }

    /// Lets the host answer all requests, and the core act on the answers.
    mutating func pump(_ test: inout TestHost) {
        let caller = RequestOrigin(address: address(1), key: core.local.identity.fingerprint)
        var open = actions
        while !open.isEmpty {
            guard case .call(let id, let request, _) = open.removeFirst(), let reply = test.ask(request, caller) else {
                continue
            }
            if reply == .events { stream = id }
            answer(id, reply, from: 0)
            open += actions
        }
    }
}

/// A port that adds no transports.
private final class EmptyPort: TransportPort {
    func add(_ peer: PeerID, _ setup: LocalTransportParameters) -> MediaPort.TransportID {
        MediaPort.TransportID(number: 1)
    }
    func setRemote(_ remote: RemoteTransportParameters, of peer: PeerID) {}
    func remove(_ peer: PeerID) {}
    func report(of peer: PeerID) -> MediaPortReport? { nil }
}
