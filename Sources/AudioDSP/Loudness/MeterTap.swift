// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

/// The values that a meter shows: plain numbers, which the render thread passes by a `LatestValue<MeterReading>`.
@frozen
public struct MeterReading: BitwiseCopyable, Sendable {
    /// The greatest magnitude of a sample in the last complete block of 100 ms and after it; 1 is full scale.
    public var peak: Float
    /// The true peak if it is measured; otherwise ``peak``.
    public var truePeak: Float
    /// The mean square of the last 300 ms over all channels; its root is the RMS level.
    public var meanSquare: Float
    /// The loudness of the last 400 ms in LUFS; −infinity for silence.
    public var momentary: Float
    /// The loudness of the last 3 s in LUFS; −infinity for silence.
    public var shortTerm: Float

    /// Creates silent values.
    @_noLocks
    package init() {
        peak = 0
        truePeak = 0
        meanSquare = 0
        momentary = -.infinity
        shortTerm = -.infinity
    }
}

/// Returns the loudness of a ``LoudnessBlock/energy`` in LUFS, −infinity for 0: ITU-R BS.1770-4, equation 2. Safe on the render
/// thread.
@_noLocks
package func loudnessUnits(ofEnergy energy: Double) -> Double {
    energy > 0 ? -0.691 + 4.342_944_819_032_518 * earshot_log(energy) : -.infinity
}

/// A meter's part on the render thread. Call ``process(_:offset:frameCount:)`` with each block to be metered, then store
/// ``reading`` for the display.
///
/// ```swift
/// var at = 0
/// while at < frameCount {
///     at += meter.process(channels, offset: at, frameCount: frameCount - at)
///     if let block = meter.finished { blocks.push(block) }  // for a LoudnessMeter on the control side, if there is one
/// }
/// latest.store(meter.reading)
/// ```
///
/// Everything except `init` is safe on the render thread. Peaks and levels do not depend on the blocks.
package struct MeterTap: ~Copyable {
    private var tap: LoudnessTap
    private let history: UnsafeMutablePointer<LoudnessBlock>  // a ring with the blocks of the last 3 s
    private var next = 0
    private var lastReading = MeterReading()  // after the last complete block, without peaks
    private var lastPeak: Float = 0
    private var lastTruePeak: Float = 0

    /// Creates a meter.
    /// - Parameters:
    ///   - sampleRate: in hertz.
    ///   - channelCount: 1 to 32.
    ///   - measuresTruePeak: true to measure peaks between samples, which costs several times the rest.
    package init(sampleRate: Double, channelCount: Int, measuresTruePeak: Bool = false) {
        tap = LoudnessTap(sampleRate: sampleRate, channelCount: channelCount, measuresTruePeak: measuresTruePeak)
        history = .allocate(capacity: Self.historyLength)
        history.initialize(repeating: LoudnessBlock(), count: Self.historyLength)
    }

    deinit { history.deallocate() }

    private static var historyLength: Int { @_noLocks get { 30 } }

    /// The block of 100 ms that the last call of ``process(_:offset:frameCount:)`` completed; nil if the call completed none.
    package var finished: LoudnessBlock? { @_noLocks get { tap.finished } }

    /// The current values.
    package var reading: MeterReading {
        @_noLocks get {
            var now = lastReading
            let peak = tap.peakSoFar
            let truePeak = tap.truePeakSoFar
            now.peak = peak > lastPeak ? peak : lastPeak
            now.truePeak = truePeak > lastTruePeak ? truePeak : lastTruePeak
            return now
        }
    }

    /// Measures at most `frameCount` frames, and stops earlier if a block of 100 ms is complete.
    /// - Returns: the number of frames measured; if it is less than `frameCount`, call again for the remainder.
    @_noLocks
    package mutating func process(_ channels: Channels, offset: Int, frameCount: Int) -> Int {
        let count = tap.process(channels, offset: offset, frameCount: frameCount)
        if let block = tap.finished { remember(block) }
        return count
    }

    @_noLocks
    private mutating func remember(_ block: LoudnessBlock) {
        history[next] = block
        next = next &+ 1 == Self.historyLength ? 0 : next &+ 1
        lastPeak = block.peak
        lastTruePeak = block.truePeak
        var energy = 0.0
        var square = 0.0
        var back = 1
        while back <= Self.historyLength {
            let index = next &- back
            let past = history[index < 0 ? index &+ Self.historyLength : index]
            energy += past.energy
            if back <= 3 { square += past.meanSquare }
            if back == 4 { lastReading.momentary = Float(loudnessUnits(ofEnergy: energy / 4)) }
            back &+= 1
        }
        lastReading.meanSquare = Float(square / 3)
        lastReading.shortTerm = Float(loudnessUnits(ofEnergy: energy / Double(Self.historyLength)))
    }

    /// Forgets all sound.
    @_noLocks
    package mutating func reset() {
        tap.reset()
        for k in 0..<Self.historyLength { history[k] = LoudnessBlock() }
        next = 0
        lastReading = MeterReading()
        lastPeak = 0
        lastTruePeak = 0
    }
}
