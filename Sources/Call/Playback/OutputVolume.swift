// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// The volume of the played mix, on the render thread. At 1 no sample is changed.
struct OutputVolume: ~Copyable {
    /// The bits of the requested volume.
    private let wanted: UnsafeMutablePointer<Atomic<UInt32>>
    private var reached: Float

    init(_ wanted: UnsafeMutablePointer<Atomic<UInt32>>) {
        self.wanted = wanted
        reached = Float(bitPattern: wanted.pointee.load(ordering: .relaxed))
    }

    /// Scales a block in place; a new volume is reached at its end.
    @_noLocks
    mutating func process(_ block: Channels, _ frameCount: Int) {
        guard frameCount > 0 else { return }
        let goal = Float(bitPattern: wanted.pointee.load(ordering: .relaxed))
        if goal == 1, reached == 1 { return }
        let step = (goal - reached) / Float(frameCount)
        for c in 0..<block.count {
            if goal == reached {
                scaleSamples(block[c], block[c], frameCount, gain: goal)
            } else {
                scaleSamples(block[c], block[c], frameCount, gain: reached, step: step)
            }
        }
        reached = goal
    }
}
