// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The measurements of 100 ms of sound: a plain record that passes from the render thread to a ``LoudnessMeter``.
@frozen
package struct LoudnessBlock: BitwiseCopyable, Sendable {
    /// The sum over the channels of the K-weighted mean square times the channel's weight (ITU-R BS.1770-4).
    package var energy: Double
    /// The unweighted mean square over all channels.
    package var meanSquare: Double
    /// The greatest magnitude of a sample; 1 is full scale.
    package var peak: Float
    /// The greatest magnitude of the samples and, if these are measured, of the peaks between samples.
    package var truePeak: Float

    /// Creates the block of silence.
    @_noLocks
    package init() {
        energy = 0
        meanSquare = 0
        peak = 0
        truePeak = 0
    }
}

/// Measures sound in blocks of 100 ms on a render thread; everything except `init` is safe there.
///
/// Blocks begin with the first frame and follow each other, however the caller divides the sound.
package struct LoudnessTap: ~Copyable {
    /// The frames of a block of 100 ms.
    package let blockLength: Int
    /// The block that the last call of ``process(_:offset:frameCount:)`` completed; nil if the call completed none.
    package private(set) var finished: LoudnessBlock?
    /// The frames measured so far in the incomplete block.
    package private(set) var filled = 0
    private var current = LoudnessBlock()
    private var weighting: KWeightingState
    private var truePeakFilter: TruePeakFilter
    private let measuresTruePeak: Bool
    private let channelCount: Int

    /// Creates a tap.
    /// - Parameters:
    ///   - sampleRate: in hertz.
    ///   - channelCount: 1 to 32; of 6 or 8 channels the fourth is for low-frequency effects and has no weight.
    ///   - measuresTruePeak: true to measure peaks between samples, which costs several times the rest.
    package init(sampleRate: Double, channelCount: Int, measuresTruePeak: Bool) {
        blockLength = max(1, Int(sampleRate / 10 + 0.5))
        self.channelCount = channelCount
        self.measuresTruePeak = measuresTruePeak
        weighting = KWeightingState(sampleRate: sampleRate, channelCount: channelCount)
        truePeakFilter = TruePeakFilter(channelCount: channelCount, isGuarded: false)
    }

    /// The greatest magnitude in the incomplete block.
    package var peakSoFar: Float { @_noLocks get { current.peak } }
    /// The true peak in the incomplete block; without measured true peaks the same as ``peakSoFar``.
    package var truePeakSoFar: Float {
        @_noLocks get { current.peak > current.truePeak ? current.peak : current.truePeak }
    }

    /// Measures at most `frameCount` frames, and stops earlier if a block is complete.
    /// - Returns: the number of frames measured; if it is less than `frameCount`, call again for the remainder.
    @_noLocks
    package mutating func process(_ channels: Channels, offset: Int, frameCount: Int) -> Int {
        finished = nil
        let room = blockLength &- filled
        let count = frameCount < room ? frameCount : room
        let peak = weighting.process(channels, offset: offset, frameCount: count)
        if peak > current.peak { current.peak = peak }
        if measuresTruePeak { updateTruePeak(channels, offset: offset, frameCount: count) }
        filled = filled &+ count
        if filled == blockLength { finish() }
        return count
    }

    @_noLocks
    private mutating func updateTruePeak(_ channels: Channels, offset: Int, frameCount: Int) {
        var top = current.truePeak > 1e-5 ? current.truePeak : 1e-5
        var start = 0
        while start < frameCount {
            let remaining = frameCount &- start
            let count = remaining < TruePeakFilter.chunk ? remaining : TruePeakFilter.chunk
            for c in 0..<channelCount { copySamples(truePeakFilter.input(c), channels[c] + (offset &+ start), count) }
            truePeakFilter.process(frameCount: count, above: top)
            for i in 0..<count {
                let peak = truePeakFilter.peaks[i]
                if peak > top { top = peak }
            }
            start = start &+ count
        }
        if top > 1e-5 { current.truePeak = top }
    }

    @_noLocks
    private mutating func finish() {
        if current.truePeak < current.peak { current.truePeak = current.peak }
        let sums = weighting.takeSums()
        current.energy = sums.weighted / Double(blockLength)
        current.meanSquare = sums.plain / Double(blockLength &* channelCount)
        finished = current
        current = LoudnessBlock()
        filled = 0
        if measuresTruePeak { truePeakFilter.wake() }
    }

    /// Forgets all sound.
    @_noLocks
    package mutating func reset() {
        finished = nil
        filled = 0
        current = LoudnessBlock()
        weighting.reset()
        truePeakFilter.reset()
    }
}
