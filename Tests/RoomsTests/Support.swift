// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import TestSupport

@testable import EarshotRooms

extension HostTime {
    static func seconds(_ seconds: Double) -> HostTime { HostTime(nanoseconds: Int64(seconds * 1e9)) }
}

/// A test key without a curve: whoever knows its public part could sign, which nobody here does.
struct TestKey {
    let publicKey: [UInt8]
    let fingerprint: KeyFingerprint

    init(_ number: Int) {
        publicKey = Array("key \(number)".utf8)
        fingerprint = KeyFingerprint(bytes: Digest.sha256(publicKey))!
    }

    var signer: Signer {
        Signer(
            key: fingerprint, publicKey: publicKey, sign: { [publicKey] in Self.signature(of: $0, publicKey) },
            verify: { signature, bytes, publicKey in
                Self.signature(of: bytes, publicKey) == signature
                    ? KeyFingerprint(bytes: Digest.sha256(publicKey)) : nil
            })
    }

    private static func signature(of bytes: [UInt8], _ publicKey: [UInt8]) -> [UInt8] {
        Digest.hmacSHA256(bytes, key: publicKey)
    }
}

func name(_ text: String) -> PeerName { try! PeerName(text) }

func address(_ number: Int) -> IPAddress { .v4(0x0A00_0000 + UInt32(number)) }

/// A host of a room named Studio, with key 0 at 10.0.0.100, and the tests' operations on it.
struct TestHost {
    var host: RoomHost
    var now = HostTime.seconds(1_000)
    var nextRequest: UInt64 = 1

    init(
        policy: AdmissionPolicy = .all, pin: String? = nil, capacity: Int = 8, known: KnownPeers = KnownPeers(),
        now: Double = 1_000
    ) {
        var random = SeededRandom(seed: 1)
        let room = RoomID(using: &random)
        var configuration = RoomHost.Configuration(name: name("Hanna"), addresses: [address(100)])
        configuration.policy = policy
        configuration.capacity = capacity
        configuration.pin = pin.map {
            PINKey(try! PIN($0), room: room, host: TestKey(0).fingerprint, rounds: 10)
        }
        host = RoomHost(
            room: room, name: name("Studio"), key: TestKey(0).fingerprint, secret: [UInt8](repeating: 7, count: 32),
            configuration: configuration, knownPeers: known)
        self.now = .seconds(now)
    }

    mutating func send(_ request: RoomRequest, _ caller: RequestOrigin) -> (RequestID, [RoomHost.Action]) {
        let id = RequestID(nextRequest)
        nextRequest += 1
        return (id, host.received(request, as: id, from: caller, at: now))
    }

    /// Sends a request that is answered at once. Returns the answer.
    mutating func ask(_ request: RoomRequest, _ caller: RequestOrigin) -> RoomReply? {
        let (id, actions) = send(request, caller)
        return actions.reply(to: id)
    }

    /// Advances the time and does what is due.
    mutating func wait(_ seconds: Double, keeping members: [Int] = []) -> [RoomHost.Action] {
        var actions: [RoomHost.Action] = []
        let end = now.advanced(bySeconds: seconds)
        while now < end {
            now = min(end, now.advanced(bySeconds: 0.5))
            actions += host.tick(at: now)
            for member in members { actions += send(.update(MemberUpdate()), caller(member)).1 }
        }
        return actions
    }

    /// Admits a guest with the key of that number.
    @discardableResult
    mutating func admit(_ number: Int, name: String? = nil) -> Admission? {
        guard case .admitted(let admission) = ask(.ask(request(number, name: name)), caller(number)) else { return nil }
        return admission
    }

    /// Opens a member's event stream. - Returns: its request, and the first reply.
    mutating func listen(_ number: Int, after last: EventID? = nil) -> (RequestID, [RoomEvent]) {
        let (id, actions) = send(.events(after: last), caller(number))
        return (id, actions.events(on: id))
    }
}

/// The guest of that number, with its key and address.
func caller(_ number: Int) -> RequestOrigin {
    RequestOrigin(address: address(number), key: TestKey(number).fingerprint)
}

func request(_ number: Int, name text: String? = nil) -> JoinRequestBody {
    JoinRequestBody(name: name(text ?? "Guest \(number)"), addresses: [address(number)], port: 47_400)
}

extension [RoomHost.Action] {
    func reply(to id: RequestID) -> RoomReply? {
        for case .reply(id, let reply) in self { return reply }
        return nil
    }

    /// Returns the items of a stream, as a guest reads them.
    func items(on id: RequestID) -> [EventStreamParser.Item] {
        var parser = EventStreamParser()
        return flatMap { action -> [EventStreamParser.Item] in
            guard case .send(let bytes, on: id) = action else { return [] }
            return try! parser.parse(bytes)
        }
    }

    func serverEvents(on id: RequestID) -> [ServerSentEvent] {
        items(on: id).compactMap { if case .event(let event) = $0 { event } else { nil } }
    }

    func events(on id: RequestID) -> [RoomEvent] { serverEvents(on: id).compactMap { try! RoomEvent($0) } }

    var questions: [(JoinRequestID, AskingGuest)] {
        compactMap { if case .question(let id, let question) = $0 { (id, question) } else { nil } }
    }

    var news: [RoomHost.Notification] { compactMap { if case .notify(let news) = $0 { news } else { nil } } }
}

extension RoomReply {
    var error: RoomError? { if case .refused(let error) = self { error } else { nil } }
    var admission: Admission? { if case .admitted(let admission) = self { admission } else { nil } }
    var info: RoomInfo? { if case .room(let info) = self { info } else { nil } }
}
