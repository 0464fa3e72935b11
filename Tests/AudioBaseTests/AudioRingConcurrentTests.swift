// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization
import TestSupport
import Testing

/// One thread writes and one reads, both with random blocks and pauses. `scripts/test` runs it with the thread sanitizer.
@Suite struct AudioRingConcurrentTests {
    private struct Outcome: Sendable {
        var read = 0
        var gaps = 0
        var end = 0
        var wrong = 0
    }

    @Test(arguments: [(64, 1), (256, 2), (1000, 3)])
    func everyFrameIsItsOwnAndReadPlusGapsIsOffered(capacity: Int, channelCount: Int) {
        let ring = AudioRing(channelCount: channelCount, capacity: capacity)
        let total = 300_000
        let done = Atomic(false)
        let outcome = Mutex(Outcome())
        onTwoThreads {
            var random = SeededRandom(seed: 1)
            let block = MarkedBlock(channelCount: channelCount, frameCapacity: 97)
            var offered = 0
            while offered < total {
                let size = min(Int.random(in: 1...97, using: &random), total - offered)
                if Int.random(in: 0..<200, using: &random) == 0 {
                    ring.writer.skip(size)
                } else {
                    block.fill(position: offered, frameCount: size, offset: 0)
                    ring.writer.write(block.channels, frameCount: size)
                }
                offered += size
                stall(&random)
            }
            done.store(true, ordering: .releasing)
        } _: {
            var random = SeededRandom(seed: 2)
            let block = MarkedBlock(channelCount: channelCount, frameCapacity: 101)
            var result = Outcome()
            while ring.reader.offeredFrames < 2 * ring.capacity {}  // so at least one gap is certain
            while true {
                let last = done.load(ordering: .acquiring)
                let size = Int.random(in: 1...101, using: &random)
                let bound = Int.random(in: 0..<3, using: &random) == 0 ? ring.capacity / 2 : Int.max
                let slice = ring.reader.read(block.channels, frameCount: size, holdingAtMost: bound)
                result.gaps += slice.position - result.end
                if slice.position < result.end { result.wrong += 1 }
                result.end = slice.position + slice.frameCount
                result.read += slice.frameCount
                for c in 0..<channelCount {
                    for i in 0..<slice.frameCount
                    where block.channels[c][i] != MarkedBlock.mark(slice.position + i, c) { result.wrong += 1 }
                }
                if last && slice.frameCount == 0 && ring.reader.heldFrames == 0 { break }
                stall(&random)
            }
            outcome.withLock { $0 = result }
        }
        let result = outcome.withLock { $0 }
        #expect(result.wrong == 0)
        #expect(ring.reader.offeredFrames == total)
        #expect(result.read + result.gaps + (total - result.end) == total)
        #expect(result.read > 0 && result.read < total)
    }
}
