// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Synchronization

/// The connections that a client keeps for its next requests.
final class IdleConnectionPool: Sendable {
    /// Maximum number of idle connections; a request without one opens a new one.
    private static let capacity = 2

    private struct State {
        var links: [(link: HTTPLink, number: UInt64)] = []
        /// Counts the links that were put in: the number tells this stay of a link from an earlier one.
        var lastNumber: UInt64 = 0
        var isClosed = false
    }
    private let state = Mutex(State())
    private let lifetime: Duration

    init(lifetime: Duration) { self.lifetime = lifetime }

    /// Returns a connection that still works; nil if there is none.
    func takeLink() async -> HTTPLink? {
        while let link = state.withLock({ $0.links.popLast()?.link }) {
            if await link.connection.isReady() { return link }
            link.connection.abort(ConnectionFailure.closed)
        }
        return nil
    }

    /// Keeps one for a while.
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

    /// Closes those that are kept; no more are.
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
