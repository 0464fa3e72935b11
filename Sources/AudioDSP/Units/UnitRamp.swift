// SPDX-License-Identifier: Apache-2.0

/// The ramps of units' parameters, in linear segments.
package enum UnitRamp {
    /// The frames of a linear segment.
    @inlinable package static var segment: Int { @_noLocks get { 32 } }
}

/// A number that ramps linearly, frame by frame; the building block of kernels' `set(_:over:)`.
struct LinearRamp: BitwiseCopyable {
    /// The present value.
    private(set) var value: Float
    private var target: Float
    private var step: Float
    /// The frames until the target is reached; 0 without a ramp.
    private(set) var remaining: Int

    @_noLocks
    init(_ value: Float) {
        self.value = value
        target = value
        step = 0
        remaining = 0
    }

    /// Starts a ramp that reaches `target` exactly after `frameCount` frames; 0 jumps.
    @_noLocks
    mutating func move(to target: Float, over frameCount: Int) {
        self.target = target
        if frameCount <= 0 || value == target {
            value = target
            step = 0
            remaining = 0
        } else {
            step = (target - value) / Float(frameCount)
            remaining = frameCount
        }
    }

    /// Advances by a frame. Returns the value after it.
    @_noLocks
    mutating func next() -> Float {
        if remaining > 0 {
            remaining &-= 1
            value = remaining == 0 ? target : value + step
        }
        return value
    }

    /// The minimum of the present value and of the remaining ramp.
    var lowest: Float { @_noLocks get { remaining > 0 && target < value ? target : value } }

    /// Jumps to the target.
    @_noLocks
    mutating func finish() {
        value = target
        step = 0
        remaining = 0
    }
}
