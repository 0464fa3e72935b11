// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import EarshotAudioDSP

/// The background noise of a stream, for gaps that are too long to conceal: noise with the level and spectrum of the quietest 10
/// ms of the last seconds. If even those are louder than -45 dBFS they are no background, and there is no noise.
///
/// The quietest level rises by 3 dB a second, so that a louder background is learned again. For the render thread.
struct ComfortNoise: ~Copyable {
    /// The seconds of sound whose level and spectrum are measured at once.
    static let windowTime = 0.010
    /// The decibels by which the quietest level rises in a second.
    private static let riseRate = 3.0
    /// The maximum order of the predictor that shapes the noise.
    private static let maximumOrder = 16
    /// The mean square of -45 dBFS.
    private static var maximumPower: Float { @_noLocks get { 3.16e-5 } }
    /// The mean square of -100 dBFS, the least that the quietest level falls to: from 0 it could not rise again.
    private static var minimumPower: Float { @_noLocks get { 1e-10 } }

    private let channelCount: Int
    private let windowCount: Int  // frames
    private let shapes: UnsafeMutablePointer<LinearPredictor>
    private let rise: Float  // of the quietest power, each window
    private var heard = 0  // frames since the last window
    private var quietest = Float.infinity  // mean square
    private var isBackground = false
    private var random: UInt32 = 1

    init(channelCount: Int, sampleRate: Double) {
        self.channelCount = channelCount
        windowCount = Int(Self.windowTime * sampleRate)
        rise = Float(earshot_pow(10, Self.riseRate / 10 * Self.windowTime))
        shapes = .allocate(capacity: channelCount)
        for c in 0..<channelCount {
            (shapes + c).initialize(
                to: LinearPredictor(order: min(Self.maximumOrder, windowCount / 2), historyCount: windowCount))
        }
    }

    deinit {
        shapes.deinitialize(count: channelCount)
        shapes.deallocate()
    }

    /// Analyzes received frames.
    /// - Parameters:
    ///   - past: ends with these frames, and has at least 10 ms.
    ///   - frameCount: the number of new frames.
    @_noLocks
    mutating func observe(_ past: borrowing History, frameCount: Int) {
        heard &+= frameCount
        guard heard >= windowCount else { return }
        heard = 0
        var power: Float = 0
        let start = past.frameCount &- windowCount
        for c in 0..<channelCount {
            for i in start..<past.frameCount { power += past[c][i] * past[c][i] }
        }
        power /= Float(windowCount &* channelCount)
        quietest *= rise
        guard power <= quietest else { return }
        quietest = max(power, Self.minimumPower)
        isBackground = power < Self.maximumPower
        for c in 0..<channelCount { shapes[c].analyze(past[c] + start) }
    }

    /// Returns the next frame of a channel.
    @_noLocks
    mutating func next(_ channel: Int) -> Float {
        guard isBackground else { return 0 }
        // The linear congruential generator of Numerical Recipes (Press et al., 2nd edition, §7.1).
        random = random &* 1_664_525 &+ 1_013_904_223
        // A uniform number in -1 ..< 1 has a mean square of a third; multiplied by the root of 3 it has 1.
        let uniform = Float(Int32(bitPattern: random)) * (1 / 2_147_483_648)
        let white = uniform * 1.732_050_8
        return shapes[channel].next(innovation: white * shapes[channel].residual)
    }
}
