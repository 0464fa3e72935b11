// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A queue between tasks that holds up who sends while it is full, and who reads while it is empty. In order; any number of
/// tasks on either side.
///
/// A `send` that throws has put nothing in: so what was handed over by it is known for certain. With a capacity of 0 an
/// element goes from hand to hand.
public final class Mailbox<Element: Sendable>: AsyncSequence, Sendable {
    fileprivate typealias Sender = (id: UInt64, element: Element, turn: CheckedContinuation<Void, any Error>)
    fileprivate typealias Reader = (id: UInt64, turn: CheckedContinuation<Element?, any Error>)

    fileprivate struct State {
        var elements: [Element] = []
        var senders: [Sender] = []
        var readers: [Reader] = []
        /// Nil while it is open; then what readers get behind the last element.
        var end: Result<Void, any Error>?
        var lastID: UInt64 = 0
        /// Cancelled before they waited.
        var cancelled: Set<UInt64> = []
    }
    /// No task is resumed under this lock: a resumption waits for a task that is being cancelled, and its cancellation for the lock.
    private let state = Mutex(State())
    private let capacity: Int

    /// - Parameter capacity: elements that wait for a reader before senders have to.
    package init(capacity: Int) { self.capacity = capacity }

    /// Puts one in, when there is room.
    /// - Throws: `CancellationError`, or ``MailboxClosed``, or what it was ended with; the element is then not in it.
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

    /// Ends it behind what is in it. Who waits to put something in gets ``MailboxClosed``.
    package func finish() { end(.success(())) }

    /// Ends it behind what is in it: readers, and who waits to put something in, get this error. The first end counts.
    package func fail(_ error: any Error) { end(.failure(error)) }

    /// Takes the next one out; nil behind the last one.
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

    /// Takes out what is there, and waits for nothing.
    func drop() {
        let taken = state.withLock { $0.takeElement(capacity) }
        taken?.sender?.turn.resume()
    }

    /// The elements; several loops share them.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let mailbox: Mailbox

        /// The next element.
        public mutating func next() async throws -> Element? { try await mailbox.next() }
    }

    /// Reads from it.
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

/// The mailbox takes nothing any more.
package struct MailboxClosed: Error, Hashable {
    /// One.
    package init() {}
}

extension Mailbox.State {
    /// The next element, and the sender to resume, whose element takes its place.
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
