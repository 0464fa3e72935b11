// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A linear ramp of gain. Frame n, from 1, has the gain `start + n * step`.
struct MixGain: BitwiseCopyable {
    private var start: Float = 0
    private(set) var goal: Float = 0
    private var step: Float = 0
    private var length = 0
    private var doneFrameCount = 0

    @_noLocks
    init() {}

    /// Returns true if the ramp has ended.
    var isSteady: Bool { @_noLocks get { doneFrameCount >= length } }

    @_noLocks
    mutating func move(to goal: Float, over frameCount: Int) {
        start = isSteady ? self.goal : start + step * Float(doneFrameCount)
        self.goal = goal
        length = frameCount
        doneFrameCount = 0
        step = frameCount > 0 ? (goal - start) / Float(frameCount) : 0
    }

    @_noLocks
    mutating func advance(_ count: Int) {
        doneFrameCount &+= count
        if doneFrameCount > length { doneFrameCount = length }
    }

    @_noLocks
    func add(
        _ from: UnsafeMutablePointer<Float>, _ to: UnsafeMutablePointer<Float>, _ count: Int, times factor: Float
    ) {
        let moving = length &- doneFrameCount < count ? length &- doneFrameCount : count
        if moving > 0 { addSamples(to, from, moving, gain: start * factor, step: step * factor, past: doneFrameCount) }
        let steady = goal * factor
        if steady != 0, moving < count { addSamples(to + moving, from + moving, count &- moving, gain: steady) }
    }

    @_noLocks
    func scale(_ samples: UnsafeMutablePointer<Float>, _ count: Int) {
        let moving = length &- doneFrameCount < count ? length &- doneFrameCount : count
        if moving > 0 { scaleSamples(samples, samples, moving, gain: start, step: step, past: doneFrameCount) }
        if goal != 1, moving < count {
            scaleSamples(samples + moving, samples + moving, count &- moving, gain: goal)
        }
    }
}
