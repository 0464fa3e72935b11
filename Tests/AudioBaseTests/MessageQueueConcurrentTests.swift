// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization
import TestSupport
import Testing

@Suite struct MessageQueueConcurrentTests {
    private struct Record: BitwiseCopyable, Sendable {
        var number: Int
        var inverse: Int
    }

    @Test(arguments: [2, 16, 256])
    func recordsArriveWholeInOrderAndTheRestIsCounted(capacity: Int) {
        let queue = MessageQueue<Record>(capacity: capacity)
        let total = 100_000
        let done = Atomic(false)
        let popped = Atomic(0)
        let wrong = Atomic(0)
        onTwoThreads {
            var random = SeededRandom(seed: 3)
            for n in 0..<total {
                queue.writer.push(Record(number: n, inverse: ~n))
                if n & 15 == 0 { stall(&random) }
            }
            done.store(true, ordering: .releasing)
        } _: {
            var random = SeededRandom(seed: 4)
            var last = -1
            while true {
                let finished = done.load(ordering: .acquiring)
                guard let record = queue.pop() else {
                    if finished { return }
                    continue
                }
                if record.number <= last || record.inverse != ~record.number {
                    wrong.add(1, ordering: .relaxed)
                }
                last = record.number
                popped.add(1, ordering: .relaxed)
                if record.number & 15 == 0 { stall(&random) }
            }
        }
        #expect(wrong.load(ordering: .relaxed) == 0)
        #expect(popped.load(ordering: .relaxed) + queue.droppedCount == total)
    }
}
