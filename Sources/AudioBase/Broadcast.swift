// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Sends values to any number of listeners, each with its own `AsyncStream`. Safe on any thread except a render thread.
package final class Broadcast<Element: Sendable>: Sendable {
    private struct Listeners {
        var continuations: [Int: AsyncStream<Element>.Continuation] = [:]
        var lastNumber = 0
    }
    private let listeners = Mutex(Listeners())
    /// Held during a send, so that all listeners get the elements of several threads in the same order.
    private let order = Mutex<Void>(())

    /// Creates a broadcast without listeners.
    package init() {}

    deinit { listeners.withLock { for continuation in $0.continuations.values { continuation.finish() } } }

    /// Returns a stream of the elements sent from now on, in order. The stream ends when its task is cancelled or this broadcast
    /// is freed.
    /// - Parameters:
    ///   - newest: the maximum number of elements kept for a slow listener, the newest ones; nil for all.
    ///   - first: the first element for this listener; nil for none.
    package func stream(keeping newest: Int? = nil, startingWith first: Element? = nil) -> AsyncStream<Element> {
        AsyncStream(bufferingPolicy: newest.map { .bufferingNewest($0) } ?? .unbounded) { continuation in
            if let first { continuation.yield(first) }
            let number = listeners.withLock { listeners in
                listeners.lastNumber += 1
                listeners.continuations[listeners.lastNumber] = continuation
                return listeners.lastNumber
            }
            continuation.onTermination = { [weak self] _ in
                self?.listeners.withLock { _ = $0.continuations.removeValue(forKey: number) }
            }
        }
    }

    /// Sends an element to all present listeners.
    package func send(_ element: Element) {
        order.withLock { _ in
            // A yield under the listeners' lock could deadlock: it waits for a task that is being cancelled, whose cancellation
            // waits for that lock.
            let continuations = listeners.withLock { Array($0.continuations.values) }
            for continuation in continuations { continuation.yield(element) }
        }
    }
}
