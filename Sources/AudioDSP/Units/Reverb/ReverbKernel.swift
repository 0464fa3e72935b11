// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

extension UnitType {
    /// Adds the reverberation of a room.
    public static let reverb = UnitType(ReverbKernel.self)
}

/// The reverberation of a room: a ``ReverbTank`` for each pair of channels (1 and 2, 3 and 4, …; a last channel may be alone).
///
/// `decay` is the time in which sound between 250 Hz and `highFrequency` falls by 60 dB. Below and above, it changes to `decay`
/// times `lowRatio` or `highRatio`; at those two frequencies the change is half way, in dB a second. Size and pre-delay crossfade
/// in 50 and 20 ms, everything else ramps linearly. The reverberation of
/// steady noise is as loud as the noise in the middle of the spectrum, whatever the decay; dry and wet are mixed by cosine and
/// sine, so that their powers add up.
struct ReverbKernel: UnitKernel, ~Copyable {
    let latency = 0
    let memory: Int
    private let channelCount: Int
    private let sampleRate: Double
    private let tanks: UnsafeMutablePointer<ReverbTank>
    private let geometry: ReverbGeometry
    private let scratch = ReverbScratch()
    private var lengths: ReverbLengths
    private var size: TapFade  // in millimetres; `lengths` follow it
    private var absorption: ReverbAbsorption
    private var preDelay: TapFade
    private var lowPole = LinearRamp(0)  // the coefficient of the low-pass at 250 Hz
    private var highPole = LinearRamp(0)  // the coefficient of the low-pass at `highFrequency`
    private var late = LinearRamp(0)  // the gain of the sums of the delay lines
    private var early = LinearRamp(0)  // the gain of the all-passes' sound
    private var same = LinearRamp(1)  // the gain of a side's wet sound on its own side
    private var cross = LinearRamp(0)  // the gain of a side's wet sound on the other side
    private var dry = LinearRamp(1)
    private var decay = 0.0
    private var highRatio = 0.0
    private var lowRatio = 0.0
    private var mixAngle = 0.0
    private var position = 0  // the number of the next frame since a reset
    private var heard = 0  // frames processed since the start or a reset

    /// The maximum metres of size for each second of decay: in a larger room the sound would be gone after a few reflections, and
    /// the decay would be uneven.
    private static var sizePerDecay: Double { @_noLocks get { 22 } }
    private static var lowFrequency: Double { @_noLocks get { 250 } }
    private static var earlyPart: Double { @_noLocks get { 0.2 } }  // the early sound's share of the wet energy

    init(sampleRate: Double, channelCount: Int) {
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        let parameters = Self.unit.parameters
        lengths = ReverbLengths(sampleRate: sampleRate, largest: Double(parameters[5].range.upperBound))
        let longestPreDelay = Int(Double(parameters[0].range.upperBound) * sampleRate) + 1
        geometry = ReverbGeometry(lengths: lengths, longestPreDelay: longestPreDelay)
        memory = longestPreDelay + lengths.diffuserMemory + lengths.longestLine
        absorption = ReverbAbsorption(sampleRate: sampleRate)
        size = TapFade(0, length: Int(0.05 * sampleRate))
        preDelay = TapFade(0, length: Int(0.02 * sampleRate))
        let count = (channelCount + 1) / 2
        tanks = .allocate(capacity: count)
        for t in 0..<count { (tanks + t).initialize(to: ReverbTank(geometry: geometry)) }
    }

    deinit {
        for t in 0..<(channelCount + 1) / 2 { tanks[t].deallocate() }
        tanks.deallocate()
        lengths.deallocate()
        absorption.deallocate()
        scratch.deallocate()
    }

    /// The parameters in the order of the unit's description.
    private enum Parameter: Int { case preDelay, decay, highRatio, highFrequency, lowRatio, size, width, mix }

    @_noLocks
    mutating func set(_ values: UnsafePointer<Float>, over frameCount: Int) {
        let preDelayFrames = Int(earshot_round(Double(values[Parameter.preDelay.rawValue]) * sampleRate))
        decay = Double(values[Parameter.decay.rawValue])
        let millimetres = Int(
            earshot_round(1000 * min(Double(values[Parameter.size.rawValue]), decay * Self.sizePerDecay)))
        highRatio = Double(values[Parameter.highRatio.rawValue])
        lowRatio = Double(values[Parameter.lowRatio.rawValue])
        mixAngle = Double(values[Parameter.mix.rawValue]) / 100 * (Double.pi / 2)
        if heard == 0 {
            preDelay.jump(to: preDelayFrames)
            size.jump(to: millimetres)
            lengths.set(millimetres: millimetres)
            lengths.settle()
        } else {
            preDelay.move(to: preDelayFrames)
            let isSizeSteady = !size.isMoving
            size.move(to: millimetres)
            if isSizeSteady { lengths.set(millimetres: size.next) }
        }
        lowPole.move(to: pole(Self.lowFrequency), over: frameCount)
        highPole.move(to: pole(Double(values[Parameter.highFrequency.rawValue])), over: frameCount)
        let width = values[Parameter.width.rawValue] / 100
        let scale = earshot_sqrtf(2 / (1 + width * width)) / 2
        same.move(to: scale * (1 + width), over: frameCount)
        cross.move(to: scale * (1 - width), over: frameCount)
        dry.move(to: values[Parameter.mix.rawValue] >= 100 ? 0 : Float(earshot_cos(mixAngle)), over: frameCount)
        early.move(to: Float(earshot_sin(mixAngle) * earshot_sqrt(Self.earlyPart / 2)), over: frameCount)
        moveGains(over: frameCount)
    }

    /// Ramps the absorption and the level to the values for the lengths that are being faded to.
    @_noLocks
    private mutating func moveGains(over frameCount: Int) {
        let frameCount = max(frameCount, size.remaining)  // at least as long as the fade of the lengths
        let squaredGain = absorption.move(
            lengths: lengths.next, low: decay * lowRatio, middle: decay, high: decay * highRatio, over: frameCount)
        // Sixteen lines with a gain of g, each fed by a chain, have the energy 16 / (1 − g²); the output gets g² of it.
        let level = (1 - squaredGain) / (16 * squaredGain) * (1 - Self.earlyPart)
        late.move(
            to: Float(earshot_sin(mixAngle) * earshot_sqrt(level)) / ReverbAbsorption.matrixScale, over: frameCount)
    }

    @_noLocks
    private func pole(_ frequency: Double) -> Float {
        let g = earshot_tan(Double.pi * min(frequency / sampleRate, 0.45))
        return Float(g / (1 + g))
    }

    @_noLocks
    mutating func process(_ block: UnitBlock) {
        var done = 0
        while done < block.frameCount {
            if absorption.framesRemaining == 1 { absorption.finish() }
            var count = min(ReverbGeometry.chunk &- position & (ReverbGeometry.chunk &- 1), block.frameCount &- done)
            if absorption.framesRemaining > 0 { count = min(count, absorption.framesRemaining &- 1) }
            if preDelay.isMoving { count = min(count, preDelay.remaining) }
            if size.isMoving { count = min(count, size.remaining) }
            render(block, at: block.offset &+ done, count)
            done &+= count
        }
        heard &+= block.frameCount
    }

    /// Renders a piece during which no fade and no ramp of the absorption ends.
    @_noLocks
    private mutating func render(_ block: UnitBlock, at offset: Int, _ count: Int) {
        let polesMove = lowPole.remaining > 0 || highPole.remaining > 0
        ReverbScratch.fill(scratch.dry, &dry, count)
        ReverbScratch.fill(scratch.late, &late, count)
        ReverbScratch.fill(scratch.early, &early, count)
        ReverbScratch.fill(scratch.same, &same, count)
        ReverbScratch.fill(scratch.cross, &cross, count)
        ReverbScratch.fill(scratch.lowPole, &lowPole, count)
        ReverbScratch.fill(scratch.highPole, &highPole, count)
        let preDelayNow = preDelay
        let sizeNow = size
        if preDelay.isMoving { ReverbScratch.fill(scratch.preDelayWeight, &preDelay, count) }
        if size.isMoving { ReverbScratch.fill(scratch.sizeWeight, &size, count) }
        var c = 0
        while c < channelCount {
            let partner = min(c &+ 1, channelCount &- 1)
            copySamples(scratch.left, block.input[c] + offset, count)
            copySamples(scratch.right, block.input[partner] + offset, count)
            tanks[c >> 1].process(
                scratch, count: count, position: position, preDelay: preDelayNow, size: sizeNow, lengths: lengths,
                absorption: absorption, polesMove: polesMove)
            combine(count)
            copySamples(block.output[c] + offset, scratch.left, count)
            if partner > c { copySamples(block.output[partner] + offset, scratch.right, count) }
            c &+= 2
        }
        position &+= count
        for _ in 0..<min(count, absorption.framesRemaining) { absorption.advance() }
        if sizeNow.isMoving && size.current != sizeNow.current { arrived() }
    }

    /// Mixes dry and wet sound into the scratch's `left` and `right`, in place of the input.
    @_noLocks
    private func combine(_ count: Int) {
        let rowStride = ReverbGeometry.row
        var f = 0
        while f < count {
            let v = scratch.chains + f
            let late = load4(scratch.late + f)
            let early = load4(scratch.early + f)
            let l = load4(scratch.lateLeft + f) * late + (load4(v) - load4(v + 2 &* rowStride)) * early
            let r = load4(scratch.lateRight + f) * late + (load4(v + rowStride) - load4(v + 3 &* rowStride)) * early
            let same = load4(scratch.same + f)
            let cross = load4(scratch.cross + f)
            let dry = load4(scratch.dry + f)
            store4(load4(scratch.left + f) * dry + (l * same + r * cross), scratch.left + f)
            store4(load4(scratch.right + f) * dry + (r * same + l * cross), scratch.right + f)
            f &+= 4
        }
    }

    /// Handles the end of a fade of the size; another may have begun.
    @_noLocks
    private mutating func arrived() {
        lengths.settle()
        if size.isMoving {
            lengths.set(millimetres: size.next)
            moveGains(over: 0)
        }
    }

    @_noLocks
    mutating func reset() {
        for t in 0..<((channelCount &+ 1) >> 1) { tanks[t].clear(after: heard) }
        heard = 0
        position = 0
        preDelay.finish()
        size.finish()
        lengths.set(millimetres: size.current)
        lengths.settle()
        moveGains(over: 0)
        lowPole.finish()
        highPole.finish()
        same.finish()
        cross.finish()
        dry.finish()
        early.finish()
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
