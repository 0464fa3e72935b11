import Synchronization

/// Tells whoever listens, each through an `AsyncStream` of its own. Any thread but the render thread.
public final class Broadcast<Element: Sendable>: Sendable {
    private struct Listeners {
        var continuations: [Int: AsyncStream<Element>.Continuation] = [:]
        var next = 0
    }
    private let listeners = Mutex(Listeners())

    /// Nobody listens yet.
    public init() {}

    deinit { listeners.withLock { for continuation in $0.continuations.values { continuation.finish() } } }

    /// What is sent from this call on, in order, kept until it is read. Ends when the task is cancelled or this object freed.
    public func stream() -> AsyncStream<Element> {
        AsyncStream { continuation in
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
    public func send(_ element: Element) {
        listeners.withLock { for continuation in $0.continuations.values { continuation.yield(element) } }
    }
}
