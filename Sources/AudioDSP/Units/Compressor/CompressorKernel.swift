// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

extension UnitType {
    /// Lowers loud passages, so that the whole sound can be made louder.
    public static let compressor = UnitType(CompressorKernel.self)
}

/// A feed-forward compressor that calculates and smooths its gain in the logarithmic domain.
///
/// The static curve with its soft knee and the smooth, branching detector after it are those of D. Giannoulis, M. Massberg and J.
/// D. Reiss, "Digital Dynamic Range Compressor Design: A Tutorial and Analysis", J. Audio Eng. Soc. 60 (2012), 399–408. The level
/// is the greatest magnitude of the last 12.5 to 17 ms over all channels, so that the gain does not follow the waves of a low
/// tone. The attack thus begins at once, and the release that much later. Internal levels are in octaves of gain (6.02 dB).
struct CompressorKernel: UnitKernel, ~Copyable {
    let latency = 0
    let memory: Int
    private let sampleRate: Double
    private var threshold = LinearRamp(0)  // in octaves
    private var slope = LinearRamp(0)  // 1 − 1 / ratio
    private var knee = LinearRamp(0)  // the width in octaves
    private var makeup = LinearRamp(0)  // in octaves
    private var automatic = LinearRamp(0)  // the automatic makeup gain in octaves
    private var attack = 0.0  // the share of a difference that is left after a frame
    private var release = 0.0  // the same for a falling reduction
    private var hold: PeakHold
    private var measured: Float = -1  // the magnitude to which `targetReduction` belongs; −1 for none
    private var targetReduction = 0.0  // in octaves, before smoothing
    private var reduction = 0.0  // in octaves, smoothed by attack and release
    /// The gains of the frames of a piece: first in octaves, then as factors.
    private let gains: UnsafeMutablePointer<Float>
    private static var chunk: Int { @_noLocks get { 16 } }

    init(sampleRate: Double, channelCount: Int) {
        self.sampleRate = sampleRate
        hold = PeakHold(seconds: 0.0125, sampleRate: sampleRate)
        // 15 time constants of the longest release: less than 1e-5 is left.
        memory = hold.frames + Int(15 * 2 * sampleRate)
        gains = .allocate(capacity: Self.chunk)
        gains.initialize(repeating: 0, count: Self.chunk)
    }

    deinit { gains.deallocate() }

    /// The parameters in the order of the unit's description.
    private enum Parameter: Int { case threshold, ratio, knee, attack, release, makeup, autoMakeup }

    @_noLocks
    mutating func set(_ values: UnsafePointer<Float>, over frameCount: Int) {
        let toThreshold = values[Parameter.threshold.rawValue] * octavesPerDecibel
        let toSlope = 1 - 1 / (values[Parameter.ratio.rawValue] < 1 ? 1 : values[Parameter.ratio.rawValue])
        let toKnee = values[Parameter.knee.rawValue] * octavesPerDecibel
        attack = smoothing(seconds: values[Parameter.attack.rawValue], sampleRate: sampleRate)
        release = smoothing(seconds: values[Parameter.release.rawValue], sampleRate: sampleRate)
        // The automatic gain is half of the reduction of a full-scale tone: a compromise between preserving the level of loud
        // passages and that of soft ones. As a switch changes it, it ramps for longer than a segment, so that nothing clicks.
        let automaticGain =
            values[Parameter.autoMakeup.rawValue] >= 0.5
            ? 0.5 * Self.reduction(of: 0, threshold: toThreshold, slope: toSlope, knee: toKnee) : 0
        automatic.move(to: automaticGain, over: frameCount == 0 ? 0 : Int(0.05 * sampleRate))
        threshold.move(to: toThreshold, over: frameCount)
        slope.move(to: toSlope, over: frameCount)
        knee.move(to: toKnee, over: frameCount)
        makeup.move(to: values[Parameter.makeup.rawValue] * octavesPerDecibel, over: frameCount)
        measured = -1
    }

    /// Returns the reduction in octaves for a level in octaves.
    @_noLocks @inline(__always)
    static func reduction(of level: Float, threshold: Float, slope: Float, knee: Float) -> Float {
        let excess = level - threshold
        if 2 * excess >= knee { return slope * excess }
        let intoKnee = excess + 0.5 * knee
        return intoKnee <= 0 ? 0 : slope * intoKnee * intoKnee / (2 * knee)
    }

    @_noLocks
    mutating func process(_ block: UnitBlock) {
        var position = block.offset
        let end = block.offset &+ block.frameCount
        while position < end {
            let count = end &- position < Self.chunk ? end &- position : Self.chunk
            computeGains(block.input, position, count)
            convertToFactors()
            for c in 0..<block.input.count {
                let (from, to) = (block.input[c] + position, block.output[c] + position)
                for i in 0..<count { to[i] = from[i] * gains[i] }
            }
            position &+= count
        }
    }

    /// Converts ``gains`` from octaves to factors, also beyond the end of an incomplete piece.
    @_noLocks
    private func convertToFactors() {
        var i = 0
        while i < Self.chunk {
            store4(earshot_exp2_4(load4(gains + i)), gains + i)
            i &+= 4
        }
    }

    /// Computes the gains of a piece in octaves. Values that change from frame to frame are local variables, to stay in
    /// registers, since each value depends on the last one.
    @_noLocks
    private mutating func computeGains(_ input: Channels, _ offset: Int, _ count: Int) {
        var (hold, measured, targetReduction, reduction) = (hold, measured, targetReduction, reduction)
        var (makeup, automatic) = (makeup, automatic)
        for i in 0..<count {
            let heldPeak = hold.next(greatestMagnitude(input.pointers, input.count, at: offset &+ i))
            if heldPeak != measured || slope.remaining > 0 || threshold.remaining > 0 || knee.remaining > 0 {
                let level = heldPeak > 1e-9 ? fastLog2(heldPeak) : -30
                targetReduction = Double(
                    Self.reduction(of: level, threshold: threshold.next(), slope: slope.next(), knee: knee.next()))
                measured = heldPeak
            }
            let missing = targetReduction - reduction
            if missing < 1e-5 && missing > -1e-5 {
                reduction = targetReduction
            } else {
                let retained = missing > 0 ? attack : release
                reduction = reduction * retained + targetReduction * (1 - retained)
            }
            gains[i] = makeup.next() + automatic.next() - Float(reduction)
        }
        self.hold = hold
        self.measured = measured
        self.targetReduction = targetReduction
        self.reduction = reduction
        self.makeup = makeup
        self.automatic = automatic
    }

    @_noLocks
    mutating func reset() {
        threshold.finish()
        slope.finish()
        knee.finish()
        makeup.finish()
        automatic.finish()
        hold.reset()
        measured = -1
        targetReduction = 0
        reduction = 0
    }

    static var functions: UnitFunctions {
        UnitFunctions(
            set: { $0.assumingMemoryBound(to: Self.self).pointee.set($1, over: $2) },
            process: { state, block in
                state.assumingMemoryBound(to: Self.self).pointee.process(
                    block.assumingMemoryBound(to: UnitBlock.self).pointee)
            },
            reset: { $0.assumingMemoryBound(to: Self.self).pointee.reset() })
    }
}

/// One decibel in octaves of gain: log2(10) / 20.
private var octavesPerDecibel: Float { @_noLocks get { 0.166_096_4 } }
