// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The peak and mean square of a block, for meters.
@frozen
public struct Level: BitwiseCopyable, Sendable {
    /// The greatest magnitude; 1 is full scale.
    public var peak: Float
    /// The mean of the squared samples of all channels.
    public var meanSquare: Float

    /// Measures a block over all its channels. Safe on the render thread.
    @_noLocks
    public init(of channels: Channels, frameCount: Int) {
        self.init(of: ReadOnlyChannels(channels), frameCount: frameCount)
    }

    /// Measures a block over all its channels. Safe on the render thread.
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

    /// Creates a silent level.
    @_noLocks
    public init() {
        peak = 0
        meanSquare = 0
    }
}
