// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotRooms

/// The members' HTTPS connections. Each carries a request, its reply, and the bytes of an event stream: in order, with delays,
/// held up by cuts, and lost with the connection.
///
/// A connection between addresses that no longer reach each other retries as TCP does. After a time it is given up, and no side
/// is told.
final class SignallingNetwork {
    /// The id of a request in the process that made it.
    enum Call: Hashable {
        case guest(CallID)
        case probe(UInt64)
    }

    private enum Message {
        case reply(RoomReply)
        case bytes([UInt8])
        case end
    }

    private struct Connection {
        let call: Call
        let client: MemberProcess
        let clientAddress: IPAddress
        let server: MemberProcess
        let serverAddress: SocketAddress
        let request: RoomRequest
        /// The messages from server to client, with their arrival times.
        var messages: [(time: HostTime, message: Message)] = []
        var waitingBytes = 0
        var lastArrival = HostTime(nanoseconds: 0)
        /// True if a reply was sent, or an event stream has begun.
        var isReplied = false
        var isBroken = false
        /// The seconds until the next try to reach the remote machine, and then those since the first try.
        var retryDelay = 0.2
        var waitedSeconds = 0.0
        var parser = EventStreamParser()
    }

    /// The seconds after which an open connection that cannot reach the remote machine is given up.
    private static let connectionTimeout = 20.0
    /// The maximum bytes that wait in an event stream, as in `NearbySession`.
    private static let streamCapacity = 256 * 1_024
    /// The seconds after which a new connection to an unreachable address fails.
    private static let connectTimeout = 5.0

    private unowned let world: StackSimulation
    private var connections: [UInt64: Connection] = [:]
    private var lastConnection: UInt64 = 0
    private var random: SeededRandom

    init(_ world: StackSimulation, seed: UInt64) {
        self.world = world
        random = SeededRandom(seed: seed)
    }

    var connectionCount: Int { connections.count }

    private func delay() -> Double { 0.000_5 + random.unit() * (random.next() % 20 == 0 ? 0.2 : 0.01) }

    private func reaches(_ connection: Connection) -> Bool {
        world.network.owner(of: connection.clientAddress) == connection.client.member.index
            && world.network.owner(of: connection.serverAddress.address) == connection.server.member.index
            && world.network.isConnected(connection.client.member.index, connection.server.member.index)
    }

    // MARK: Requests

    /// Makes a request at the first of the endpoint's addresses that answers.
    func call(_ call: Call, _ request: RoomRequest, _ endpoint: Endpoint, from client: MemberProcess) {
        guard let own = client.member.addresses.first else {
            return after(0.01) { client.failed(call, .unreachable) }
        }
        var failure = RequestFailure.refused
        for (index, address) in endpoint.addresses.enumerated() {
            guard let machine = world.network.owner(of: address.address),
                world.network.isConnected(client.member.index, machine)
            else {
                if failure == .refused { failure = .timedOut }
                continue
            }
            guard let server = world.members[machine].process, address.port == StackSimulation.port else { continue }
            let key = server.member.identity.fingerprint
            guard endpoint.key.accepts(key) else {
                failure = .wrongKey(key)
                continue
            }
            lastConnection += 1
            let id = lastConnection
            connections[id] = Connection(
                call: call, client: client, clientAddress: own, server: server, serverAddress: address,
                request: request)
            // After the round trips of TCP and TLS.
            return after(0.15 * Double(index) + 3 * delay()) { [self] in arrive(id) }
        }
        let wait = failure == .timedOut ? Self.connectTimeout : 2 * delay()
        after(wait) { client.failed(call, failure) }
    }

    private func arrive(_ id: UInt64) {
        guard let connection = connections[id], !connection.isBroken else { return }
        guard reaches(connection) else { return wait(id, { [self] in arrive(id) }) }
        guard connection.server.isRunning else { return fail(id, .closed) }
        let caller = RequestOrigin(
            address: connection.clientAddress, key: connection.client.member.identity.fingerprint)
        connection.server.received(encoded(connection.request), RequestID(id), from: caller)
    }

    private func encoded(_ request: RoomRequest) -> RoomRequest {
        guard random.next() % world.configuration.encodedShare == 0 else { return request }
        do {
            return try RoomRequest(method: request.method, path: request.path, parts: request.parts)
        } catch {
            world.violate("\(request.method) \(request.path) could not be decoded: \(error)")
            return request
        }
    }

    private func fail(_ id: UInt64, _ failure: RequestFailure) {
        guard let connection = connections.removeValue(forKey: id) else { return }
        after(delay()) { connection.client.failed(connection.call, failure) }
    }

    /// Executes `body` again later, each time after twice the delay, until the connection is given up.
    private func wait(_ id: UInt64, _ body: @escaping () -> Void) {
        guard var connection = connections[id] else { return }
        connection.waitedSeconds += connection.retryDelay
        guard connection.waitedSeconds < Self.connectionTimeout else {
            connections[id]?.isBroken = true
            connections[id]?.messages = []
            return
        }
        after(connection.retryDelay, body)
        connection.retryDelay *= 2
        connections[id] = connection
    }

    // MARK: Replies and event streams

    func reply(_ id: RequestID, _ reply: RoomReply) {
        guard connections[id.number]?.isReplied == false else { return }
        connections[id.number]?.isReplied = true
        enqueue(.reply(reply), on: id.number)
    }

    func send(_ bytes: [UInt8], on id: RequestID) {
        guard connections[id.number]?.isReplied == true else { return }
        enqueue(.bytes(bytes), on: id.number)
    }

    func end(_ id: RequestID) { enqueue(.end, on: id.number) }

    private func enqueue(_ message: Message, on id: UInt64) {
        guard var connection = connections[id], !connection.isBroken else { return }
        connection.lastArrival = max(connection.lastArrival, world.now.advanced(bySeconds: delay()))
        let isFirst = connection.messages.isEmpty
        connection.messages.append((connection.lastArrival, message))
        if case .bytes(let bytes) = message { connection.waitingBytes += bytes.count }
        connections[id] = connection
        if connection.waitingBytes > Self.streamCapacity {
            connections[id]?.isBroken = true
            connections[id]?.messages = []
            let server = connection.server
            after(0) { server.connectionLost(RequestID(id)) }
        } else if isFirst {
            world.agenda.add(connection.lastArrival) { [self] in deliver(id) }
        }
    }

    private func deliver(_ id: UInt64) {
        guard var connection = connections[id], !connection.isBroken, !connection.messages.isEmpty else { return }
        guard reaches(connection) else { return wait(id, { [self] in deliver(id) }) }
        guard connection.client.isRunning else {
            connections[id] = nil
            return lose(id, at: connection.server)
        }
        let message = connection.messages.removeFirst().message
        (connection.retryDelay, connection.waitedSeconds) = (0.2, 0)
        if case .bytes(let bytes) = message { connection.waitingBytes -= bytes.count }
        var items: [EventStreamParser.Item] = []
        if case .bytes(let bytes) = message {
            do {
                items = try connection.parser.parse(bytes)
            } catch {
                world.violate("an event stream could not be decoded: \(error)")
            }
        }
        let isOver: Bool =
            switch message {
            case .reply(.events), .bytes: false
            case .reply, .end: true
            }
        connections[id] = isOver ? nil : connection
        if !isOver, let next = connection.messages.first {
            world.agenda.add(max(next.time, world.now)) { [self] in deliver(id) }
        }
        switch message {
        case .reply(let reply):
            connection.client.replied(
                connection.call, decoded(reply, to: connection.request), connection.server.member.identity.fingerprint,
                connection.serverAddress)
        case .bytes: for item in items { connection.client.received(item, on: connection.call) }
        case .end:
            connection.client.failed(connection.call, .closed)
            lose(id, at: connection.server)
        }
    }

    private func decoded(_ reply: RoomReply, to request: RoomRequest) -> RoomReply {
        guard random.next() % world.configuration.encodedShare == 0 else { return reply }
        do {
            return try RoomReply(to: request, status: reply.status, parts: reply.parts)
        } catch {
            world.violate("a reply could not be decoded: \(error)")
            return reply
        }
    }

    // MARK: Ends

    /// Cancels a process's own request, and closes the connection.
    func cancel(_ call: Call, of client: MemberProcess) {
        guard let id = connections.first(where: { $0.value.client === client && $0.value.call == call })?.key,
            let connection = connections.removeValue(forKey: id)
        else { return }
        if !connection.isBroken, reaches(connection) { lose(id, at: connection.server) }
    }

    private func lose(_ id: UInt64, at server: MemberProcess) {
        after(delay()) { server.connectionLost(RequestID(id)) }
    }

    /// Closes the connections of an ended process. The process's machine notifies the remote machines, unless it has vanished
    /// (`isSilent`).
    func dropConnections(of process: MemberProcess, silently isSilent: Bool) {
        for id in connections.keys.sorted() {
            guard let connection = connections[id], connection.client === process || connection.server === process
            else { continue }
            if connection.client === process {
                connections[id] = nil
                if !isSilent, reaches(connection) { lose(id, at: connection.server) }
            } else if isSilent || !reaches(connection) {
                connections[id]?.isBroken = true
                connections[id]?.messages = []
            } else {
                fail(id, .closed)
            }
        }
    }

    private func after(_ seconds: Double, _ body: @escaping () -> Void) { world.after(seconds, body) }
}
