// SPDX-License-Identifier: Apache-2.0

import EarshotRooms
import Synchronization

/// Runs one operation at a time: a new operation cancels the previous one, and begins when that has ended.
final class Latest: Sendable {
    private struct RunningOperation: Sendable {
        let cancel: @Sendable () -> Void
        let ended: @Sendable () async -> Void
    }
    private let last = Mutex<RunningOperation?>(nil)

    func run<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
        let task = last.withLock { last in
            let before = last
            let task = Task {
                before?.cancel()
                await before?.ended()
                try Task.checkCancellation()
                return try await body()
            }
            last = RunningOperation(cancel: { task.cancel() }, ended: { _ = await task.result })
            return task
        }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Cancels the running operation.
    func cancel() { last.withLock { $0 }?.cancel() }
}

/// The tasks with each member, which are cancelled when the member leaves.
final class MemberTasks: Sendable {
    private final class Entry: Sendable {
        let member: MemberID
        let reason = Mutex<TransferError?>(nil)
        let task = Mutex<(@Sendable () -> Void)?>(nil)
        init(_ member: MemberID) { self.member = member }

        func end(_ error: TransferError) {
            reason.withLock { $0 = error }
            task.withLock { $0 }?()
        }
    }
    private let state = Mutex<(entries: [ObjectIdentifier: Entry], isOver: Bool)>(([:], false))

    /// - Throws: the error of `body`; ``TransferError/gone`` or ``TransferError/ended`` if ``end(with:)`` or ``endAll()`` has
    ///   cancelled it.
    func run<Result: Sendable>(
        with member: MemberID, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let entry = Entry(member)
        try state.withLock { state in
            guard !state.isOver else { throw TransferError.ended }
            state.entries[ObjectIdentifier(entry)] = entry
        }
        defer { state.withLock { _ = $0.entries.removeValue(forKey: ObjectIdentifier(entry)) } }
        let task = Task { try await body() }
        entry.task.withLock { $0 = { task.cancel() } }
        if entry.reason.withLock({ $0 }) != nil { task.cancel() }
        do {
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch {
            throw entry.reason.withLock { $0 } ?? error
        }
    }

    /// Cancels the tasks with one member.
    func end(with member: MemberID) {
        let entries = state.withLock { $0.entries.values.filter { $0.member == member } }
        for entry in entries { entry.end(.gone) }
    }

    /// Cancels all tasks. Later calls of ``run(with:_:)`` throw ``TransferError/ended``.
    func endAll() {
        let entries = state.withLock { state in
            state.isOver = true
            return Array(state.entries.values)
        }
        for entry in entries { entry.end(.ended) }
    }

    var isOver: Bool { state.withLock { $0.isOver } }
}

/// Returns the result of `body`; nil if `body` took too long and was cancelled. Waits for the end of `body` in either case.
func within<Result: Sendable>(_ limit: Duration, _ body: @escaping @Sendable () async throws -> Result) async throws
    -> Result?
{
    try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try? await Task.sleep(for: limit)
            return nil
        }
        let first = try await group.next() ?? nil
        group.cancelAll()
        if let first { return first }
        do {
            return try await group.next() ?? nil
        } catch is CancellationError {
            try Task.checkCancellation()
            return nil
        }
    }
}

/// A value that is set once and awaited by any number of tasks.
final class Outcome<Value: Sendable>: Sendable {
    private let mailbox = Mailbox<Bool>(capacity: 0)
    private let state = Mutex<Value?>(nil)

    /// Sets the value, unless it is set already. Returns true if this call has set it.
    @discardableResult func set(_ value: Value) -> Bool {
        let isFirst = state.withLock { state in
            guard state == nil else { return false }
            state = value
            return true
        }
        if isFirst { mailbox.finish() }
        return isFirst
    }

    /// The value; nil while it is not set.
    var value: Value? { state.withLock { $0 } }

    /// Waits for the value.
    func get() async throws -> Value {
        if let value { return value }
        _ = try await mailbox.next()
        guard let value else { preconditionFailure("known and not there") }
        return value
    }
}
