import AudioBase
import AudioDSP

/// One input of a mixer: gain and pan, moved without a click, and a meter.
struct MixerStrip: ~Copyable {
    private var ramps: ParameterRamps
    private let meter: LatestValue<Level>.Writer
    private var left = MixGain()
    private var right = MixGain()
    private var middle = MixGain()

    /// Parameters: volume (a factor), pan, and whether it sounds.
    init(ramps: consuming ParameterRamps, meter: LatestValue<Level>.Writer) {
        self.ramps = ramps
        self.meter = meter
        aim(over: 0)
    }

    /// Adds a block to the mix.
    @_noLocks
    mutating func add(_ bus: RenderBus, to output: Channels, _ call: RenderCall) {
        _ = ramps.takeNews()
        if bus.isSilent {
            meter.store(Level())
        } else {
            meter.store(Level(of: bus.channels, frameCount: call.frameCount))
        }
        var at = 0
        while at < call.frameCount {
            let time = call.sampleTime &+ Int64(at)
            let over = ramps.advance(at: time)
            if over >= 0 { aim(over: over) }
            let count = ramps.limit(call.frameCount &- at, at: time)
            if !bus.isSilent { add(bus.channels, output, at, count) }
            left.advance(count)
            right.advance(count)
            middle.advance(count)
            ramps.rendered(count)
            at &+= count
        }
    }

    /// Pan takes from the side that it leads away from, as a balance control does; the middle is untouched.
    @_noLocks
    private mutating func aim(over frameCount: Int) {
        let volume = ramps.values[0] * ramps.values[2]
        let pan = ramps.values[1]
        middle.move(to: volume, over: frameCount)
        left.move(to: volume * (pan > 0 ? 1 - pan : 1), over: frameCount)
        right.move(to: volume * (pan < 0 ? 1 + pan : 1), over: frameCount)
    }

    /// One channel goes to both of the first two; several go each to its like, and to a single output as their mean.
    @_noLocks
    private func add(_ from: Channels, _ to: Channels, _ offset: Int, _ count: Int) {
        if to.count == 1 {
            let share = 1 / Float(from.count)
            for c in 0..<from.count { middle.add(from[c] + offset, to[0] + offset, count, times: share) }
            return
        }
        for c in 0..<to.count where from.count == 1 ? c < 2 : c < from.count {
            let gain = c == 0 ? left : c == 1 ? right : middle
            gain.add(from[from.count == 1 ? 0 : c] + offset, to[c] + offset, count, times: 1)
        }
    }
}

/// A factor on a straight line, which a block is multiplied with.
struct MixGain: BitwiseCopyable {
    private var start: Float = 0
    private var goal: Float = 0
    private var step: Float = 0
    private var length = 0
    private var done = 0

    @_noLocks
    init() {}

    @_noLocks
    mutating func move(to goal: Float, over frameCount: Int) {
        start = value(0)
        self.goal = goal
        length = frameCount
        done = 0
        step = frameCount > 0 ? (goal - start) / Float(frameCount) : 0
    }

    /// The factor `i` frames on.
    @_noLocks
    func value(_ i: Int) -> Float { done &+ i < length ? start + step * Float(done &+ i) : goal }

    @_noLocks
    mutating func advance(_ count: Int) {
        done &+= count
        if done > length { done = length }
    }

    @_noLocks
    func add(
        _ from: UnsafeMutablePointer<Float>, _ to: UnsafeMutablePointer<Float>, _ count: Int, times factor: Float
    ) {
        let moving = length &- done < count ? length &- done : count
        for i in 0..<moving { to[i] += from[i] * (value(i) * factor) }
        let steady = goal * factor
        if steady != 0 { for i in moving..<count { to[i] += from[i] * steady } }
    }

    @_noLocks
    func scale(_ samples: UnsafeMutablePointer<Float>, _ count: Int) {
        let moving = length &- done < count ? length &- done : count
        for i in 0..<moving { samples[i] *= value(i) }
        if goal != 1 { for i in moving..<count { samples[i] *= goal } }
    }
}

/// Adds any number of inputs.
struct MixerState: ~Copyable {
    private let strips: UnsafeMutablePointer<UnsafeMutablePointer<MixerStrip>>
    private let master: UnsafeMutablePointer<MixerMaster>

    init(strips: [UnsafeMutablePointer<MixerStrip>], master: UnsafeMutablePointer<MixerMaster>) {
        self.strips = .allocate(capacity: max(1, strips.count))
        for (i, strip) in strips.enumerated() { (self.strips + i).initialize(to: strip) }
        self.master = master
    }

    deinit { strips.deallocate() }

    static var function: RenderFunction {
        { state, call in
            state.assumingMemoryBound(to: MixerState.self).pointee.process(
                call.assumingMemoryBound(to: RenderCall.self).pointee)
        }
    }

    @_noLocks
    func process(_ call: RenderCall) {
        guard call.frameCount > 0 else { return }
        let to = call.outputs[0]
        to.silence(call.frameCount)
        for k in 0..<call.inputCount {
            if !call.inputs[k].isSilent { to.isSilent = false }
            strips[k].pointee.add(call.inputs[k], to: to.channels, call)
        }
        master.pointee.process(to, call)
    }
}

/// A mixer's own volume, and the meter behind it.
struct MixerMaster: ~Copyable {
    private var ramps: ParameterRamps
    private let level: LatestValue<Level>.Writer
    private var gain = MixGain()
    private var meter: MeterTap
    private let readings: LatestValue<MeterReading>.Writer
    private let blocks: MessageQueue<LoudnessBlock>.Writer
    private var silentFrames = 0
    /// Silence that the meter is fed until all that it shows is over.
    private let meterMemory: Int

    init(
        ramps: consuming ParameterRamps, format: AudioFormat, level: LatestValue<Level>.Writer,
        readings: LatestValue<MeterReading>.Writer, blocks: MessageQueue<LoudnessBlock>.Writer
    ) {
        self.ramps = ramps
        self.level = level
        self.readings = readings
        self.blocks = blocks
        meter = MeterTap(sampleRate: format.sampleRate, channelCount: format.channelCount)
        meterMemory = Int(4 * format.sampleRate)
        gain.move(to: self.ramps.values[0], over: 0)
    }

    @_noLocks
    mutating func process(_ bus: RenderBus, _ call: RenderCall) {
        _ = ramps.takeNews()
        var at = 0
        while at < call.frameCount {
            let time = call.sampleTime &+ Int64(at)
            let over = ramps.advance(at: time)
            if over >= 0 { gain.move(to: ramps.values[0], over: over) }
            let count = ramps.limit(call.frameCount &- at, at: time)
            if !bus.isSilent {
                for c in 0..<bus.channels.count { gain.scale(bus.channels[c] + at, count) }
            }
            gain.advance(count)
            ramps.rendered(count)
            at &+= count
        }
        if bus.isSilent {
            level.store(Level())
        } else {
            level.store(Level(of: bus.channels, frameCount: call.frameCount))
        }
        measure(bus, call.frameCount)
    }

    /// Silence that goes on is not measured: it changes no loudness, as both gates leave it out.
    @_noLocks
    private mutating func measure(_ bus: RenderBus, _ count: Int) {
        if !bus.isSilent { silentFrames = 0 }
        if silentFrames > meterMemory { return }
        if bus.isSilent { silentFrames &+= count }
        var at = 0
        while at < count {
            at &+= meter.process(bus.channels, offset: at, frameCount: count &- at)
            if let block = meter.finished { blocks.push(block) }
        }
        readings.store(meter.reading)
    }
}
