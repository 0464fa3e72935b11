// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import EarshotAudioDSP

/// One input of a mixer: a gain and a pan, ramped without a click, and a meter.
struct MixerStrip: ~Copyable {
    private var ramps: ParameterRamps
    private let meter: LevelMeter.Handle
    private var leftGain = MixGain()
    private var rightGain = MixGain()
    private var middleGain = MixGain()

    /// - Parameter ramps: the input's volume, its pan, and 1 if the input is heard, otherwise 0.
    init(ramps: consuming ParameterRamps, meter: LevelMeter.Handle) {
        self.ramps = ramps
        self.meter = meter
        aim(over: 0)
    }

    /// Applies changed parameters and measures the input. Returns true if gain and pan are constant throughout the block.
    @_noLocks
    mutating func begin(_ bus: RenderBus, _ call: RenderCall) -> Bool {
        ramps.takeChanges(call.changeCount)
        meter.store(bus.isSilent ? Level() : Level(of: bus.channels, frameCount: call.frameCount))
        return ramps.isAtRest(until: call.sampleTime &+ Int64(call.frameCount)) && leftGain.isSteady
            && rightGain.isSteady && middleGain.isSteady
    }

    /// Queues an input whose gain is constant throughout the block.
    @_noLocks
    mutating func queue(_ bus: RenderBus, _ queue: MixQueue, to output: Channels, _ frameCount: Int) {
        ramps.rendered(frameCount)
        guard !bus.isSilent else { return }
        let from = bus.channels
        if output.count == 1 {
            let channelGain = middleGain.goal * (1 / Float(from.count))
            for c in 0..<from.count { queue.add(from[c], channelGain, to: 0, of: output, frameCount) }
            return
        }
        for c in 0..<output.count where from.count == 1 ? c < 2 : c < from.count {
            let gain = c == 0 ? leftGain : c == 1 ? rightGain : middleGain
            queue.add(from[from.count == 1 ? 0 : c], gain.goal, to: c, of: output, frameCount)
        }
    }

    /// Adds an input whose gain changes within the block.
    @_noLocks
    mutating func add(_ bus: RenderBus, to output: Channels, _ call: RenderCall) {
        var at = 0
        while at < call.frameCount {
            let time = call.sampleTime &+ Int64(at)
            let over = ramps.advance(at: time)
            if over >= 0 { aim(over: over) }
            let count = ramps.limit(call.frameCount &- at, at: time)
            if !bus.isSilent { add(bus.channels, output, at, count) }
            leftGain.advance(count)
            rightGain.advance(count)
            middleGain.advance(count)
            ramps.rendered(count)
            at &+= count
        }
    }

    /// Sets the gains for volume and pan. A pan attenuates the opposite side, as a balance control does; the middle gain does not
    /// depend on the pan.
    @_noLocks
    private mutating func aim(over frameCount: Int) {
        let volume = ramps.values[0] * ramps.values[2]
        let pan = ramps.values[1]
        middleGain.move(to: volume, over: frameCount)
        leftGain.move(to: volume * (pan > 0 ? 1 - pan : 1), over: frameCount)
        rightGain.move(to: volume * (pan < 0 ? 1 + pan : 1), over: frameCount)
    }

    /// Adds a mono input to the first two output channels, and other inputs channel by channel. A mono output gets the mean of
    /// the input's channels.
    @_noLocks
    private func add(_ from: Channels, _ to: Channels, _ offset: Int, _ count: Int) {
        if to.count == 1 {
            let channelGain = 1 / Float(from.count)
            for c in 0..<from.count { middleGain.add(from[c] + offset, to[0] + offset, count, times: channelGain) }
            return
        }
        for c in 0..<to.count where from.count == 1 ? c < 2 : c < from.count {
            let gain = c == 0 ? leftGain : c == 1 ? rightGain : middleGain
            gain.add(from[from.count == 1 ? 0 : c] + offset, to[c] + offset, count, times: 1)
        }
    }
}

/// The render state of a mixer with any number of inputs.
struct MixerState: ~Copyable {
    private let strips: UnsafeMutablePointer<UnsafeMutablePointer<MixerStrip>>
    private let master: UnsafeMutablePointer<MixerMaster>
    private let queue: MixQueue

    init(
        strips: [UnsafeMutablePointer<MixerStrip>], master: UnsafeMutablePointer<MixerMaster>, outputChannelCount: Int
    ) {
        self.strips = .allocate(capacity: max(1, strips.count))
        for (i, strip) in strips.enumerated() { (self.strips + i).initialize(to: strip) }
        self.master = master
        queue = MixQueue(channelCount: outputChannelCount)
    }

    deinit {
        strips.deallocate()
        queue.deallocate()
    }

    static var function: RenderFunction {
        { state, call in
            state.assumingMemoryBound(to: MixerState.self).pointee.process(
                call.assumingMemoryBound(to: RenderCall.self).pointee)
        }
    }

    /// Adds the inputs in their order, so that the sum does not depend on the division into blocks.
    @_noLocks
    func process(_ call: RenderCall) {
        guard call.frameCount > 0 else { return }
        let to = call.outputs[0]
        to.silence(call.frameCount)
        for k in 0..<call.inputCount {
            let bus = call.inputs[k]
            if k &+ 2 < call.inputCount { earshot_prefetch(strips[k &+ 2]) }
            if !bus.isSilent { to.isSilent = false }
            if strips[k].pointee.begin(bus, call) {
                strips[k].pointee.queue(bus, queue, to: to.channels, call.frameCount)
            } else {
                queue.flush(to.channels, call.frameCount)
                strips[k].pointee.add(bus, to: to.channels, call)
            }
        }
        queue.flush(to.channels, call.frameCount)
        master.pointee.process(to, call)
    }
}

/// The output of a mixer: its volume, and the meters after the volume.
struct MixerMaster: ~Copyable {
    private var ramps: ParameterRamps
    private let level: LevelMeter.Handle
    private var gain = MixGain()
    private var meter: MeterTap
    private let readings: LatestValue<MeterReading>.Writer
    private let blocks: MessageQueue<LoudnessBlock>.Writer
    /// Not 0 if metering is enabled.
    private let meteringSwitch: Counters.Handle
    private var isMeasuring = false
    private var silentFrames = 0
    /// The frames of silence after which the meter shows silence.
    private let meterMemory: Int

    init(
        ramps: consuming ParameterRamps, format: AudioFormat, level: LevelMeter.Handle,
        readings: LatestValue<MeterReading>.Writer, blocks: MessageQueue<LoudnessBlock>.Writer,
        metering: Counters.Handle
    ) {
        self.ramps = ramps
        meteringSwitch = metering
        self.level = level
        self.readings = readings
        self.blocks = blocks
        meter = MeterTap(sampleRate: format.sampleRate, channelCount: format.channelCount)
        meterMemory = Int(4 * format.sampleRate)
        gain.move(to: self.ramps.values[0], over: 0)
    }

    @_noLocks
    mutating func process(_ bus: RenderBus, _ call: RenderCall) {
        ramps.takeChanges(call.changeCount)
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

    /// Measures the output while metering is enabled. Ongoing silence is not measured, because both gates of the loudness ignore
    /// it.
    @_noLocks
    private mutating func measure(_ bus: RenderBus, _ count: Int) {
        guard meteringSwitch.load() != 0 else {
            if isMeasuring { forget() }
            return
        }
        isMeasuring = true
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

    /// Resets the meter, which then shows silence. The next measurement starts anew.
    @_noLocks
    private mutating func forget() {
        isMeasuring = false
        silentFrames = 0
        meter.reset()
        readings.store(meter.reading)
    }
}
