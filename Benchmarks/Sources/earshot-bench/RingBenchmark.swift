// SPDX-License-Identifier: Apache-2.0

import CJACKRing
import EarshotAudioBase
import Foundation
import PairedTimes

/// ``AudioRing`` compared with `jack_ringbuffer`: one channel, 4,096 samples, blocks of 128.
enum RingBenchmark {
    private static let capacity = 4_096
    private static let block = 128

    /// The memory from and to which both rings copy.
    private struct Ends: @unchecked Sendable {  // each thread has its own end
        let ring = AudioRing(channelCount: 1, capacity: capacity)
        let jack: UnsafeMutablePointer<jack_ringbuffer_t>
        let from = AudioBuffer(channelCount: 1, frameCapacity: block)
        let to = AudioBuffer(channelCount: 1, frameCapacity: block)

        init() {
            guard let jack = jack_ringbuffer_create(capacity * 4) else { fatalError("out of memory") }
            self.jack = jack
        }

        func writeJACK() -> Bool {
            guard jack_ringbuffer_write_space(jack) >= block * 4 else { return false }
            jack_ringbuffer_write(
                jack, UnsafeRawPointer(from.channels[0]).assumingMemoryBound(to: CChar.self), block * 4)
            return true
        }

        func readJACK() -> Bool {
            guard jack_ringbuffer_read_space(jack) >= block * 4 else { return false }
            jack_ringbuffer_read(
                jack, UnsafeMutableRawPointer(to.channels[0]).assumingMemoryBound(to: CChar.self), block * 4)
            return true
        }

        func writeRing() -> Bool {
            ring.writer.heldFrames + block <= capacity && ring.writer.write(from.channels, frameCount: block)
        }

        func readRing() -> Bool { ring.reader.read(to.channels, frameCount: block).frameCount == block }
    }

    /// Returns the nanoseconds to write and read one block on one thread.
    static func oneThread(repetitions: Int = 61, operations: Int = 100_000) -> Paired {
        let ends = Ends()
        defer { jack_ringbuffer_free(ends.jack) }
        let (writer, reader) = (ends.ring.writer, ends.ring.reader)
        let (source, sink) = (ends.from.channels, ends.to.channels)
        return Paired(repetitions: repetitions, operations: operations) {
            for _ in 0..<operations {
                writer.write(source, frameCount: block)
                _ = reader.read(sink, frameCount: block)
            }
        } theirs: {
            let from = UnsafeRawPointer(ends.from.channels[0]).assumingMemoryBound(to: CChar.self)
            let to = UnsafeMutableRawPointer(ends.to.channels[0]).assumingMemoryBound(to: CChar.self)
            for _ in 0..<operations {
                jack_ringbuffer_write(ends.jack, from, block * 4)
                jack_ringbuffer_read(ends.jack, to, block * 4)
            }
        }
    }

    /// Returns the nanoseconds to pass a block from one thread to another, if both do nothing else.
    static func twoThreads(repetitions: Int = 21, operations: Int = 100_000) -> Paired {
        let ends = Ends()
        defer { jack_ringbuffer_free(ends.jack) }
        return Paired(repetitions: repetitions, operations: operations) {
            transfer(operations, write: ends.writeRing, read: ends.readRing)
        } theirs: {
            transfer(operations, write: ends.writeJACK, read: ends.readJACK)
        }
    }

    private static func transfer(
        _ blocks: Int, write: @escaping @Sendable () -> Bool, read: () -> Bool
    ) {
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            var left = blocks
            while left > 0 { left -= write() ? 1 : 0 }
            done.signal()
        }
        var left = blocks
        while left > 0 { left -= read() ? 1 : 0 }
        done.wait()
    }
}
