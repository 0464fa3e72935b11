// SPDX-License-Identifier: Apache-2.0

/// The movement of parameters: in straight pieces of ``segment`` frames.
package enum UnitRamp {
    /// Frames of one straight piece.
    @inlinable package static var segment: Int { @_noLocks get { 32 } }
}

/// A number that moves on a straight line, a frame at a time; the building block of kernels' `set(_:over:)`.
struct LinearRamp: BitwiseCopyable {
    /// Now.
    private(set) var value: Float
    private var target: Float
    private var step: Float
    /// Frames until the target is reached; 0 at rest.
    private(set) var remaining: Int

    @_noLocks
    init(_ value: Float) {
        self.value = value
        target = value
        step = 0
        remaining = 0
    }

    /// Starts towards `target`, which it reaches exactly after `frameCount` frames; 0 jumps.
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

    /// One frame on; returns the value after it.
    @_noLocks
    mutating func next() -> Float {
        if remaining > 0 {
            remaining &-= 1
            value = remaining == 0 ? target : value + step
        }
        return value
    }

    /// The least value on the way to the target.
    var lowest: Float { @_noLocks get { remaining > 0 && target < value ? target : value } }

    /// Jumps to the target.
    @_noLocks
    mutating func finish() {
        value = target
        step = 0
        remaining = 0
    }
}
