// SPDX-License-Identifier: Apache-2.0

/// The values that change while a delay runs, the same for each group of channels.
struct DelayControls: BitwiseCopyable {
    /// The delay in frames.
    var time: TapFade
    var feedback = LinearRamp(0)
    /// The coefficient of the low-pass in the feedback, 0 to 1; 1 for no low-pass.
    var smoothing = LinearRamp(1)
    var dry = LinearRamp(1)
    var wet = LinearRamp(0)
    /// The share of ping-pong: 0 when off, 1 when on, between them during a change.
    var crossing = LinearRamp(0)
    /// The value to which ``crossing`` ramps: 0 or 1.
    var crossed: Float = 0
    /// The index in each delay line at which the next frame is written.
    var position = 0
    /// The frames written since the last reset; older memory is treated as silence.
    private var filled = 0

    init(fadeLength: Int) { time = TapFade(1, length: fadeLength) }

    /// Advances all ramps by a frame, but not ``time`` and ``position``.
    @_noLocks @inline(__always)
    mutating func advance() {
        _ = feedback.next()
        _ = smoothing.next()
        _ = dry.next()
        _ = wet.next()
        _ = crossing.next()
    }

    /// Returns a delay line's output for the present frame, as a crossfade while the time changes.
    @_noLocks @inline(__always)
    func read(_ line: UnsafePointer<Float>, _ capacity: Int) -> Float {
        let old = sample(time.current, line, capacity)
        return time.isMoving ? old + (sample(time.next, line, capacity) - old) * time.weight : old
    }

    @_noLocks @inline(__always)
    private func sample(_ delay: Int, _ line: UnsafePointer<Float>, _ capacity: Int) -> Float {
        if delay > filled { return 0 }
        let i = position &- delay
        return line[i < 0 ? i &+ capacity : i]
    }

    /// Advances ``position`` and ``time`` by a frame, after a frame was written.
    @_noLocks @inline(__always)
    mutating func step(_ capacity: Int) {
        position = position &+ 1 == capacity ? 0 : position &+ 1
        if filled < capacity { filled &+= 1 }
        time.advance()
    }

    /// Ends all ramps, and lets the delay lines count as empty.
    @_noLocks
    mutating func finish() {
        time.finish()
        feedback.finish()
        smoothing.finish()
        dry.finish()
        wet.finish()
        crossing.finish()
        position = 0
        filled = 0
    }
}
