// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation

@testable import EarshotMediaTransport
@testable import EarshotRooms

/// Fuzzes the messages of other peers, files and codes; the first byte selects one.
func fuzzRooms(_ input: UnsafeRawBufferPointer) -> CInt {
    guard let kind = input.first else { return 0 }
    let bytes = Array(input.dropFirst())
    switch kind % 5 {
    case 0: checkJoinCode(bytes)
    case 1: checkKnownPeers(bytes)
    case 2: checkRequest(bytes)
    case 3: checkReply(bytes)
    default: checkRoom(bytes)
    }
    return 0
}

/// A stream of events must be the same if read whole and byte by byte; an event that was read must survive writing and reading.
func fuzzEvents(_ input: UnsafeRawBufferPointer) -> CInt {
    let bytes = Array(input)
    func read(_ bytes: [UInt8], _ size: Int) -> [EventStreamParser.Item]? {
        var parser = EventStreamParser()
        var items: [EventStreamParser.Item] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let more = try? parser.parse(rest.prefix(size)) else { return nil }
            items += more
            rest = rest.dropFirst(size)
        }
        return items
    }
    let items = read(bytes, .max)
    precondition(items == read(bytes, 1))
    for case .event(let event) in items ?? [] {
        precondition(read(event.bytes, .max) == [.event(event)])
        guard let known = try? RoomEvent(event) else { continue }
        precondition((try? RoomEvent(ServerSentEvent(name: known.name, data: known.data))) == known)
    }
    return 0
}

private func checkJoinCode(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    if let code = try? JoinCode(text) { precondition((try? JoinCode(code.description)) == code) }
    if let name = try? PeerName(text) {
        precondition(name.text.utf8.count <= 63 && (try? PeerName(name.text)) == name)
        precondition(name.distinct(from: [name]).text.utf8.count <= 63)
    }
}

private func checkKnownPeers(_ bytes: [UInt8]) {
    guard let peers = try? KnownPeers(parsing: bytes) else { return }
    precondition((try? KnownPeers(parsing: peers.file)) == peers)
}

private let types = ["application/json", "application/sdp"]

/// Parses method, path and body, one per line.
private func request(_ bytes: some Collection<UInt8>) -> RoomRequest? {
    let lines = bytes.split(separator: 10, maxSplits: 2, omittingEmptySubsequences: false)
    guard lines.count == 3 else { return nil }
    let words = lines.map { String(decoding: $0, as: UTF8.self) }
    let fields = [
        "content-type": types[words[1].hasSuffix("r") ? 1 : 0], "earshot-offer": "5", "last-event-id": words[2],
        "earshot-signature": words[2],
    ]
    return try? RoomRequest(method: words[0], path: words[1], parts: HTTPMessage(fields: fields, body: Array(lines[2])))
}

private func checkRequest(_ bytes: [UInt8]) {
    guard let read = request(bytes) else { return }
    let again = try? RoomRequest(method: read.method, path: read.path, parts: read.parts)
    precondition(again != nil)
    if case .offer = read { return }
    precondition(again == read)
}

/// The first byte gives the status class and the kind of request; the body follows.
private func checkReply(_ bytes: [UInt8]) {
    guard let first = bytes.first else { return }
    let requests: [RoomRequest] = [.describe, .leave, .update(MemberUpdate()), .events(after: nil)]
    var request = requests[Int(first) % 4]
    if first & 64 != 0, let name = try? PeerName("a") {
        request = .ask(JoinRequestBody(name: name, addresses: [], port: 0))
    }
    let parts = HTTPMessage(fields: ["content-type": "application/json"], body: Array(bytes.dropFirst()))
    guard let reply = try? RoomReply(to: request, status: first & 128 == 0 ? 200 : 403, parts: parts) else { return }
    _ = reply.parts
    if case .refused(let error) = reply { precondition(!error.description.utf8.contains { $0 < 32 }) }
}

/// Sends requests to a host, each after two bytes: the sender and the time since the last. The host's tables must stay bounded
/// and consistent.
private func checkRoom(_ bytes: [UInt8]) {
    var random = Counter()
    let keys = (0..<12).compactMap { KeyFingerprint(bytes: [UInt8](repeating: UInt8($0), count: 32)) }
    guard let name = try? PeerName("Hanna") else { return }
    var configuration = RoomHost.Configuration(name: name, addresses: [.loopback])
    configuration.policy = bytes.first.map { AdmissionPolicy.allCases[Int($0) % 3] } ?? .all
    var host = RoomHost(
        room: RoomID(using: &random), name: name, key: keys[0], secret: [UInt8](repeating: 1, count: 32),
        configuration: configuration)
    var now = HostTime(nanoseconds: 1_000_000_000)
    var number: UInt64 = 0
    for message in bytes.split(separator: 0) where message.count > 2 {
        let (who, wait) = (Int(message[message.startIndex]), Int64(message[message.startIndex + 1]))
        now.nanoseconds += wait * 50_000_000
        guard let request = request(message.dropFirst(2)) else { continue }
        number += 1
        let caller = RequestOrigin(address: .v4(UInt32(who % 5)), key: who % 13 == 12 ? nil : keys[who % 12])
        for action in host.handle(.requestReceived(request, RequestID(number), from: caller), at: now) {
            switch action {
            case .question(let id, _):
                if who & 16 == 0 { _ = host.handle(.decide(id, isWelcome: who & 32 == 0), at: now) }
            case .reply(_, let reply): _ = reply.parts
            default: break
            }
        }
        if who & 64 != 0 { _ = host.handle(.connectionLost(RequestID(number)), at: now) }
        if who & 128 != 0, let next = host.nextDeadline { _ = host.handle(.tick, at: next) }
        precondition(host.pendingRequests.count <= RoomHost.maximumPendingCount && host.roster.nativeCount <= 8)
        precondition(host.memberConnections.count == host.roster.members.count - 1)
        precondition(host.memberConnections.values.allSatisfy { $0.queue.count <= EventQueue.capacity })
    }
    precondition((try? WireJSON.decoded(Roster.self, from: WireJSON.encoded(host.roster))) == host.roster)
}

/// Returns one input of each kind, and a stream of events.
func roomSeeds() -> (rooms: [[UInt8]], events: [[UInt8]]) {
    guard let name = try? PeerName("Anna"), let key = KeyFingerprint(bytes: [UInt8](repeating: 7, count: 32)),
        let code = try? JoinCode(address: .v4(0xC0A8_0107), key: key)
    else { return ([], []) }
    var known = KnownPeers()
    known.note(key, as: name, isAccepted: true, date: 5)
    func lines(_ request: RoomRequest) -> [UInt8] {
        Array("\(request.method)\n\(request.path)\n".utf8) + request.parts.body
    }
    let member = Member(
        id: .first, name: name, key: key, addresses: [.loopback], port: 1, isRecording: true, allowsRecording: true)
    var random = Counter()
    let roster = Roster(
        room: RoomID(using: &random), name: name, epoch: .first, revision: 1, host: .first, members: [member])
    let ask = RoomRequest.ask(JoinRequestBody(name: name, addresses: [.loopback], port: 1))
    let offer = SignedDescription(offer: OfferID(from: .first, number: 5), sdp: "v=0")
    func event(_ event: RoomEvent) -> [UInt8] {
        ServerSentEvent(id: "1-1", name: event.name, data: event.data).bytes
    }
    let requests: [RoomRequest] = [
        ask, .update(MemberUpdate(name: name, isMuted: true, addresses: [.loopback])),
        .update(MemberUpdate(isRecording: true, allowsRecording: false)), .offer(offer, to: .first),
        .answer(offer), .end(offer.offer, with: .first), .events(after: nil), .leave,
    ]
    let admission = RoomReply.admitted(Admission(member: .first, token: "a", roster: roster)).parts.body
    let refusal = RoomReply.refused(.changedKey(name: name, was: key)).parts.body
    var stream = event(.roster(roster))
    stream += ServerSentEvent.keepAlive
    stream += event(.offer(offer))
    stream += event(.closing(next: .first))
    var seeds: [[UInt8]] = []
    seeds.append([0] + Array(code.description.utf8))
    seeds.append([0] + Array("Anna's".utf8))
    seeds.append([1] + known.file)
    seeds.append([3, 64] + admission)
    seeds.append([3, 129] + refusal)
    var visit: [UInt8] = [4]
    for request in requests {
        seeds.append([2] + lines(request))
        for who: UInt8 in [1, 2] {
            visit += [who, who]
            visit += lines(request)
            visit.append(0)
        }
    }
    seeds.append(visit)
    return (seeds, [stream])
}
