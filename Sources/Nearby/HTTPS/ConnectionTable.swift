import MediaTransport
import Synchronization

/// The connections of a server: counts them by address, and knows which wait for a request.
final class ConnectionTable: Sendable {
    private struct State {
        var connections: [ObjectIdentifier: (connection: ServerConnection, address: IPAddress)] = [:]
        var counts: [IPAddress: Int] = [:]
        var waiting: Set<ObjectIdentifier> = []
        var isStopping = false
    }
    private let state = Mutex(State())
    private let limits: HTTPSLimits

    init(_ limits: HTTPSLimits) { self.limits = limits }

    /// Takes a connection in; false where there are too many, or the server stops.
    func admit(_ connection: ServerConnection, from address: IPAddress) -> Bool {
        state.withLock { state in
            guard !state.isStopping, state.connections.count < limits.connections,
                state.counts[address, default: 0] < limits.connectionsPerAddress
            else { return false }
            state.connections[ObjectIdentifier(connection)] = (connection, address)
            state.counts[address, default: 0] += 1
            return true
        }
    }

    /// Forgets one that was taken in.
    func remove(_ connection: ServerConnection) {
        state.withLock { state in
            guard let (_, address) = state.connections.removeValue(forKey: ObjectIdentifier(connection)) else { return }
            state.waiting.remove(ObjectIdentifier(connection))
            state.counts[address, default: 1] -= 1
            if state.counts[address] == 0 { state.counts[address] = nil }
        }
    }

    /// Says whether the connection waits for a request or has one; false when the server stops, and it shall not wait.
    func setWaiting(_ isWaiting: Bool, _ connection: ServerConnection) -> Bool {
        state.withLock { state in
            if isWaiting {
                state.waiting.insert(ObjectIdentifier(connection))
            } else {
                state.waiting.remove(ObjectIdentifier(connection))
            }
            return !state.isStopping
        }
    }

    /// Whether the server stops.
    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// How many there are.
    var count: Int { state.withLock { $0.connections.count } }

    /// From now on no connection is taken in, and none waits for a request.
    func stop() {
        let waiting = state.withLock { state in
            state.isStopping = true
            return state.waiting.compactMap { state.connections[$0]?.connection }
        }
        for connection in waiting { connection.abort(ConnectionFailure.closed) }
    }
}
