// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import Synchronization
import Testing

@testable import EarshotCall

/// Threads that replace inserts while another thread renders. The thread sanitizer checks it with scripts/test tsan.
@Suite struct CallInsertConcurrentTests {
    @Test func `threads that exchange inserts concurrently leak none and free none that is rendered`() {
        let point = InsertPoint(channelCount: 1, sampleRate: 48_000)
        let living = TestInsert.Living()
        let (threads, exchanges) = (3, 2_000)
        let finished = Finished()
        for number in 0..<threads {
            Thread.detachNewThread {
                for round in 0..<exchanges {
                    let scale: Float = (round + number) % 2 == 0 ? 1 : 0.5
                    point.set(round % 5 == 4 ? nil : TestInsert.make(scale: scale, living).insert)
                    if round % 50 == 0 { usleep(200) }
                }
                finished.count.add(1, ordering: .releasing)
            }
        }
        let block = AudioBuffer(channelCount: 1, frameCapacity: 128)
        var (blocks, most, isRight) = (0, 0, true)
        func render() {
            for i in 0..<128 { block.channels[0][i] = 0.5 }
            let cycle = IOCycle(
                frameCount: 128, sampleTime: Int64(128 * blocks), hostTime: HostTime(nanoseconds: 0), inputLatency: 0,
                outputLatency: 0, input: block.channels, output: block.channels)
            point.renderer.process(block.channels, cycle, frameCount: 128)
            // All inserts, and fades between them, give something from 0.25 to 0.5.
            for i in 0..<128 where !(0.249...0.501).contains(block.channels[0][i]) { isRight = false }
            blocks += 1
        }
        while finished.count.load(ordering: .acquiring) < threads {
            render()
            most = max(most, living.value)
            if blocks % 16 == 0 { usleep(50) }
        }
        point.set(nil)
        for _ in 0..<20 { render() }
        point.collect()
        #expect(isRight && living.value == 0, "\(living.value) are left of \(blocks) blocks")
        // One is ordered and two are fading; each thread has one to set, and at most four to free.
        #expect(most <= 3 + 5 * threads, "\(most)")
    }

    private final class Finished: Sendable {
        let count = Atomic(0)
    }
}
