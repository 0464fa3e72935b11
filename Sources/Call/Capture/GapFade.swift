// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// Crossfades the end of the sound before a gap, which falls to 0, with the sound after it. An effect that remembers sound
/// would make a step of an abrupt end, and of an abrupt beginning.
struct GapFade {
    private var last = SIMD2<Float>.zero  // the last frame of the first two channels
    private var start = SIMD2<Float>.zero
    private var position: Int
    private let length: Int

    init(sampleRate: Double) {
        length = Int(sampleRate * 0.005)
        position = length
    }

    /// Begins the crossfade with the next block.
    @_noLocks
    mutating func begin() { (start, position) = (last, 0) }

    /// Crossfades a block in place.
    @_noLocks
    mutating func process(_ block: Channels, _ frameCount: Int) {
        guard frameCount > 0 else { return }
        let channelCount = min(block.count, 2)
        let count = min(frameCount, length &- position)
        if count > 0 {
            for c in 0..<channelCount {
                for i in 0..<count {
                    let weight = smoothStep(1 - Float(position &+ i &+ 1) / Float(length))
                    block[c][i] += (start[c] - block[c][i]) * weight
                }
            }
            position &+= count
        }
        for c in 0..<channelCount { last[c] = block[c][frameCount &- 1] }
    }
}
