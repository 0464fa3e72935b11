// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import Testing

@Suite struct MessageQueueTests {
    @Test func anEmptyQueueHasNothing() {
        #expect(MessageQueue<Int>(capacity: 4).pop() == nil)
    }

    @Test(arguments: [(1, 2), (2, 2), (3, 4), (4, 4), (5, 8)])
    func aFullQueueDropsAndCounts(capacity: Int, room: Int) {
        let queue = MessageQueue<Int>(capacity: capacity)
        for n in 0..<room { #expect(queue.writer.push(n)) }
        for n in 0..<3 { #expect(!queue.writer.push(100 + n)) }
        #expect(queue.droppedCount == 3)
        #expect((0..<room).map { _ in queue.pop() } == (0..<room).map { $0 })
        #expect(queue.pop() == nil)
    }

    @Test(arguments: [1, 2, 7, 64])
    func theQueueIsItsModel(capacity: Int) {
        let queue = MessageQueue<UInt64>(capacity: capacity)
        var room = 2
        while room < capacity { room *= 2 }
        var random = SeededRandom(seed: UInt64(capacity))
        var model: [UInt64] = []
        var dropped = 0
        var differences = 0
        for _ in 0..<50_000 {
            if Bool.random(using: &random) {
                let record = random.next()
                let fits = model.count < room
                if fits { model.append(record) } else { dropped += 1 }
                if queue.writer.push(record) != fits { differences += 1 }
            } else if queue.pop() != (model.isEmpty ? nil : model.removeFirst()) {
                differences += 1
            }
        }
        #expect(differences == 0)
        #expect(queue.droppedCount == dropped)
    }
}
