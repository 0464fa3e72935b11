// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// Lets the sound before a gap fall to 0 after it instead of ending abruptly. An effect that delays the sound would make a step of
/// the abrupt end.
struct GapTail {
    private var last = SIMD2<Float>.zero  // the last frame of the first two channels
    private var start = SIMD2<Float>.zero
    private var position: Int
    private let length: Int

    init(sampleRate: Double) {
        length = Int(sampleRate * 0.005)
        position = length
    }

    /// Begins the fall with the next block.
    @_noLocks
    mutating func begin() { (start, position) = (last, 0) }

    /// Adds the fall to a block, which fades in if it is not silent.
    @_noLocks
    mutating func process(_ block: Channels, _ frameCount: Int) {
        guard frameCount > 0 else { return }
        let channelCount = min(block.count, 2)
        let count = min(frameCount, length &- position)
        if count > 0 {
            for c in 0..<channelCount {
                for i in 0..<count {
                    block[c][i] += start[c] * smoothStep(1 - Float(position &+ i &+ 1) / Float(length))
                }
            }
            position &+= count
        }
        for c in 0..<channelCount { last[c] = block[c][frameCount &- 1] }
    }
}
