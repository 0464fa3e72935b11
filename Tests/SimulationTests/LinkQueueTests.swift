// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EarshotSimulation

/// A link with a rate and a bounded queue.
@Suite struct LinkQueueTests {
    /// Returns the time at which a datagram has left, or −1.
    private func leave(_ queue: inout LinkQueue, _ byteCount: Int, at now: Double) -> Double {
        queue.departure(byteCount: byteCount, at: now) ?? -1
    }

    @Test func `a datagram leaves once its bits and all earlier ones have been sent`() {
        var queue = LinkQueue(LinkCapacity(bitsPerSecond: 80_000, queueBytes: 100_000), events: [])
        #expect(leave(&queue, 1_000, at: 1) == 1.1)
        #expect(abs(leave(&queue, 500, at: 1.02) - 1.15) < 1e-9)
        #expect(abs(leave(&queue, 500, at: 3) - 3.05) < 1e-9)
    }

    @Test func `a datagram is dropped if the queue is full, but an oversized one is sent if none waits`() {
        var queue = LinkQueue(LinkCapacity(bitsPerSecond: 80_000, queueBytes: 2_000), events: [])
        #expect(queue.departure(byteCount: 5_000, at: 0) != nil)
        // It takes 0.5 s; at 0.4 s 1,000 bytes are left.
        #expect(queue.departure(byteCount: 1_001, at: 0.4) == nil)
        #expect(queue.departure(byteCount: 999, at: 0.4) != nil)
        #expect(queue.departure(byteCount: 999, at: 0.4) == nil)
        #expect(queue.departure(byteCount: 999, at: 0.6) != nil)
    }

    @Test func `the default queue holds a fifth of a second, but at least two packets`() {
        for (rate, limit) in [(1_000_000.0, 25_000), (32_000, 3_000)] {
            var queue = LinkQueue(LinkCapacity(bitsPerSecond: rate), events: [])
            var taken = 0
            while queue.departure(byteCount: 100, at: 0) != nil { taken += 100 }
            #expect(taken == limit)
        }
    }

    @Test func `a capacity change takes effect in the middle of a datagram`() {
        let events: [NetworkEvent] = [.capacity(bitsPerSecond: 8_000, at: 2), .capacity(bitsPerSecond: nil, at: 4)]
        var queue = LinkQueue(LinkCapacity(bitsPerSecond: 80_000, queueBytes: 50_000), events: events)
        // 10,000 bits before the change, 6,000 after it.
        #expect(abs(leave(&queue, 2_000, at: 1.875) - 2.75) < 1e-9)
        // 10,000 of 24,000 bits before the limit ends.
        #expect(abs(leave(&queue, 3_000, at: 2.5) - 4) < 1e-9)
        #expect(leave(&queue, 3_000, at: 5) == 5)
        #expect(!queue.isUnlimited && LinkQueue(LinkCapacity(), events: []).isUnlimited)
    }
}
