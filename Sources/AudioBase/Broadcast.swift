// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Sends values to any number of listeners, each through its own `AsyncStream`. Any thread but the render thread.
package final class Broadcast<Element: Sendable>: Sendable {
    private struct Listeners {
        var continuations: [Int: AsyncStream<Element>.Continuation] = [:]
        var next = 0
    }
    private let listeners = Mutex(Listeners())
    /// Keeps the order of elements that several threads send.
    private let order = Mutex<Void>(())

    /// Nobody listens yet.
    package init() {}

    deinit { listeners.withLock { for continuation in $0.continuations.values { continuation.finish() } } }

    /// Returns elements sent from this call on, in order, kept until they are read. Ends when the task is cancelled or this object
    /// freed.
    /// - Parameters:
    ///   - newest: how many are kept for a listener that is slow, the newest; all of them where nothing is said.
    ///   - first: what this listener is told before.
    package func stream(keeping newest: Int? = nil, startingWith first: Element? = nil) -> AsyncStream<Element> {
        AsyncStream(bufferingPolicy: newest.map { .bufferingNewest($0) } ?? .unbounded) { continuation in
            if let first { continuation.yield(first) }
            let number = listeners.withLock { listeners in
                listeners.next += 1
                listeners.continuations[listeners.next] = continuation
                return listeners.next
            }
            continuation.onTermination = { [weak self] _ in
                self?.listeners.withLock { _ = $0.continuations.removeValue(forKey: number) }
            }
        }
    }

    /// To all who listen now.
    package func send(_ element: Element) {
        order.withLock { _ in
            // Not under the listeners' lock: a yield waits for a task that is being cancelled, and a cancellation for that lock.
            let continuations = listeners.withLock { Array($0.continuations.values) }
            for continuation in continuations { continuation.yield(element) }
        }
    }
}
