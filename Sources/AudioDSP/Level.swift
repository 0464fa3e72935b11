// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Peak and mean square of a block, for meters.
@frozen
public struct Level: BitwiseCopyable, Sendable {
    /// The greatest magnitude, 1 being full scale.
    public var peak: Float
    /// The mean of the squares.
    public var meanSquare: Float

    /// Measures one block over all its channels. Render-safe.
    @_noLocks
    public init(of channels: Channels, frameCount: Int) {
        self.init(of: ReadOnlyChannels(channels), frameCount: frameCount)
    }

    /// Measures one block over all its channels. Render-safe.
    @_noLocks
    public init(of channels: ReadOnlyChannels, frameCount: Int) {
        var top: Float = 0
        var sum: Float = 0
        for c in 0..<channels.count {
            let (highest, energy) = peakAndEnergyOfSamples(channels[c], frameCount)
            top = highest > top ? highest : top
            sum += energy
        }
        peak = top
        meanSquare = sum / Float(max(1, frameCount &* channels.count))
    }

    /// Silence.
    @_noLocks
    public init() {
        peak = 0
        meanSquare = 0
    }
}
