// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A gain that changes linearly to each new value over a fixed time, or over the current block if that is longer. A ramp over a
/// short block would click, for example over 64 frames. For the render thread.
struct GainRamp: BitwiseCopyable {
    private var gain: Float  // at the end of the last block
    private var target: Float
    private var step: Float  // the change of the gain a frame
    private var remainingCount: Int  // the frames up to the target
    private let minimumFrameCount: Int

    /// - Parameter seconds: the minimum length of a ramp.
    init(_ gain: Float, sampleRate: Double, seconds: Double = 0.005) {
        self.gain = gain
        target = gain
        step = 0
        remainingCount = 0
        minimumFrameCount = Int(seconds * sampleRate)
    }

    /// True while the gain is 1 and stays 1.
    var isUnity: Bool { @_noLocks get { remainingCount == 0 && gain == 1 } }

    /// True while the gain is 0 and stays 0.
    var isSilent: Bool { @_noLocks get { remainingCount == 0 && gain == 0 } }

    /// Sets the gain without a ramp, while nobody hears the sound.
    @_noLocks
    mutating func reset(_ gain: Float) {
        self.gain = gain
        target = gain
        step = 0
        remainingCount = 0
    }

    /// Starts a ramp from the current gain, if the target is new.
    /// - Parameter frameCount: the frames of the current block, at least 1.
    @_noLocks
    mutating func begin(_ target: Float, _ frameCount: Int) {
        if target == self.target { return }
        self.target = target
        remainingCount = frameCount > minimumFrameCount ? frameCount : minimumFrameCount
        step = (target - gain) / Float(remainingCount)
    }

    /// Adds a block times the gain to a mix. Follows ``begin(_:_:)``.
    @_noLocks
    mutating func add(_ block: Channels, to mix: Channels, _ frameCount: Int) {
        let rampCount = remainingCount < frameCount ? remainingCount : frameCount
        for c in 0..<mix.count {
            if rampCount > 0 { addSamples(mix[c], block[c], rampCount, gain: gain, step: step) }
            if rampCount < frameCount {
                addSamples(mix[c] + rampCount, block[c] + rampCount, frameCount &- rampCount, gain: target)
            }
        }
        advance(rampCount)
    }

    /// Scales a block in place. Follows ``begin(_:_:)``.
    @_noLocks
    mutating func scale(_ block: Channels, _ frameCount: Int) {
        let rampCount = remainingCount < frameCount ? remainingCount : frameCount
        for c in 0..<block.count {
            if rampCount > 0 { scaleSamples(block[c], block[c], rampCount, gain: gain, step: step) }
            if rampCount < frameCount {
                scaleSamples(block[c] + rampCount, block[c] + rampCount, frameCount &- rampCount, gain: target)
            }
        }
        advance(rampCount)
    }

    @_noLocks
    private mutating func advance(_ rampCount: Int) {
        remainingCount = remainingCount &- rampCount
        gain = remainingCount == 0 ? target : gain + step * Float(rampCount)
    }
}
