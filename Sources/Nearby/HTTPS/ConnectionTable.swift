// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Synchronization

/// The connections of a server, counted by address, and the ones that wait for a request.
final class ConnectionTable: Sendable {
    fileprivate struct State {
        var connections: [ObjectIdentifier: (connection: ServerConnection, address: IPAddress)] = [:]
        var counts: [IPAddress: Int] = [:]
        /// The connections that wait for a request; the one that has waited longest is first.
        var waiting: [ObjectIdentifier] = []
        var isStopping = false
    }
    private let state = Mutex(State())
    private let limits: HTTPSLimits

    init(_ limits: HTTPSLimits) { self.limits = limits }

    /// Adds a connection that waits for a request. At the maximum of connections, closes the one that has waited longest, so that
    /// idle connections keep nobody out. Returns false if the address has too many connections, if all connections are busy, or
    /// if the server stops.
    func admit(_ connection: ServerConnection, from address: IPAddress) -> Bool {
        let (isAdmitted, idle) = state.withLock { state -> (Bool, ServerConnection?) in
            guard !state.isStopping, state.counts[address, default: 0] < limits.connectionsPerAddress else {
                return (false, nil)
            }
            var idle: ServerConnection?
            if state.connections.count >= limits.connections {
                guard let id = state.waiting.first else { return (false, nil) }
                idle = state.connections[id]?.connection
                state.remove(id)
            }
            state.connections[ObjectIdentifier(connection)] = (connection, address)
            state.counts[address, default: 0] += 1
            state.waiting.append(ObjectIdentifier(connection))
            return (true, idle)
        }
        idle?.abort(ConnectionFailure.closed)
        return isAdmitted
    }

    /// Removes a connection.
    func remove(_ connection: ServerConnection) { state.withLock { $0.remove(ObjectIdentifier(connection)) } }

    /// Records whether a connection waits for a request. Returns false if the connection must be closed: the server stops, or
    /// another connection has taken its place.
    func setWaiting(_ isWaiting: Bool, _ connection: ServerConnection) -> Bool {
        let id = ObjectIdentifier(connection)
        return state.withLock { state in
            guard !state.isStopping, state.connections[id] != nil else { return false }
            if !isWaiting {
                state.waiting.removeAll { $0 == id }
            } else if !state.waiting.contains(id) {
                state.waiting.append(id)
            }
            return true
        }
    }

    /// True if the server is stopping.
    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// The number of connections.
    var count: Int { state.withLock { $0.connections.count } }

    /// Stops accepting connections and closes those that wait for a request.
    func stop() {
        let waiting = state.withLock { state in
            state.isStopping = true
            return state.waiting.compactMap { state.connections[$0]?.connection }
        }
        for connection in waiting { connection.abort(ConnectionFailure.closed) }
    }
}

extension ConnectionTable.State {
    fileprivate mutating func remove(_ id: ObjectIdentifier) {
        guard let (_, address) = connections.removeValue(forKey: id) else { return }
        waiting.removeAll { $0 == id }
        counts[address, default: 1] -= 1
        if counts[address] == 0 { counts[address] = nil }
    }
}
