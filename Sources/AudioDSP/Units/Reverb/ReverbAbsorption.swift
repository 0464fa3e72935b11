// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

/// The loss of each line in one pass: in dB proportional to its length, so that all modes decay alike (J.-M. Jot, A. Chaigne,
/// "Digital Delay Networks for Designing Artificial Reverberators", 90th AES Convention, 1991).
///
/// Two first-order low-passes (trapezoidal: zero at half the rate, so both ends are exact) divide the spectrum into lows, middle
/// and highs, each with its own gain. Linear ramps keep the gains below one, as both ends are.
struct ReverbAbsorption: BitwiseCopyable {
    /// A quarter of a line's gain makes the mixing matrix orthogonal.
    static var matrixScale: Float { @_noLocks get { 0.25 } }
    /// The gains for four groups of four lines: highs; middle minus highs; lows minus middle. 12 vectors.
    let gains: UnsafeMutablePointer<SIMD4<Float>>
    /// The increment of ``gains`` per frame during a ramp.
    let steps: UnsafeMutablePointer<SIMD4<Float>>
    private let targets: UnsafeMutablePointer<SIMD4<Float>>
    private var remaining = 0
    private let sampleRate: Double

    init(sampleRate: Double) {
        self.sampleRate = sampleRate
        gains = .allocate(capacity: 36)
        gains.initialize(repeating: SIMD4(repeating: 0), count: 36)
        steps = gains + 12
        targets = gains + 24
    }

    func deallocate() { gains.deallocate() }

    /// Ramps to decay times in seconds. Returns the mean of the lines' squared gains.
    @_noLocks
    mutating func move(
        lengths: UnsafePointer<Int>, low: Double, middle: Double, high: Double, over frameCount: Int
    ) -> Double {
        let perFrame = -3 * 2.302_585_092_994_046 / sampleRate  // of a decay of one second
        var sum = 0.0
        for i in 0..<16 {
            let exponent = perFrame * Double(lengths[i])
            let m = Float(earshot_exp(exponent / middle))
            let h = high == middle ? m : Float(earshot_exp(exponent / high))
            let l = low == middle ? m : Float(earshot_exp(exponent / low))
            sum += Double(m) * Double(m)
            let group = i >> 2
            let lane = i & 3
            targets[group][lane] = h * Self.matrixScale
            targets[4 &+ group][lane] = (m - h) * Self.matrixScale
            targets[8 &+ group][lane] = (l - m) * Self.matrixScale
        }
        remaining = frameCount
        if frameCount > 0 {
            let part = 1 / Float(frameCount)
            for k in 0..<12 { steps[k] = (targets[k] - gains[k]) * part }
        } else {
            finish()
        }
        return sum / Double(16)
    }

    /// The frames until the ramp ends.
    var framesRemaining: Int { @_noLocks get { remaining } }

    /// Advances by a frame.
    @_noLocks
    mutating func advance() {
        if remaining == 0 { return }
        remaining &-= 1
        if remaining == 0 { return finish() }
        for k in 0..<12 { gains[k] += steps[k] }
    }

    /// Jumps to the target.
    @_noLocks
    mutating func finish() {
        remaining = 0
        for k in 0..<12 { gains[k] = targets[k] }
    }
}
