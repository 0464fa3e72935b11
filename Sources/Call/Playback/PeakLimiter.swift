// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// Keeps a mix of several voices below full scale without any delay: what a limiter that looks ahead does better, but later.
///
/// A block whose peak is above 1 is turned down as a whole, within its first 32 frames from where the gain stood; the gain goes
/// home over half a second. What is above 1 in those frames is cut off. Up to 1 nothing is changed, to the bit.
struct PeakLimiter {
    private var gain: Float = 1
    private let release: Float  // of the way home, a frame
    private static var attack: Int { @_noLocks get { 32 } }

    init(sampleRate: Double) { release = Float(1 / (0.5 * sampleRate)) }

    @_noLocks
    mutating func process(_ mix: Channels, _ frameCount: Int) {
        var peak: Float = 0
        for c in 0..<mix.count {
            let top = peakAndEnergyOfSamples(mix[c], frameCount).0
            peak = top > peak ? top : peak
        }
        if peak * gain <= 1, gain == 1 { return }
        let needed: Float = peak > 1 ? 1 / peak : 1
        let falls = needed < gain
        let home = gain + release * Float(frameCount)
        let goal = falls ? needed : home < needed ? home : needed
        let ramp = falls && frameCount > Self.attack ? Self.attack : frameCount
        let step = (goal - gain) / Float(ramp)
        for c in 0..<mix.count {
            let samples = mix[c]
            for i in 0..<frameCount {
                let x = samples[i] * (i < ramp ? gain + step * Float(i &+ 1) : goal)
                samples[i] = x > 1 ? 1 : x < -1 ? -1 : x
            }
        }
        gain = goal
    }
}
