// SPDX-License-Identifier: Apache-2.0

/// The values that change while a delay runs, the same for each group of channels.
struct DelayControls: BitwiseCopyable {
    var time: TapFade
    var feedback = LinearRamp(0)
    /// The low-pass's coefficient, 0 to 1.
    var smoothing = LinearRamp(1)
    var dry = LinearRamp(1)
    var wet = LinearRamp(0)
    /// 1 in ping-pong.
    var crossing = LinearRamp(0)
    /// The target of `crossing`.
    var crossed: Float = 0
    /// The index for the next frame.
    var position = 0
    /// The frames written since the last reset; older memory is treated as silence.
    private var filled = 0

    init(fadeLength: Int) { time = TapFade(1, length: fadeLength) }

    /// Advances everything except the time by a frame.
    @_noLocks @inline(__always)
    mutating func advance() {
        _ = feedback.next()
        _ = smoothing.next()
        _ = dry.next()
        _ = wet.next()
        _ = crossing.next()
    }

    /// Returns a line's output in this frame.
    @_noLocks @inline(__always)
    func read(_ line: UnsafePointer<Float>, _ capacity: Int) -> Float {
        let old = at(time.current, line, capacity)
        return time.isMoving ? old + (at(time.next, line, capacity) - old) * time.weight : old
    }

    @_noLocks @inline(__always)
    private func at(_ delay: Int, _ line: UnsafePointer<Float>, _ capacity: Int) -> Float {
        if delay > filled { return 0 }
        let i = position &- delay
        return line[i < 0 ? i &+ capacity : i]
    }

    /// Advances after a frame was written.
    @_noLocks @inline(__always)
    mutating func step(_ capacity: Int) {
        position = position &+ 1 == capacity ? 0 : position &+ 1
        if filled < capacity { filled &+= 1 }
        time.advance()
    }

    /// Ends all ramps and empties the lines.
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
