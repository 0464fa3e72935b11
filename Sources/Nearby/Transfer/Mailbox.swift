// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A queue between tasks. Senders wait while it is full, and readers while it is empty. Elements keep their order; any number of
/// tasks may send and read.
///
/// A `send` that throws has added nothing, so the sender knows for certain what was delivered. With a capacity of 0 an element
/// passes directly to a reader.
public final class Mailbox<Element: Sendable>: AsyncSequence, Sendable {
    fileprivate typealias Sender = (id: UInt64, element: Element, turn: CheckedContinuation<Void, any Error>)
    fileprivate typealias Reader = (id: UInt64, turn: CheckedContinuation<Element?, any Error>)

    fileprivate struct State {
        var elements: [Element] = []
        var senders: [Sender] = []
        var readers: [Reader] = []
        /// The result for readers after the last element; nil while the queue is open.
        var end: Result<Void, any Error>?
        var lastID: UInt64 = 0
        /// The numbers of calls that were cancelled before they waited.
        var cancelled: Set<UInt64> = []
    }
    /// No task is resumed while this lock is held. Resuming a task that is being cancelled waits for the cancellation, which
    /// itself waits for the lock.
    private let state = Mutex(State())
    private let capacity: Int

    /// - Parameter capacity: the elements that the queue holds before senders must wait.
    package init(capacity: Int) { self.capacity = capacity }

    /// Adds an element when there is room.
    /// - Throws: `CancellationError`, ``MailboxClosed``, or the error of ``fail(_:)``; the element was then not added.
    package func send(_ element: Element) async throws {
        let id = newID()
        defer { state.withLock { _ = $0.cancelled.remove(id) } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { turn in
                let (result, reader) = state.withLock { state -> (Result<Void, any Error>?, Reader?) in
                    if state.cancelled.remove(id) != nil { return (.failure(CancellationError()), nil) }
                    if let end = state.end { return (.failure(end.failure ?? MailboxClosed()), nil) }
                    if !state.readers.isEmpty { return (.success(()), state.readers.removeFirst()) }
                    if state.elements.count < capacity {
                        state.elements.append(element)
                        return (.success(()), nil)
                    }
                    state.senders.append((id, element, turn))
                    return (nil, nil)
                }
                reader?.turn.resume(returning: element)
                if let result { turn.resume(with: result) }
            }
        } onCancel: {
            cancelSender(id)
        }
    }

    /// Ends the queue after its elements. Waiting senders get ``MailboxClosed``.
    package func finish() { end(.success(())) }

    /// Ends the queue after its elements with an error, which readers and waiting senders throw. Only the first end counts.
    package func fail(_ error: any Error) { end(.failure(error)) }

    /// Returns the next element; nil after the last one.
    public func next() async throws -> Element? {
        let id = newID()
        defer { state.withLock { _ = $0.cancelled.remove(id) } }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { turn in
                let (result, sender) = state.withLock { state -> (Result<Element?, any Error>?, Sender?) in
                    if state.cancelled.remove(id) != nil { return (.failure(CancellationError()), nil) }
                    if let (element, sender) = state.takeElement(capacity) { return (.success(element), sender) }
                    if let end = state.end { return (end.map { nil }, nil) }
                    state.readers.append((id, turn))
                    return (nil, nil)
                }
                sender?.turn.resume()
                if let result { turn.resume(with: result) }
            }
        } onCancel: {
            cancelReader(id)
        }
    }

    /// Removes the next element, if there is one, without waiting.
    func drop() {
        let taken = state.withLock { $0.takeElement(capacity) }
        taken?.sender?.turn.resume()
    }

    /// Iterates over the elements. If there are several iterators, each element goes to one of them.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let mailbox: Mailbox

        /// Returns the next element.
        public mutating func next() async throws -> Element? { try await mailbox.next() }
    }

    /// Returns an iterator.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(mailbox: self) }

    private func newID() -> UInt64 {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    private func end(_ result: Result<Void, any Error>) {
        let (senders, readers) = state.withLock { state -> ([Sender], [Reader]) in
            guard state.end == nil else { return ([], []) }
            state.end = result
            defer { (state.senders, state.readers) = ([], []) }
            return (state.senders, state.readers)
        }
        for sender in senders { sender.turn.resume(throwing: result.failure ?? MailboxClosed()) }
        for reader in readers { reader.turn.resume(with: result.map { nil }) }
    }

    private func cancelSender(_ id: UInt64) {
        let turn = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            if let index = state.senders.firstIndex(where: { $0.id == id }) {
                return state.senders.remove(at: index).turn
            }
            state.cancelled.insert(id)
            return nil
        }
        turn?.resume(throwing: CancellationError())
    }

    private func cancelReader(_ id: UInt64) {
        let turn = state.withLock { state -> CheckedContinuation<Element?, any Error>? in
            if let index = state.readers.firstIndex(where: { $0.id == id }) {
                return state.readers.remove(at: index).turn
            }
            state.cancelled.insert(id)
            return nil
        }
        turn?.resume(throwing: CancellationError())
    }
}

/// The mailbox accepts no more elements.
package struct MailboxClosed: Error, Hashable {
    /// Creates the error.
    package init() {}
}

extension Mailbox.State {
    /// Removes and returns the next element, and the sender to resume, if any: its element is the returned one, or moves into the
    /// free place.
    fileprivate mutating func takeElement(_ capacity: Int) -> (element: Element, sender: Mailbox.Sender?)? {
        guard !elements.isEmpty else {
            guard !senders.isEmpty else { return nil }
            let sender = senders.removeFirst()
            return (sender.element, sender)
        }
        let element = elements.removeFirst()
        guard elements.count < capacity, !senders.isEmpty else { return (element, nil) }
        let sender = senders.removeFirst()
        elements.append(sender.element)
        return (element, sender)
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
