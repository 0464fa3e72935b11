// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import EarshotAudioDSP

/// The background noise of a stream, for gaps that are too long to conceal: noise with the level and spectrum of the quietest 10
/// ms of the last seconds. If even these 10 ms are louder than -45 dBFS, they are no background, and there is no noise.
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
    /// The mean square of -100 dBFS, the minimum of the quietest level: from 0 that level could not rise again.
    private static var minimumPower: Float { @_noLocks get { 1e-10 } }

    private let channelCount: Int
    private let windowFrames: Int
    private let shapes: UnsafeMutablePointer<LinearPredictor>
    private let rise: Float  // the factor by which `quietestPower` rises with each window
    private var framesSinceWindow = 0
    private var quietestPower = Float.infinity  // mean square
    private var isBackground = false  // the quietest window is quiet enough
    private var randomState: UInt32 = 1

    init(channelCount: Int, sampleRate: Double) {
        self.channelCount = channelCount
        windowFrames = Int(Self.windowTime * sampleRate)
        rise = Float(earshot_pow(10, Self.riseRate / 10 * Self.windowTime))
        shapes = .allocate(capacity: channelCount)
        for c in 0..<channelCount {
            (shapes + c).initialize(
                to: LinearPredictor(order: min(Self.maximumOrder, windowFrames / 2), historyCount: windowFrames))
        }
    }

    deinit {
        shapes.deinitialize(count: channelCount)
        shapes.deallocate()
    }

    /// Analyzes received frames.
    /// - Parameters:
    ///   - past: the last played frames, at least 10 ms; the new frames are at its end.
    ///   - frameCount: the number of new frames.
    @_noLocks
    mutating func observe(_ past: borrowing History, frameCount: Int) {
        framesSinceWindow &+= frameCount
        guard framesSinceWindow >= windowFrames else { return }
        framesSinceWindow = 0
        var power: Float = 0
        let start = past.frameCount &- windowFrames
        for c in 0..<channelCount {
            for i in start..<past.frameCount { power += past[c][i] * past[c][i] }
        }
        power /= Float(windowFrames &* channelCount)
        quietestPower *= rise
        guard power <= quietestPower else { return }
        quietestPower = max(power, Self.minimumPower)
        isBackground = power < Self.maximumPower
        for c in 0..<channelCount { shapes[c].analyze(past[c] + start) }
    }

    /// Returns the noise's next sample for a channel; 0 while no background is known.
    @_noLocks
    mutating func next(_ channel: Int) -> Float {
        guard isBackground else { return 0 }
        // The linear congruential generator of Numerical Recipes (Press et al., 2nd edition, §7.1).
        randomState = randomState &* 1_664_525 &+ 1_013_904_223
        // A uniform number in -1 ..< 1 has a mean square of a third; multiplied by the root of 3, a mean square of 1.
        let uniform = Float(Int32(bitPattern: randomState)) * (1 / 2_147_483_648)
        let white = uniform * 1.732_050_8
        return shapes[channel].next(innovation: white * shapes[channel].residual)
    }
}
