// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// Returns sin(2π · turns) by its power series up to x¹⁵ on a quarter turn, within 10⁻¹¹.
/// - Precondition: 0 ≤ `turns` < 1.
@_noLocks
func sineOfTurns(_ turns: Double) -> Float {
    var r = turns - 0.5  // half a turn earlier, where the sine has the opposite sign
    if r > 0.25 { r = 0.5 - r } else if r < -0.25 { r = -0.5 - r }
    let x = 2 * Double.pi * r
    let y = x * x
    let high = (1 - y / 182 * (1 - y / 210)) / 110
    let series = 1 - y / 6 * (1 - y / 20 * (1 - y / 42 * (1 - y / 72 * (1 - y * high))))
    return Float(-x * series)
}

/// A sine whose phase stays exact for hours, and whose frequency changes without a jump of the phase.
struct Oscillator: BitwiseCopyable {
    private var phase = 0.0  // in turns, from 0 to 1
    private var increment = 0.0  // turns for each frame: the frequency
    private var target = 0.0
    private var step = 0.0
    private var remaining = 0

    @_noLocks init() {}

    /// - Parameter frequency: a part of the sample rate, below 0.5.
    @_noLocks
    mutating func move(to frequency: Double, over frameCount: Int) {
        target = frequency
        remaining = frequency == increment ? 0 : frameCount
        if remaining > 0 { step = (target - increment) / Double(frameCount) } else { increment = target }
    }

    @_noLocks
    mutating func finish() {
        increment = target
        remaining = 0
    }

    @_noLocks
    mutating func restart() { phase = 0 }

    @_noLocks
    mutating func next() -> Float {
        let sample = sineOfTurns(phase)
        if remaining > 0 {
            remaining &-= 1
            increment = remaining == 0 ? target : increment + step
        }
        phase += increment
        if phase >= 1 { phase -= 1 }
        return sample
    }
}

/// A repeated exponential sweep: the frequency grows (or falls) by the same factor in each frame. The phase is continuous when
/// the frequency jumps back. Within a sweep the samples are those of the continuous sweep (A. Farina, "Simultaneous measurement
/// of impulse response and distortion with a swept-sine technique", 2000): phase turns f₀ T / ln k · (k^(t/T) − 1).
struct SweepOscillator: BitwiseCopyable {
    private let sampleRate: Double
    private var start = -1.0
    private var end = -1.0
    private var sweepLength = -1  // frames; −1 before the first `set`
    private var exponent = 0.0  // the natural logarithm of `factor`
    private var factor = 1.0  // the frequency's ratio between successive frames
    private var advance = 1.0  // the phase's turns in a frame, divided by the frequency at the frame's start
    private var frequency = 0.0
    private var elapsed = 0  // frames since the sweep's start
    private var phase = 0.0

    @_noLocks init(sampleRate: Double) { self.sampleRate = sampleRate }

    /// - Parameters:
    ///   - start: the first frequency as a part of the sample rate, below 0.5; `end` is the last one in the same unit.
    ///   - frameCount: the frames of a sweep; rounded to a whole number.
    @_noLocks
    mutating func set(start: Double, end: Double, frameCount: Double) {
        let newLength = Int(earshot_round(frameCount))
        guard start != self.start || end != self.end || newLength != sweepLength else { return }
        self.start = start
        self.end = end
        sweepLength = newLength
        exponent = earshot_log(end / start) / Double(sweepLength)
        factor = earshot_exp(exponent)
        // At a nearly constant frequency the quotient would be 0 / 0, so its series replaces it.
        advance = exponent > 1e-9 || exponent < -1e-9 ? (factor - 1) / exponent : 1 + exponent / 2
        if elapsed >= sweepLength { elapsed = 0 }
        frequency = start * earshot_exp(exponent * Double(elapsed))
    }

    @_noLocks
    mutating func restart() {
        phase = 0
        elapsed = 0
        frequency = start
    }

    @_noLocks
    mutating func next() -> Float {
        let sample = sineOfTurns(phase)
        phase += frequency * advance
        if phase >= 1 { phase -= 1 }
        frequency *= factor
        elapsed &+= 1
        if elapsed >= sweepLength { elapsed = 0 }
        // The frequency is recomputed now and then, so that the rounding errors of a long sweep do not accumulate.
        if elapsed & 1023 == 0 { frequency = start * earshot_exp(exponent * Double(elapsed)) }
        return sample
    }
}
