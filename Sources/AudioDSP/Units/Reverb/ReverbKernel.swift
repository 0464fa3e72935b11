import AudioBase
import CRealtime

extension UnitType {
    /// Puts the sound into a room.
    public static let reverb = UnitType(ReverbKernel.self)
}

/// A room: for each pair of channels (1 and 2, 3 and 4, …; a last one alone) a ``ReverbTank``.
///
/// `decay` is the time for 60 dB between 250 Hz and `highFrequency`; beyond, it goes over to its ratios, half way (in dB
/// a second) at those frequencies. Size and pre-delay are faded to in 50 and 20 ms, all else moves on straight lines. The
/// reverberation of steady noise is as loud as the noise, whatever the decay, in the middle of the spectrum; dry and wet are
/// mixed by cosine and sine, so that their powers add up.
struct ReverbKernel: UnitKernel, ~Copyable {
    let latency = 0
    let memory: Int
    private let channelCount: Int
    private let sampleRate: Double
    private let tanks: UnsafeMutablePointer<ReverbTank>
    private let geometry: ReverbGeometry
    private var lengths: ReverbLengths
    private var size: TapFade  // in millimetres; `lengths` follow it
    private var absorption: ReverbAbsorption
    private var preDelay: TapFade
    private var lowPole = Glide(0)
    private var highPole = Glide(0)
    private var late = Glide(0)
    private var early = Glide(0)
    private var same = Glide(1)  // of a side's wet sound, on its own side
    private var cross = Glide(0)  // on the other
    private var dry = Glide(1)
    private var decay = 0.0
    private var highRatio = 0.0
    private var lowRatio = 0.0
    private var mixAngle = 0.0
    private var position = 0
    private var heard = 0  // frames since it was made or reset

    private static var lowFrequency: Double { @_noLocks get { 250 } }
    private static var earlyPart: Double { @_noLocks get { 0.15 } }  // of the wet sound's energy

    init(sampleRate: Double, channelCount: Int) {
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        let parameters = Self.unit.parameters
        lengths = ReverbLengths(sampleRate: sampleRate, largest: Double(parameters[5].range.upperBound))
        let longestPreDelay = Int(Double(parameters[0].range.upperBound) * sampleRate) + 1
        geometry = ReverbGeometry(sampleRate: sampleRate, lengths: lengths, longestPreDelay: longestPreDelay)
        memory = longestPreDelay + geometry.diffuserMemory + lengths.longest
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
        geometry.deallocate()
    }

    @_noLocks
    mutating func set(_ values: UnsafePointer<Float>, over frameCount: Int) {
        let before = Int(earshot_round(Double(values[0]) * sampleRate))
        let millimetres = Int(earshot_round(Double(values[5]) * 1000))
        decay = Double(values[1])
        highRatio = Double(values[2])
        lowRatio = Double(values[4])
        mixAngle = Double(values[7]) / 100 * (Double.pi / 2)
        if heard == 0 {
            preDelay.jump(to: before)
            size.jump(to: millimetres)
            lengths.set(size: values[5])
            lengths.settle()
        } else {
            preDelay.move(to: before)
            let rests = !size.isMoving
            size.move(to: millimetres)
            if rests { lengths.set(size: Float(size.next) / 1000) }
        }
        lowPole.move(to: pole(Self.lowFrequency), over: frameCount)
        highPole.move(to: pole(Double(values[3])), over: frameCount)
        let width = values[6] / 100
        let scale = earshot_sqrtf(2 / (1 + width * width)) / 2
        same.move(to: scale * (1 + width), over: frameCount)
        cross.move(to: scale * (1 - width), over: frameCount)
        dry.move(to: values[7] >= 100 ? 0 : Float(earshot_cos(mixAngle)), over: frameCount)
        early.move(to: Float(earshot_sin(mixAngle) * earshot_sqrt(Self.earlyPart / 2)), over: frameCount)
        moveGains(over: frameCount)
    }

    /// Absorption and loudness for the lengths that are faded to.
    @_noLocks
    private mutating func moveGains(over frameCount: Int) {
        let square = absorption.move(
            lengths: lengths.next, low: decay * lowRatio, middle: decay, high: decay * highRatio, over: frameCount)
        // Sixteen lines, each fed a chain: their energy is 16 / (1 − g²), of which the output hears g².
        let level = (1 - square) / (16 * square) * (1 - Self.earlyPart)
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
        for i in 0..<block.frameCount {
            absorption.advance()
            let lateGain = late.next()
            let earlyGain = early.next()
            let sameGain = same.next()
            let crossGain = cross.next()
            let dryGain = dry.next()
            let lowGain = lowPole.next()
            let highGain = highPole.next()
            var c = 0
            while c < channelCount {
                let hasRight = c &+ 1 < channelCount
                let left = block.input[c][block.offset &+ i]
                let right = hasRight ? block.input[c &+ 1][block.offset &+ i] : left
                let wet = tanks[c >> 1].process(
                    left, right, position: position, preDelay: preDelay, lengths: lengths, size: size,
                    gains: absorption.gains, lowPole: lowGain, highPole: highGain)
                let l = wet.lateLeft * lateGain + wet.earlyLeft * earlyGain
                let r = wet.lateRight * lateGain + wet.earlyRight * earlyGain
                block.output[c][block.offset &+ i] = left * dryGain + (l * sameGain + r * crossGain)
                if hasRight { block.output[c &+ 1][block.offset &+ i] = right * dryGain + (r * sameGain + l * crossGain) }
                c &+= 2
            }
            position &+= 1
            preDelay.advance()
            if size.isMoving { fadeSize() }
        }
        heard &+= block.frameCount
    }

    @_noLocks
    private mutating func fadeSize() {
        let next = size.next
        size.advance()
        if size.current != next { return }  // not there yet
        lengths.settle()
        if size.isMoving {
            lengths.set(size: Float(size.next) / 1000)
            moveGains(over: UnitRamp.segment)
        }
    }

    @_noLocks
    mutating func reset() {
        for t in 0..<((channelCount &+ 1) >> 1) { tanks[t].clear(after: heard) }
        heard = 0
        position = 0
        preDelay.finish()
        size.finish()
        lengths.set(size: Float(size.current) / 1000)
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
