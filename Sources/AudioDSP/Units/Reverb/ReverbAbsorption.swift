// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

/// The loss of each delay line in one pass. In dB it is proportional to the line's length, so that all modes decay alike (J.-M.
/// Jot, A. Chaigne, "Digital Delay Networks for Designing Artificial Reverberators", 90th AES Convention, 1991).
///
/// Two first-order low-passes divide the spectrum into lows, middle and highs, each with its own gain. They are trapezoidal, with
/// a zero at half the rate, so that the gains at 0 Hz and at half the rate are exact. A linear ramp between two gains below one
/// stays below one.
struct ReverbAbsorption: BitwiseCopyable {
    /// The factor of all gains, a quarter, which makes the mixing matrix of sixteen lines orthogonal.
    static var matrixScale: Float { @_noLocks get { 0.25 } }
    /// The gains of the sixteen lines as 12 vectors of four lines: four of highs, four of middle minus highs, four of lows minus
    /// middle.
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

    /// Ramps to the gains for decay times in seconds. Returns the mean of the lines' squared gains in the middle of the spectrum.
    @_noLocks
    mutating func move(
        lengths: UnsafePointer<Int>, low: Double, middle: Double, high: Double, over frameCount: Int
    ) -> Double {
        let perFrame = -3 * 2.302_585_092_994_046 / sampleRate  // the gain's logarithm, for a decay of one second
        var sum = 0.0
        for i in 0..<16 {
            let exponent = perFrame * Double(lengths[i])
            let middleGain = Float(earshot_exp(exponent / middle))
            let highGain = high == middle ? middleGain : Float(earshot_exp(exponent / high))
            let lowGain = low == middle ? middleGain : Float(earshot_exp(exponent / low))
            sum += Double(middleGain) * Double(middleGain)
            let group = i >> 2
            let lane = i & 3
            targets[group][lane] = highGain * Self.matrixScale
            targets[4 &+ group][lane] = (middleGain - highGain) * Self.matrixScale
            targets[8 &+ group][lane] = (lowGain - middleGain) * Self.matrixScale
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

    /// The frames until the ramp of the gains ends.
    var framesRemaining: Int { @_noLocks get { remaining } }

    /// Advances by a frame.
    @_noLocks
    mutating func advance() {
        if remaining == 0 { return }
        remaining &-= 1
        if remaining == 0 { return finish() }
        for k in 0..<12 { gains[k] += steps[k] }
    }

    /// Ends the ramp, and jumps to its target.
    @_noLocks
    mutating func finish() {
        remaining = 0
        for k in 0..<12 { gains[k] = targets[k] }
    }
}
