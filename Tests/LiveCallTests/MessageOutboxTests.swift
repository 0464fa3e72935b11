// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

@testable import EarshotLiveCall

/// The messages for one participant, without a room.
@Suite(.timeLimit(.minutes(10))) struct MessageOutboxTests {
    /// A member that accepts lines on request.
    private final class Member: Sendable {
        private let state = Mutex((taken: [String](), complaints: [String](), reason: String?.none, isWilling: true))

        var taken: [String] { state.withLock { $0.taken } }
        var complaints: [String] { state.withLock { $0.complaints } }
        func set(isWilling: Bool, reason: String? = nil) {
            state.withLock { ($0.isWilling, $0.reason) = (isWilling, reason) }
        }

        func take(_ line: String) async -> String? {
            while !state.withLock({ $0.isWilling }) { try? await Task.sleep(for: .milliseconds(2)) }
            return state.withLock { state in
                if state.reason == nil { state.taken.append(line) }
                return state.reason
            }
        }

        func complain(_ count: Int, _ reason: String) { state.withLock { $0.complaints.append("\(count): \(reason)") } }

        var outbox: MessageOutbox {
            MessageOutbox {
                await self.take($0)
            } reportLoss: {
                self.complain($0, $1)
            }
        }
    }

    @Test func `messages are sent in order`() async {
        let member = Member()
        let outbox = member.outbox
        let lines = (0..<MessageOutbox.capacity).map { "\($0)" }
        for line in lines { outbox.enqueue(line) }
        #expect(await happens { outbox.count == 0 })
        #expect(member.taken == lines && member.complaints.isEmpty)
    }

    @Test func `an unresponsive receiver is waited for only for a while, and few messages are kept`() async {
        let member = Member()
        member.set(isWilling: false)
        let outbox = member.outbox
        outbox.enqueue("first")
        #expect(!outbox.isFull())
        // The first may already be on its way.
        while !outbox.isFull() { outbox.enqueue("more") }
        #expect(!outbox.isFull(at: .now + MessageOutbox.fullTimeout))
        for _ in 0..<1_000 { outbox.enqueue("too much") }
        member.set(isWilling: true)
        #expect(await happens { outbox.count == 0 })
        #expect((MessageOutbox.capacity...MessageOutbox.capacity + 2).contains(member.taken.count))
        #expect(member.complaints.count == 1 && member.complaints[0].contains("too many messages were waiting"))
    }

    @Test func `messages queued behind a failed one are dropped with it, and the next one is tried`() async {
        let member = Member()
        member.set(isWilling: false)
        let outbox = member.outbox
        for line in ["a", "b", "c"] { outbox.enqueue(line) }
        member.set(isWilling: true, reason: "they are gone")
        #expect(await happens { outbox.count == 0 })
        #expect(member.complaints == ["3: they are gone"] && member.taken.isEmpty)
        member.set(isWilling: true)
        outbox.enqueue("d")
        #expect(await happens { outbox.count == 0 })
        #expect(member.taken == ["d"])
    }
}
