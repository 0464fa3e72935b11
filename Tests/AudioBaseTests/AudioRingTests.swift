// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@Suite struct AudioRingTests {
    @Test(arguments: [(1, 2), (2, 2), (3, 4), (100, 128), (128, 128), (129, 256)])
    func capacityIsRoundedUpToAPowerOfTwo(asked: Int, got: Int) {
        #expect(AudioRing(channelCount: 1, capacity: asked).capacity == got)
    }

    @Test func `a ring traps when created with no channels or more than 32`() async {
        await #expect(processExitsWith: .failure) { _ = AudioRing(channelCount: 33, capacity: 8) }
        await #expect(processExitsWith: .failure) { _ = AudioRing(channelCount: 0, capacity: 8) }
    }

    /// S0.7: the fill test failed at the wrap. Tests every position in the ring, every fill and every block size.
    @Test(arguments: 1...3)
    func theFillTestHoldsAtEveryPlaceOfTheWrap(channelCount: Int) {
        let block = MarkedBlock(channelCount: channelCount, frameCapacity: 9)
        for start in 0..<17 {
            for fill in 0...8 {
                for size in 0...9 {
                    let ring = AudioRing(channelCount: channelCount, capacity: 8)
                    for _ in 0..<start {
                        ring.writer.write(block.channels, frameCount: 1)
                        _ = ring.reader.read(block.channels, frameCount: 1)
                    }
                    #expect(ring.writer.write(block.channels, frameCount: fill))
                    #expect(ring.writer.write(block.channels, frameCount: size) == (fill + size <= 8))
                    #expect(ring.reader.heldFrames == (fill + size <= 8 ? fill + size : fill))
                }
            }
        }
    }

    /// S3.6: a ring wrote one byte past its end, and a short read left stale samples.
    @Test(arguments: [1, 2, 7, 8, 9, 15, 16])
    func nothingIsTouchedOutsideTheBlock(frameCount: Int) {
        let ring = AudioRing(channelCount: 2, capacity: 16)
        let source = MarkedBlock(channelCount: 2, frameCapacity: 32)
        let sink = MarkedBlock(channelCount: 2, frameCapacity: 32)
        for round in 0..<40 {
            let position = round * frameCount
            source.wipe()
            source.fill(position: position, frameCount: frameCount, offset: 3)
            #expect(ring.writer.write(source.channels, frameCount: frameCount, offset: 3))
            #expect(source.holds(position: position, frameCount: frameCount, offset: 3))
            sink.wipe()
            let slice = ring.reader.read(sink.channels, frameCount: 17, offset: 5)
            #expect(slice.frameCount == frameCount)
            #expect(sink.holds(position: position, frameCount: frameCount, offset: 5))
        }
    }

    /// Other channels are intact after a channel is written to its end.
    @Test func channelsOfTheRingDoNotRunIntoEachOther() {
        let ring = AudioRing(channelCount: 3, capacity: 8)
        let block = MarkedBlock(channelCount: 3, frameCapacity: 8)
        for position in stride(from: 0, to: 88, by: 8) {
            block.fill(position: position, frameCount: 8, offset: 0)
            #expect(ring.writer.write(block.channels, frameCount: 8))
            block.wipe()
            #expect(ring.reader.read(block.channels, frameCount: 8).position == position)
            #expect(block.holds(position: position, frameCount: 8, offset: 0))
        }
    }

    @Test func aStallDiscardsAllThatIsHeldAndTheGapIsExact() {
        let ring = AudioRing(channelCount: 1, capacity: 16)
        let block = MarkedBlock(channelCount: 1, frameCapacity: 16)
        for _ in 0..<10 { ring.writer.write(block.channels, frameCount: 4) }  // 16 held, 24 rejected
        #expect(ring.reader.read(block.channels, frameCount: 4, holdingAtMost: 8).frameCount == 0)
        #expect(ring.writer.write(block.channels, frameCount: 4))
        let slice = ring.reader.read(block.channels, frameCount: 4, holdingAtMost: 8)
        #expect(slice.frameCount == 4 && slice.position == 40)
        #expect(ring.reader.offeredFrames == 44)
    }

    @Test func theReaderDropsTheOldestAboveItsBound() {
        let ring = AudioRing(channelCount: 1, capacity: 16)
        let block = MarkedBlock(channelCount: 1, frameCapacity: 16)
        block.fill(position: 0, frameCount: 12, offset: 0)
        ring.writer.write(block.channels, frameCount: 12)
        block.wipe()
        let slice = ring.reader.read(block.channels, frameCount: 3, holdingAtMost: 5)
        #expect(slice.position == 7 && block.holds(position: 7, frameCount: 3, offset: 0))
        #expect(ring.reader.heldFrames == 2)
    }

    @Test func skippedFramesLieBehindWhatIsHeld() {
        let ring = AudioRing(channelCount: 1, capacity: 16)
        let block = MarkedBlock(channelCount: 1, frameCapacity: 16)
        ring.writer.write(block.channels, frameCount: 4)
        ring.writer.skip(100)
        #expect(!ring.writer.write(block.channels, frameCount: 4))
        #expect(ring.reader.read(block.channels, frameCount: 8).frameCount == 4)
        #expect(ring.writer.write(block.channels, frameCount: 4))
        #expect(ring.reader.read(block.channels, frameCount: 8).position == 108)
    }

    @Test func skippingNothingChangesNothing() {
        let ring = AudioRing(channelCount: 1, capacity: 16)
        let block = MarkedBlock(channelCount: 1, frameCapacity: 16)
        ring.writer.write(block.channels, frameCount: 4)
        ring.writer.skip(0)
        #expect(ring.writer.write(block.channels, frameCount: 4))
        #expect(ring.reader.heldFrames == 8)
    }

    @Test func `the writer reports awaited frames once the ring holds as many as the reader awaits`() {
        let ring = AudioRing(channelCount: 1, capacity: 16)
        let block = MarkedBlock(channelCount: 1, frameCapacity: 16)
        #expect(!ring.writer.hasAwaited)
        ring.writer.write(block.channels, frameCount: 4)
        #expect(ring.writer.hasAwaited)
        ring.reader.await(6)
        #expect(!ring.writer.hasAwaited)
        ring.writer.write(block.channels, frameCount: 2)
        #expect(ring.writer.hasAwaited)
        _ = ring.reader.read(block.channels, frameCount: 1)
        #expect(!ring.writer.hasAwaited)
    }

    @Test func `discarding drops the oldest frames, at most as many as the ring holds`() {
        let ring = AudioRing(channelCount: 1, capacity: 16)
        let block = MarkedBlock(channelCount: 1, frameCapacity: 16)
        #expect(ring.reader.discard(4) == 0)
        block.fill(position: 0, frameCount: 10, offset: 0)
        ring.writer.write(block.channels, frameCount: 10)
        #expect(ring.reader.discard(4) == 4 && ring.reader.heldFrames == 6)
        block.wipe()
        #expect(
            ring.reader.read(block.channels, frameCount: 2).position == 4
                && block.holds(position: 4, frameCount: 2, offset: 0))
        #expect(ring.reader.discard(0) == 0)
        #expect(ring.reader.discard(100) == 4 && ring.reader.heldFrames == 0 && ring.writer.heldFrames == 0)
        #expect(ring.reader.offeredFrames == 10)
    }

    @Test func `a read-only channel view is written to the ring like a mutable one`() {
        let ring = AudioRing(channelCount: 2, capacity: 8)
        let block = MarkedBlock(channelCount: 2, frameCapacity: 8)
        block.fill(position: 5, frameCount: 4, offset: 2)
        let view = ReadOnlyChannels(block.channels)
        #expect(view.count == 2 && view[1] == UnsafePointer(block.channels[1]))
        #expect(ring.writer.write(view, frameCount: 4, offset: 2))
        block.wipe()
        #expect(ring.reader.read(block.channels, frameCount: 4).frameCount == 4)
        #expect(block.holds(position: 5, frameCount: 4, offset: 0))
        #expect(!ring.writer.write(view, frameCount: 9))
    }

    @Test func `the empty ring rejects an oversized block after an overrun and accepts the next one`() {
        let ring = AudioRing(channelCount: 1, capacity: 8)
        let block = MarkedBlock(channelCount: 1, frameCapacity: 16)
        ring.writer.skip(3)
        #expect(!ring.writer.write(block.channels, frameCount: 9))
        #expect(ring.writer.write(block.channels, frameCount: 8))
        #expect(ring.reader.read(block.channels, frameCount: 8).position == 12)
        #expect(ring.channelCount == 1)
    }
}
