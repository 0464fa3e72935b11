// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import Testing

/// Memory from `malloc` contains what an object of the same size left there just before.
@Suite struct UsedMemoryTests {
    @Test(arguments: [1, 2, 5], [1, 16, 300]) func `a new buffer is silent even in reused memory`(
        channelCount: Int, frameCapacity: Int
    ) {
        for _ in 0..<50 {
            let buffer = AudioBuffer(channelCount: channelCount, frameCapacity: frameCapacity)
            for c in 0..<channelCount {
                for i in 0..<frameCapacity {
                    #expect(buffer.channels[c][i] == 0)
                    buffer.channels[c][i] = 9
                }
            }
        }
    }

    @Test func `a new ring is empty even in reused memory`() {
        let block = MarkedBlock(channelCount: 2, frameCapacity: 16)
        for _ in 0..<50 {
            let ring = AudioRing(channelCount: 2, capacity: 8)
            #expect(ring.writer.heldFrames == 0 && ring.reader.heldFrames == 0 && ring.reader.offeredFrames == 0)
            #expect(!ring.writer.hasAwaited)
            #expect(ring.writer.write(block.channels, frameCount: 1) && ring.writer.hasAwaited)
            let slice = ring.reader.read(block.channels, frameCount: 2)
            #expect(slice.frameCount == 1 && slice.position == 0)
            #expect(ring.writer.write(block.channels, frameCount: 8))
            #expect(!ring.writer.write(block.channels, frameCount: 3))
            _ = ring.reader.read(block.channels, frameCount: 5)
            ring.reader.await(7)
        }
    }

    @Test func `new queues and boxes hold only their initial contents even in reused memory`() {
        for round in 0..<50 {
            let queue = MessageQueue<Int>(capacity: 2)
            #expect(queue.pop() == nil && queue.droppedCount == 0)
            for n in 0..<3 { #expect(queue.writer.push(n) == (n < 2)) }
            #expect(queue.pop() == 0 && queue.droppedCount == 1)
            let box = LatestValue(round)
            #expect(box.load() == round && box.load() == round)
            box.writer.store(-1)
            #expect(box.load() == -1)
            box.writer.store(-2)
        }
    }

    @Test func `a new wake-up is not signalled even in reused memory`() {
        for _ in 0..<50 {
            let wakeup = Wakeup()
            wakeup.handle.wake()
            var count: UInt64 = 0
            #expect(read(wakeup.fileDescriptor, &count, 8) < 0, "nobody sleeps")
            wakeup.prepareToSleep()
        }
    }
}
