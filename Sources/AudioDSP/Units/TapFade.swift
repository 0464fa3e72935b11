// SPDX-License-Identifier: Apache-2.0

/// A position in a delay line that changes without a click: the old position fades out while the new one fades in.
///
/// Unlike a sliding tap, a fade changes neither pitch nor level. A position requested during a fade takes effect after it; if
/// several are requested, only the last one does.
package struct TapFade: BitwiseCopyable {
    /// The present position in frames before the newest.
    package private(set) var current: Int
    /// The position being faded in; ``current`` without a fade.
    package private(set) var next: Int
    /// The weight of ``next`` in this frame, 0 to 1.
    package private(set) var weight: Float
    private var wanted: Int  // the position after all fades
    /// The remaining frames of the fade; 0 without one.
    package private(set) var remaining: Int
    private let length: Int  // frames of a fade
    private let step: Float  // 1 / `length`

    /// - Parameters:
    ///   - delay: the position in frames.
    ///   - length: the frames of a fade.
    @_noLocks
    package init(_ delay: Int, length: Int) {
        current = delay
        next = delay
        wanted = delay
        weight = 0
        remaining = 0
        self.length = max(1, length)
        step = 1 / Float(max(1, length))
    }

    /// The position after all fades.
    package var target: Int { @_noLocks get { wanted } }

    /// True during a fade.
    package var isMoving: Bool { @_noLocks get { remaining > 0 } }

    /// Fades to another position, after the present fade if there is one.
    @_noLocks
    package mutating func move(to delay: Int) {
        wanted = delay
        start()
    }

    /// Jumps to a position without a fade.
    @_noLocks
    package mutating func jump(to delay: Int) {
        wanted = delay
        finish()
    }

    /// Ends all fades, and jumps to the final position.
    @_noLocks
    mutating func finish() {
        current = wanted
        next = wanted
        weight = 0
        remaining = 0
    }

    /// Advances by a frame.
    @_noLocks @inline(__always)
    package mutating func advance() {
        if remaining > 0 { fade() }
    }

    @_noLocks
    private mutating func fade() {
        remaining &-= 1
        if remaining == 0 {
            current = next
            weight = 0
            start()
        } else {
            weight = smoothStep(Float(length &- remaining) * step)
        }
    }

    @_noLocks
    private mutating func start() {
        if remaining == 0 && wanted != current {
            next = wanted
            remaining = length
        }
    }
}

/// Returns the number, or 0 if its magnitude is below −160 dBFS, so that the tail of a feedback loop ends in zeros.
@_noLocks @inline(__always)
func kept(_ x: Float) -> Float { x < 1e-8 && x > -1e-8 ? 0 : x }

/// Applies ``kept(_:)`` to four numbers.
@_noLocks @inline(__always)
func kept4(_ v: SIMD4<Float>) -> SIMD4<Float> {
    v.replacing(with: SIMD4(repeating: 0), where: (v .< 1e-8) .& (v .> -1e-8))
}
