// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A gain that moves to each new value in a straight line over 5 ms, or over the current block if that is longer, so that a
/// change makes no click with small blocks either. For the render thread.
struct GainRamp: BitwiseCopyable {
    private var gain: Float  // at the end of the last block
    private var goal: Float
    private var step: Float  // the change of the gain a frame
    private var remainingCount: Int  // the frames up to the goal
    private let minimumFrameCount: Int

    init(_ gain: Float, sampleRate: Double) {
        self.gain = gain
        goal = gain
        step = 0
        remainingCount = 0
        minimumFrameCount = Int(0.005 * sampleRate)
    }

    /// True while the gain is 1 and stays 1.
    var isUnity: Bool { @_noLocks get { remainingCount == 0 && gain == 1 } }

    /// Sets the gain without a ramp, while nobody hears the sound.
    @_noLocks
    mutating func reset(_ gain: Float) {
        self.gain = gain
        goal = gain
        step = 0
        remainingCount = 0
    }

    /// Starts a ramp, if the goal is new.
    /// - Parameter frameCount: the frames of the current block, at least 1.
    @_noLocks
    mutating func begin(_ goal: Float, _ frameCount: Int) {
        if goal == self.goal { return }
        start(goal, frameCount > minimumFrameCount ? frameCount : minimumFrameCount)
    }

    /// Starts a ramp that ends with the current block.
    /// - Parameter frameCount: the frames of the current block, at least 1.
    @_noLocks
    mutating func finish(_ goal: Float, _ frameCount: Int) { start(goal, frameCount) }

    @_noLocks
    private mutating func start(_ goal: Float, _ frameCount: Int) {
        self.goal = goal
        remainingCount = frameCount
        step = (goal - gain) / Float(frameCount)
    }

    /// Adds a block times the gain to a mix.
    @_noLocks
    mutating func add(_ block: Channels, to mix: Channels, _ frameCount: Int) {
        let rampCount = remainingCount < frameCount ? remainingCount : frameCount
        for c in 0..<mix.count {
            if rampCount > 0 { addSamples(mix[c], block[c], rampCount, gain: gain, step: step) }
            if rampCount < frameCount {
                addSamples(mix[c] + rampCount, block[c] + rampCount, frameCount &- rampCount, gain: goal)
            }
        }
        advance(rampCount)
    }

    /// Scales a block in place.
    @_noLocks
    mutating func scale(_ block: Channels, _ frameCount: Int) {
        let rampCount = remainingCount < frameCount ? remainingCount : frameCount
        for c in 0..<block.count {
            if rampCount > 0 { scaleSamples(block[c], block[c], rampCount, gain: gain, step: step) }
            if rampCount < frameCount {
                scaleSamples(block[c] + rampCount, block[c] + rampCount, frameCount &- rampCount, gain: goal)
            }
        }
        advance(rampCount)
    }

    @_noLocks
    private mutating func advance(_ rampCount: Int) {
        remainingCount = remainingCount &- rampCount
        gain = remainingCount == 0 ? goal : gain + step * Float(rampCount)
    }
}
