// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestTraits
import Testing

@testable import EarshotAudioBase

/// Runs alone in its process, whose memory it measures.
@Suite(
    .separate,
    .disabled(if: dlsym(nil, "__asan_init") != nil, "the address sanitizer keeps freed memory back"))
struct MemoryTests {
    private func residentPages() throws -> Int {
        let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return try #require(Int(fields[1]))
    }

    /// malloc's smallest block takes 32 bytes, so one leaked block each time adds up to 2,300 pages.
    private func growth(_ make: (Int) -> Int) throws -> Int {
        let before = try residentPages()
        var sum = 0
        for number in 0..<300_000 { sum &+= make(number) }
        #expect(sum != 0)
        return try residentPages() - before
    }

    @Test func `rings, buffers, boxes and queues do not leak memory`() throws {
        let rings = try growth { AudioRing(channelCount: 1, capacity: 2 + $0 % 2).capacity }
        #expect(rings < 1_000, "\(rings) pages more")
        let buffers = try growth { AudioBuffer(channelCount: 1, frameCapacity: 1 + $0 % 2).frameCapacity }
        #expect(buffers < 1_000, "\(buffers) pages more")
        let boxes = try growth { LatestValue($0).load() }
        #expect(boxes < 1_000, "\(boxes) pages more")
        let queues = try growth { _ in
            let queue = MessageQueue<Int>(capacity: 2)
            return queue.writer.push(1) ? 1 : 0
        }
        #expect(queues < 1_000, "\(queues) pages more")
    }

    /// Unoptimised code does not call the `deinit` of a generic non-copyable struct of an optimised module (Swift 6.3.1).
    @Test func `a released lock does not leak memory`() throws {
        let locks = try growth { number in
            let lock = LockedValue(number)
            return lock.withLock { $0 }
        }
        #expect(locks < 1_000, "\(locks) pages more")
    }

    @Test func `wake-ups leak neither memory nor file descriptors`() throws {
        let wakeups = try growth { _ in Int(Wakeup().fileDescriptor) }
        #expect(wakeups < 1_000, "\(wakeups) pages more")
        let first = Wakeup().fileDescriptor
        #expect(first < 100, "\(first)")
    }

    @Test func `a released listener is removed from the broadcast`() throws {
        let broadcast = Broadcast<Int>()
        let streams = try growth {
            _ = broadcast.stream()
            return $0
        }
        #expect(streams < 1_000, "\(streams) pages more")
    }
}
