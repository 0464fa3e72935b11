// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

extension UnitType {
    /// Lowers loud passages, so that the whole can be louder.
    public static let compressor = UnitType(CompressorKernel.self)
}

/// A feed-forward compressor with its gain machine and smoothing in the logarithmic domain.
///
/// The static curve with its soft knee and the smooth, branching detector after it are those of D. Giannoulis, M. Massberg and J.
/// D. Reiss, "Digital Dynamic Range Compressor Design: A Tutorial and Analysis", J. Audio Eng. Soc. 60 (2012), 399–408. The level
/// is the greatest magnitude of the last 12.5 ms over all channels, so that the gain does not follow the waves of a low tone; so
/// attack begins at once and release that much later. Internal levels are octaves of gain (6.02 dB).
struct CompressorKernel: UnitKernel, ~Copyable {
    let latency = 0
    let memory: Int
    private let sampleRate: Double
    private var threshold = LinearRamp(0)
    private var slope = LinearRamp(0)
    private var knee = LinearRamp(0)
    private var makeup = LinearRamp(0)
    private var automatic = LinearRamp(0)
    private var attack = 0.0
    private var release = 0.0
    private var hold: PeakHold
    private var measured: Float = -1  // the magnitude to which `wanted` belongs; −1 for none
    private var wanted = 0.0
    private var reduction = 0.0
    /// The gains of a piece's frames in octaves.
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
        // Half of the reduction of a full-scale tone: between preserving the level of loud passages and of soft ones. It is a
        // switch, so it ramps for longer than a segment, without a click.
        let given =
            values[Parameter.autoMakeup.rawValue] >= 0.5
            ? 0.5 * Self.reduction(of: 0, threshold: toThreshold, slope: toSlope, knee: toKnee) : 0
        automatic.move(to: given, over: frameCount == 0 ? 0 : Int(0.05 * sampleRate))
        threshold.move(to: toThreshold, over: frameCount)
        slope.move(to: toSlope, over: frameCount)
        knee.move(to: toKnee, over: frameCount)
        makeup.move(to: values[Parameter.makeup.rawValue] * octavesPerDecibel, over: frameCount)
        measured = -1
    }

    /// Returns the reduction of a level in octaves.
    @_noLocks @inline(__always)
    static func reduction(of level: Float, threshold: Float, slope: Float, knee: Float) -> Float {
        let over = level - threshold
        if 2 * over >= knee { return slope * over }
        let into = over + 0.5 * knee
        return into <= 0 ? 0 : slope * into * into / (2 * knee)
    }

    @_noLocks
    mutating func process(_ block: UnitBlock) {
        var at = block.offset
        let end = block.offset &+ block.frameCount
        while at < end {
            let count = end &- at < Self.chunk ? end &- at : Self.chunk
            decide(block.input, at, count)
            raise()
            for c in 0..<block.input.count {
                let (from, to) = (block.input[c] + at, block.output[c] + at)
                for i in 0..<count { to[i] = from[i] * gains[i] }
            }
            at &+= count
        }
    }

    /// Converts octaves to factors, also beyond the end of an incomplete piece.
    @_noLocks
    private func raise() {
        var i = 0
        while i < Self.chunk {
            store4(earshot_exp2_4(load4(gains + i)), gains + i)
            i &+= 4
        }
    }

    /// Computes the gains of a piece in octaves. Values that change from frame to frame are in registers, as each depends on the
    /// last.
    @_noLocks
    private mutating func decide(_ input: Channels, _ offset: Int, _ count: Int) {
        var (hold, measured, wanted, reduction) = (hold, measured, wanted, reduction)
        var (makeup, automatic) = (makeup, automatic)
        for i in 0..<count {
            let held = hold.next(greatestMagnitude(input.pointers, input.count, at: offset &+ i))
            if held != measured || slope.remaining > 0 || threshold.remaining > 0 || knee.remaining > 0 {
                let level = held > 1e-9 ? fastLog2(held) : -30
                wanted = Double(
                    Self.reduction(of: level, threshold: threshold.next(), slope: slope.next(), knee: knee.next()))
                measured = held
            }
            let missing = wanted - reduction
            if missing < 1e-5 && missing > -1e-5 {
                reduction = wanted
            } else {
                let part = missing > 0 ? attack : release
                reduction = reduction * part + wanted * (1 - part)
            }
            gains[i] = makeup.next() + automatic.next() - Float(reduction)
        }
        self.hold = hold
        self.measured = measured
        self.wanted = wanted
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
        wanted = 0
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
