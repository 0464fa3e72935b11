// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// Keeps a mix below full scale without delay; a limiter with look-ahead would sound better, but later.
///
/// A block with a peak above 1 is attenuated as a whole, with a ramp in its first 32 frames, in which samples above 1 are
/// clipped. The gain recovers over half a second. While the gain is 1 and no sample exceeds 1, nothing is changed.
package struct PeakLimiter {
    private var gain: Float = 1
    private let release: Float  // the rise of the gain a frame
    private static var attackFrames: Int { @_noLocks get { 32 } }

    package init(sampleRate: Double) { release = Float(1 / (0.5 * sampleRate)) }

    /// True while the gain is 1: a block below full scale is not changed.
    var isUnity: Bool { @_noLocks get { gain == 1 } }

    @_noLocks
    package mutating func process(_ mix: Channels, _ frameCount: Int) {
        var peak: Float = 0
        for c in 0..<mix.count {
            let channelPeak = peakAndEnergyOfSamples(mix[c], frameCount).0
            peak = channelPeak > peak ? channelPeak : peak
        }
        if peak * gain <= 1, gain == 1 { return }
        let needed: Float = peak > 1 ? 1 / peak : 1
        let falls = needed < gain
        let risenGain = gain + release * Float(frameCount)
        let goal = falls ? needed : risenGain < needed ? risenGain : needed
        let ramp = falls && frameCount > Self.attackFrames ? Self.attackFrames : frameCount
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
