// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import TestSupport

@testable import EarshotRooms

/// Peers on virtual time in a network that delays, breaks connections, splits and heals, all from one seed.
final class Network {
    private(set) var now = HostTime.seconds(100)
    var random: SeededRandom
    private(set) var peers: [Peer] = []
    /// Peers reach only those of the same part.
    var part: [Int] = []
    /// True if all messages are encoded to bytes and decoded.
    let isEncoded: Bool
    private var queue = EventHeap()
    private var connections: [UInt64: Connection] = [:]
    private var nextConnection: UInt64 = 1
    /// The keys that a user has admitted.
    var welcome: Set<KeyFingerprint> = []
    /// Violated invariants, as text.
    var faults: [String] = []

    /// A request until it is answered, or an event stream while it is open.
    struct Connection {
        let client: Int
        let call: CallID
        /// The request as it was sent, and as it arrives.
        let sent: RoomRequest
        let request: RoomRequest
        let server: Int
        /// True if all bytes are lost without either side noticing.
        var isBroken = false
        /// Messages arrive in order.
        var lastArrival = HostTime.seconds(0)
        var parser = EventStreamParser()
    }

    init(seed: UInt64, peerCount: Int, isEncoded: Bool) {
        random = SeededRandom(seed: seed)
        self.isEncoded = isEncoded
        peers = (0..<peerCount).map { Peer($0, network: self) }
        part = [Int](repeating: 0, count: peerCount)
    }

    func reach(_ a: Int, _ b: Int) -> Bool { part[a] == part[b] }

    func after(_ seconds: Double, _ body: @escaping () -> Void) { queue.add(now.advanced(bySeconds: seconds), body) }

    /// Advances the time.
    func run(_ seconds: Double, until isDone: () -> Bool = { false }) {
        let end = now.advanced(bySeconds: seconds)
        while let (time, body) = queue.next(before: end) {
            now = time
            body()
            if isDone() { return }
        }
        now = end
    }

    private func delay() -> Double { 0.000_5 + random.unit() * (random.below(20) == 0 ? 0.2 : 0.01) }

    private func peer(at endpoint: Endpoint) -> Int? {
        for address in endpoint.addresses {
            if case .v4(let bits) = address.address, peers.indices.contains(Int(bits & 255)) { return Int(bits & 255) }
        }
        return nil
    }

    // MARK: Requests

    func call(_ id: CallID, _ request: RoomRequest, _ endpoint: Endpoint, from client: Int) {
        guard let server = peer(at: endpoint) else {
            return after(0.01) { [self] in peers[client].failed(id, .unreachable) }
        }
        let connection = nextConnection
        nextConnection += 1
        connections[connection] = Connection(
            client: client, call: id, sent: request, request: isEncoded ? encoded(request) : request, server: server)
        after(delay()) { [self] in arrive(connection, endpoint) }
    }

    private func encoded(_ request: RoomRequest) -> RoomRequest {
        do {
            return try RoomRequest(method: request.method, path: request.path, parts: request.parts)
        } catch {
            faults.append("a request cannot be read: \(error)")
            return request
        }
    }

    private func arrive(_ id: UInt64, _ endpoint: Endpoint) {
        guard let connection = connections[id] else { return }
        let server = peers[connection.server]
        guard reach(connection.client, connection.server) else {
            connections[id]?.isBroken = true
            return
        }
        guard server.isRunning else { return fail(id, .refused) }
        guard endpoint.key.accepts(server.key.fingerprint) else { return fail(id, .wrongKey(server.key.fingerprint)) }
        let client = peers[connection.client]
        server.received(
            connection.request, RequestID(id), RequestOrigin(address: client.address, key: client.key.fingerprint))
    }

    private func fail(_ id: UInt64, _ failure: RequestFailure) {
        guard let connection = connections.removeValue(forKey: id) else { return }
        after(delay()) { [self] in
            if reach(connection.client, connection.server) { peers[connection.client].failed(connection.call, failure) }
        }
    }

    // MARK: Responses

    private func deliver(on id: UInt64, _ body: @escaping (inout Connection) -> Void) {
        guard var connection = connections[id], !connection.isBroken else { return }
        let arrival = max(connection.lastArrival, now.advanced(bySeconds: delay()))
        connection.lastArrival = arrival
        connections[id] = connection
        queue.add(arrival) { [self] in
            guard var connection = connections[id], !connection.isBroken else { return }
            guard reach(connection.client, connection.server) else {
                connections[id]?.isBroken = true
                return
            }
            body(&connection)
            if connections[id] != nil { connections[id] = connection }
        }
    }

    func reply(_ id: RequestID, _ reply: RoomReply) {
        deliver(on: id.number) { [self] connection in
            if reply != .events { connections[id.number] = nil }
            let server = peers[connection.server]
            var reply = reply
            if isEncoded {
                do {
                    reply = try RoomReply(to: connection.sent, status: reply.status, parts: reply.parts)
                } catch {
                    faults.append("a reply cannot be read: \(error)")
                }
            }
            peers[connection.client].replied(
                connection.call, reply, server.key.fingerprint, SocketAddress(server.address, port: 47_400))
        }
    }

    func send(_ bytes: [UInt8], on id: RequestID) {
        deliver(on: id.number) { [self] connection in
            do {
                for item in try connection.parser.parse(bytes) {
                    peers[connection.client].received(item, connection.call)
                }
            } catch {
                faults.append("\(error)")
            }
        }
    }

    func end(_ id: RequestID) {
        deliver(on: id.number) { [self] connection in
            connections[id.number] = nil
            peers[connection.client].failed(connection.call, .closed)
        }
    }

    func cancel(_ call: CallID, of client: Int) {
        guard let (id, connection) = connections.first(where: { $0.value.client == client && $0.value.call == call })
        else { return }
        connections[id] = nil
        after(delay()) { [self] in
            if reach(client, connection.server), !connection.isBroken { peers[connection.server].lost(RequestID(id)) }
        }
    }

    // MARK: Disturbances

    /// A connection breaks: either both sides notice or neither does.
    func breakConnection() {
        guard let id = connections.keys.sorted().randomElement(using: &random), let connection = connections[id] else {
            return
        }
        if random.below(2) == 0 {
            connections[id]?.isBroken = true
        } else {
            connections[id] = nil
            peers[connection.client].failed(connection.call, .closed)
            peers[connection.server].lost(RequestID(id))
        }
    }

    /// A process has ended: its machine resets all its connections.
    func dropConnections(of peer: Int) {
        for (id, connection) in connections.sorted(by: { $0.key < $1.key }) {
            if connection.client == peer {
                connections[id] = nil
                after(delay()) { [self] in
                    if reach(peer, connection.server) { peers[connection.server].lost(RequestID(id)) }
                }
            } else if connection.server == peer {
                fail(id, .closed)
            }
        }
    }
}

/// The planned events, in the order of time, then of planning.
struct EventHeap {
    private var entries: [(time: HostTime, order: Int, body: () -> Void)] = []
    private var count = 0

    private func isBefore(_ a: Int, _ b: Int) -> Bool {
        (entries[a].time, entries[a].order) < (entries[b].time, entries[b].order)
    }

    mutating func add(_ time: HostTime, _ body: @escaping () -> Void) {
        entries.append((time, count, body))
        count += 1
        var child = entries.count - 1
        while child > 0, isBefore(child, (child - 1) / 2) {
            entries.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func next(before end: HostTime) -> (HostTime, () -> Void)? {
        guard let first = entries.first, first.time <= end else { return nil }
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        var parent = 0
        while true {
            let children = [2 * parent + 1, 2 * parent + 2].filter { $0 < entries.count }
            guard let least = children.min(by: isBefore), isBefore(least, parent) else { break }
            entries.swapAt(parent, least)
            parent = least
        }
        return (first.time, first.body)
    }
}
