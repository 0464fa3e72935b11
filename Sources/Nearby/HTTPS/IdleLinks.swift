import NIOCore
import Synchronization

/// The connections that a client keeps for its next requests.
final class IdleLinks: Sendable {
    /// So many at most; a request that finds none makes its own.
    private static let capacity = 2

    private struct State {
        var links: [HTTPLink] = []
        var isClosed = false
    }
    private let state = Mutex(State())
    private let lifetime: Duration

    init(lifetime: Duration) { self.lifetime = lifetime }

    /// One that still works; nil where there is none.
    func take() async -> HTTPLink? {
        while let link = state.withLock({ $0.links.popLast() }) {
            if await link.connection.isReady() { return link }
            link.connection.abort(ConnectionFailure.closed)
        }
        return nil
    }

    /// Keeps one for a while.
    func put(_ link: HTTPLink) {
        let isKept = state.withLock { state in
            guard !state.isClosed, state.links.count < Self.capacity else { return false }
            state.links.append(link)
            return true
        }
        guard isKept else { return link.connection.abort(ConnectionFailure.closed) }
        link.connection.channel.eventLoop.scheduleTask(in: TimeAmount(lifetime)) { [weak self, weak link] in
            guard let self, let link else { return }
            self.discard(link)
        }
    }

    /// Closes those that are kept; no more are.
    func close() {
        let links = state.withLock { state in
            defer { state.links = [] }
            state.isClosed = true
            return state.links
        }
        for link in links { link.connection.abort(ConnectionFailure.closed) }
    }

    private func discard(_ link: HTTPLink) {
        let isFound = state.withLock { state in
            let count = state.links.count
            state.links.removeAll { $0 === link }
            return state.links.count < count
        }
        if isFound { link.connection.abort(ConnectionFailure.closed) }
    }
}
