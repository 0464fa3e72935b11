import Rooms
import Synchronization
import Testing

@testable import earshot

/// What a chat does with lines, without a room.
@Suite(.timeLimit(.minutes(1))) struct ChatOutboxTests {
    /// Somebody who takes lines when told to.
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

        var outbox: ChatOutbox {
            ChatOutbox {
                await self.take($0)
            } complain: {
                self.complain($0, $1)
            }
        }
    }

    private static func happens(_ condition: () -> Bool) async -> Bool {
        for _ in 0..<2_000 where !condition() { try? await Task.sleep(for: .milliseconds(5)) }
        return condition()
    }

    @Test func `lines go out in their order`() async {
        let member = Member()
        let outbox = member.outbox
        let lines = (0..<ChatOutbox.capacity).map { "\($0)" }
        for line in lines { outbox.put(line) }
        #expect(await Self.happens { outbox.isEmpty })
        #expect(member.taken == lines && member.complaints.isEmpty)
    }

    @Test func `who takes nothing is waited for only a while, and few lines are kept`() async {
        let member = Member()
        member.set(isWilling: false)
        let outbox = member.outbox
        outbox.put("first")
        #expect(!outbox.isFull())
        // The first may be on its way already.
        while !outbox.isFull() { outbox.put("more") }
        #expect(!outbox.isFull(at: .now + ChatOutbox.patience))
        for _ in 0..<1_000 { outbox.put("too much") }
        member.set(isWilling: true)
        #expect(await Self.happens { outbox.isEmpty })
        #expect((ChatOutbox.capacity...ChatOutbox.capacity + 2).contains(member.taken.count))
        #expect(member.complaints.count == 1 && member.complaints[0].contains("too much was waiting"))
    }

    @Test func `what is behind a line that did not arrive goes with it, and the next is tried`() async {
        let member = Member()
        member.set(isWilling: false)
        let outbox = member.outbox
        for line in ["a", "b", "c"] { outbox.put(line) }
        member.set(isWilling: true, reason: "they are gone")
        #expect(await Self.happens { outbox.isEmpty })
        #expect(member.complaints == ["3: they are gone"] && member.taken.isEmpty)
        member.set(isWilling: true)
        outbox.put("d")
        #expect(await Self.happens { outbox.isEmpty })
        #expect(member.taken == ["d"])
    }

    @Test(arguments: [
        ("hello", "Bob: hello"), ("a\nAnn: yes", "Bob: a\nBob: Ann: yes"),
        ("a\r\n\n\nb\u{2028}c\u{85}d\r", "Bob: a\nBob: b\nBob: c\nBob: d"),
        ("\n\n", "Bob: "), ("", "Bob: "),
    ]) func `no line of a message passes for another's`(text: String, shown: String) {
        #expect(RoomArrivals.message(text, of: "Bob") == shown)
    }

    @Test func `of two who ask under one name a number tells which`() {
        #expect(RoomConsole.meant(nil, of: ["Bob"]) == 0 && RoomConsole.meant(nil, of: ["Bob", "Cleo"]) == nil)
        #expect(RoomConsole.meant("Cleo", of: ["Bob", "Cleo"]) == 1 && RoomConsole.meant("Dora", of: ["Bob"]) == nil)
        #expect(
            RoomConsole.meant("Bob", of: ["Bob", "Bob"]) == nil && RoomConsole.meant("2", of: ["Bob", "Bob"]) == 1)
        // Nobody gets in by a name that is another's number.
        #expect(RoomConsole.meant("1", of: ["Bob", "1"]) == 0 && RoomConsole.meant("2", of: ["Bob", "1"]) == 1)
        #expect(RoomConsole.meant("7", of: ["7"]) == 0 && RoomConsole.meant("0", of: ["Bob"]) == nil)
        #expect(RoomConsole.meant(nil, of: []) == nil && RoomConsole.meant("1", of: []) == nil)
    }
}
