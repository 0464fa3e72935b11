// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// Returns sin(2π · turns) by its power series up to x¹⁵ on a quarter turn, within 10⁻¹¹.
/// - Precondition: 0 ≤ `turns` < 1.
@_noLocks
func sineOfTurns(_ turns: Double) -> Float {
    var r = turns - 0.5  // half a turn on, so with the other sign
    if r > 0.25 { r = 0.5 - r } else if r < -0.25 { r = -0.5 - r }
    let x = 2 * Double.pi * r
    let y = x * x
    let high = (1 - y / 182 * (1 - y / 210)) / 110
    let series = 1 - y / 6 * (1 - y / 20 * (1 - y / 42 * (1 - y / 72 * (1 - y * high))))
    return Float(-x * series)
}

/// A sine whose phase stays exact for hours, and whose frequency changes without a jump of the phase.
struct Oscillator: BitwiseCopyable {
    private var phase = 0.0  // turns, from 0 to 1
    private var increment = 0.0
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
    private var frames = -1  // of one sweep
    private var exponent = 0.0  // the logarithm of the frequency's factor in each frame
    private var factor = 1.0  // of the frequency in each frame
    private var advance = 1.0  // turns between two frames over the frequency at the first
    private var frequency = 0.0
    private var elapsed = 0
    private var phase = 0.0

    @_noLocks init(sampleRate: Double) { self.sampleRate = sampleRate }

    /// - Parameters:
    ///   - start: a part of the sample rate, below 0.5, as is `end`.
    ///   - frameCount: the frames of a sweep; rounded.
    @_noLocks
    mutating func set(start: Double, end: Double, frameCount: Double) {
        let whole = Int(earshot_round(frameCount))
        guard start != self.start || end != self.end || whole != frames else { return }
        self.start = start
        self.end = end
        frames = whole
        exponent = earshot_log(end / start) / Double(frames)
        factor = earshot_exp(exponent)
        // Its series if the quotient would be 0 / 0.
        advance = exponent > 1e-9 || exponent < -1e-9 ? (factor - 1) / exponent : 1 + exponent / 2
        if elapsed >= frames { elapsed = 0 }
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
        if elapsed >= frames { elapsed = 0 }
        // Recomputed now and then, so that the rounding errors of a long sweep do not accumulate.
        if elapsed & 1023 == 0 { frequency = start * earshot_exp(exponent * Double(elapsed)) }
        return sample
    }
}
