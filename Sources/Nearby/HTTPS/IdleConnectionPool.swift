// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Synchronization

/// The idle connections that a client keeps.
final class IdleConnectionPool: Sendable {
    /// The maximum number of idle connections.
    private static let capacity = 2

    private struct State {
        var links: [(link: HTTPLink, number: UInt64)] = []
        /// The connections added so far. Each addition has its own number, since a connection may be added again.
        var lastNumber: UInt64 = 0
        var isClosed = false
    }
    private let state = Mutex(State())
    private let lifetime: Duration

    init(lifetime: Duration) { self.lifetime = lifetime }

    /// Returns a usable connection; nil if there is none.
    func takeLink() async -> HTTPLink? {
        while let link = state.withLock({ $0.links.popLast()?.link }) {
            if await link.connection.isReady() { return link }
            link.connection.abort(ConnectionFailure.closed)
        }
        return nil
    }

    /// Keeps a connection and closes it after ``lifetime`` unless it is taken before; closes it at once if the pool is full or
    /// closed.
    func put(_ link: HTTPLink) {
        let number = state.withLock { state -> UInt64? in
            guard !state.isClosed, state.links.count < Self.capacity else { return nil }
            state.lastNumber += 1
            state.links.append((link, state.lastNumber))
            return state.lastNumber
        }
        guard let number else { return link.connection.abort(ConnectionFailure.closed) }
        link.connection.channel.eventLoop.scheduleTask(in: TimeAmount(lifetime)) { [weak self] in
            self?.discard(number)
        }
    }

    /// Closes the idle connections, and accepts no more.
    func close() {
        let links = state.withLock { state in
            defer { state.links = [] }
            state.isClosed = true
            return state.links
        }
        for (link, _) in links { link.connection.abort(ConnectionFailure.closed) }
    }

    private func discard(_ number: UInt64) {
        let link = state.withLock { state in
            state.links.firstIndex { $0.number == number }.map { state.links.remove(at: $0).link }
        }
        link?.connection.abort(ConnectionFailure.closed)
    }
}
