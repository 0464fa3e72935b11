// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// The volume of the played mix, on the render thread. At 1 no sample is changed.
struct OutputVolume: ~Copyable {
    /// The requested volume, as the bits of a Float.
    private let wanted: UnsafeMutablePointer<Atomic<UInt32>>
    private var reachedVolume: Float  // the volume at the end of the last block

    init(_ wanted: UnsafeMutablePointer<Atomic<UInt32>>) {
        self.wanted = wanted
        reachedVolume = Float(bitPattern: wanted.pointee.load(ordering: .relaxed))
    }

    /// Scales a block in place; a new volume is reached at the end of the block.
    @_noLocks
    mutating func process(_ block: Channels, _ frameCount: Int) {
        guard frameCount > 0 else { return }
        let goal = Float(bitPattern: wanted.pointee.load(ordering: .relaxed))
        if goal == 1, reachedVolume == 1 { return }
        let step = (goal - reachedVolume) / Float(frameCount)
        for c in 0..<block.count {
            if goal == reachedVolume {
                scaleSamples(block[c], block[c], frameCount, gain: goal)
            } else {
                scaleSamples(block[c], block[c], frameCount, gain: reachedVolume, step: step)
            }
        }
        reachedVolume = goal
    }
}
