// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotPlayout

struct HistoryTests {
    @Test func `the history holds the last frames played, at any block size`() {
        var history = History(channelCount: 2, frameCount: 10)
        let block = AudioBuffer(channelCount: 2, frameCapacity: 40)
        var played: [[Float]] = [Array(repeating: 0, count: 10), Array(repeating: 0, count: 10)]
        var next: Float = 1
        for count in [3, 1, 0, 10, 7, 9, 9, 33, 2, 10, 10, 10, 10, 10, 10, 10, 1, 4, 8, 8, 8, 8, 8, 8, 8, 8] {
            for c in 0..<2 {
                for i in 0..<count { block.channels[c][5 + i] = next + Float(i) + Float(c) / 2 }
                played[c] += (0..<count).map { next + Float($0) + Float(c) / 2 }
            }
            next += Float(count)
            history.append(block.channels, offset: 5, frameCount: count)
            for c in 0..<2 {
                #expect(Array(UnsafeBufferPointer(start: history[c], count: 10)) == Array(played[c].suffix(10)))
            }
        }
    }
}
