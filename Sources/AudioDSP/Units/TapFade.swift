// SPDX-License-Identifier: Apache-2.0

/// A place in a delay line that moves without a click: the old place fades out while the new one fades in.
///
/// Unlike a sliding tap, a fade bends neither pitch nor level. A position that is requested during a fade takes effect after it; of
/// several the last counts.
struct TapFade: BitwiseCopyable {
    /// Frames behind the newest.
    private(set) var current: Int
    /// The tap that is faded in; the same as ``current`` without a fade.
    private(set) var next: Int
    /// The weight of ``next`` in this frame, 0 to 1.
    private(set) var weight: Float
    private var wanted: Int
    /// Frames for which ``current`` and ``next`` stay as they are; 0 at rest.
    private(set) var remaining: Int
    private let length: Int
    private let step: Float

    /// - Parameters:
    ///   - delay: frames.
    ///   - length: frames a fade takes.
    @_noLocks
    init(_ delay: Int, length: Int) {
        current = delay
        next = delay
        wanted = delay
        weight = 0
        remaining = 0
        self.length = max(1, length)
        step = 1 / Float(max(1, length))
    }

    /// The final tap.
    var target: Int { @_noLocks get { wanted } }

    /// Returns true if two places are heard.
    var isMoving: Bool { @_noLocks get { remaining > 0 } }

    /// Fades to another place.
    @_noLocks
    mutating func move(to delay: Int) {
        wanted = delay
        start()
    }

    /// Jumps to another delay without a fade.
    @_noLocks
    mutating func jump(to delay: Int) {
        wanted = delay
        finish()
    }

    /// Jumps to the target.
    @_noLocks
    mutating func finish() {
        current = wanted
        next = wanted
        weight = 0
        remaining = 0
    }

    /// One frame on.
    @_noLocks @inline(__always)
    mutating func advance() {
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
            let x = Float(length &- remaining) * step
            weight = x * x * (3 - 2 * x)
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

/// Returns a number for a feedback loop: 0 below −160 dB of full scale, so that every tail ends in zeros.
@_noLocks @inline(__always)
func kept(_ x: Float) -> Float { x < 1e-8 && x > -1e-8 ? 0 : x }

/// The same as ``kept(_:)``, of four.
@_noLocks @inline(__always)
func kept4(_ v: SIMD4<Float>) -> SIMD4<Float> {
    v.replacing(with: SIMD4(repeating: 0), where: (v .< 1e-8) .& (v .> -1e-8))
}
