// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import EarshotNearby

/// The queue between tasks, with either side ready first.
@Suite(.timeLimit(.minutes(10))) struct MailboxTests {
    @Test(arguments: [0, 1, 5]) func `a reader that starts first receives all elements in order`(capacity: Int)
        async throws
    {
        let box = Mailbox<Int>(capacity: capacity)
        async let read: [Int] = {
            var all: [Int] = []
            for try await number in box { all.append(number) }
            return all
        }()
        for number in 0..<100 { try await box.send(number) }
        box.finish()
        #expect(try await read == Array(0..<100))
    }

    @Test(arguments: [0, 1, 5]) func `a writer waits when the mailbox is full, and a reader wakes it`(
        capacity: Int
    ) async throws {
        let box = Mailbox<Int>(capacity: capacity)
        let sent = Counter()
        async let writing: Void = {
            for number in 0..<20 {
                try await box.send(number)
                sent.add(1)
            }
        }()
        #expect(await soon { sent.value == capacity })
        try await Task.sleep(for: .milliseconds(20))
        #expect(sent.value == capacity)
        for number in 0..<20 { #expect(try await box.next() == number) }
        try await writing
    }

    @Test func `a cancelled writer adds no element, and a cancelled reader loses none`() async throws {
        let box = Mailbox<Int>(capacity: 1)
        try await box.send(1)
        let late = Task { try await box.send(2) }
        try await Task.sleep(for: .milliseconds(10))
        late.cancel()
        await #expect(throws: CancellationError.self) { try await late.value }
        #expect(try await box.next() == 1)
        let reader = Task { try await box.next() }
        try await Task.sleep(for: .milliseconds(10))
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        try await box.send(3)
        #expect(try await box.next() == 3)
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await box.send(4)
        }
        await #expect(throws: CancellationError.self) { try await early.value }
        try await box.send(5)
        #expect(try await box.next() == 5)
    }

    @Test func `buffered elements are read before the end, and only the first end counts`() async throws {
        let box = Mailbox<Int>(capacity: 3)
        for number in 1...3 { try await box.send(number) }
        box.fail(TransferError.cut)
        box.finish()
        await #expect(throws: TransferError.cut) { try await box.send(4) }
        for number in 1...3 { #expect(try await box.next() == number) }
        await #expect(throws: TransferError.cut) { try await box.next() }
        let other = Mailbox<Int>(capacity: 0)
        let waiting = Task { try await other.send(1) }
        try await Task.sleep(for: .milliseconds(10))
        other.finish()
        await #expect(throws: MailboxClosed.self) { try await waiting.value }
        #expect(try await other.next() == nil)
    }

    @Test func `concurrent readers and writers neither lose nor duplicate an element`() async throws {
        let box = Mailbox<Int>(capacity: 3)
        let sum = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { for try await number in box { sum.add(number) } }
            }
            try await withThrowingTaskGroup(of: Void.self) { writers in
                for writer in 0..<4 {
                    writers.addTask { for number in 1...500 { try await box.send(number + writer) } }
                }
                try await writers.waitForAll()
            }
            box.finish()
            try await group.waitForAll()
        }
        #expect(sum.value == 4 * 500 * 501 / 2 + 500 * (0 + 1 + 2 + 3))
    }

    @Test func `a new task cancels the previous one, and starts when that has ended`() async throws {
        let latest = Latest()
        let running = Counter()
        let most = Counter()
        let tasks = (0..<20).map { number in
            Task {
                try await latest.run {
                    most.raise(to: running.add(1))
                    defer { running.add(-1) }
                    try await Task.sleep(for: .seconds(number < 19 ? 600 : 0))
                    return number
                }
            }
        }
        try await Task.sleep(for: .milliseconds(50))
        #expect(try await latest.run { running.value } == 0)
        for task in tasks { _ = await task.result }
        #expect(most.value == 1)
    }
}
