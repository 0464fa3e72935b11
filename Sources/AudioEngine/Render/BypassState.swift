// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import EarshotAudioDSP

/// Surrounds a unit's state once it was bypassed: delays the input by the unit's latency, and crossfades.
///
/// The unit keeps rendering, so that its state is right when it is heard again.
struct BypassState: ~Copyable {
    private let function: RenderFunction
    private let unit: UnsafeMutableRawPointer
    /// The gain of the input, 0 to 1.
    private var ramps: ParameterRamps
    private var direct = MixGain()
    private var processed = MixGain()
    /// The last `latency` frames of the input, followed by those of the block.
    private let line: AudioBuffer
    private let mapped: AudioBuffer
    private let latency: Int
    /// The frames until the line is full; a fade waits for them.
    private var filling: Int
    private var silentFrames: Int

    /// - Parameters:
    ///   - isRunning: true if the unit may have been heard, so that a change fades; otherwise the value of `ramps` applies at
    ///     once.
    ///   - slice: the maximum frames of a call.
    init(
        _ unit: RenderState, ramps: consuming ParameterRamps, inputChannelCount: Int, outputChannelCount: Int,
        isRunning: Bool, slice: Int
    ) {
        function = unit.function
        self.unit = unit.pointer
        latency = Int(unit.latency)
        line = AudioBuffer(channelCount: inputChannelCount, frameCapacity: latency + slice)
        mapped = AudioBuffer(channelCount: outputChannelCount, frameCapacity: slice)
        filling = isRunning ? latency : 0
        silentFrames = latency
        self.ramps = ramps
        if isRunning { self.ramps.rendered(0) }
        aim(over: 0)
    }

    static var function: RenderFunction {
        { state, call in
            state.assumingMemoryBound(to: BypassState.self).pointee.process(
                call.assumingMemoryBound(to: RenderCall.self))
        }
    }

    @_noLocks
    mutating func process(_ call: UnsafePointer<RenderCall>) {
        let count = call.pointee.frameCount
        guard count > 0 else { return }
        // Read before the unit writes, as both may use the same memory.
        let isSilent = call.pointee.inputCount == 0 || call.pointee.inputs[0].isSilent
        silentFrames = isSilent ? silentFrames &+ count : 0
        for c in 0..<line.channels.count {
            let end = line.channels[c] + latency
            if isSilent {
                clearSamples(end, count)
            } else {
                copySamples(end, call.pointee.inputs[0].channels[c], count)
            }
        }
        earshot_unit_process(function, unit, UnsafeRawPointer(call))
        mix(call.pointee)
        for c in 0..<line.channels.count { moveSamples(line.channels[c], line.channels[c] + count, latency) }
    }

    @_noLocks
    private mutating func mix(_ call: RenderCall) {
        let (to, count) = (call.outputs[0], call.frameCount)
        var at = filling < count ? filling : count
        filling &-= at
        if filling == 0 { ramps.takeChanges(call.changeCount) }
        let isSilent = silentFrames >= latency &+ count
        if isSilent, at == 0, direct.isSteady, direct.goal == 1, ramps.isAtRest(until: .max) {
            to.silence(count)
            ramps.rendered(count)
            return
        }
        while at < count {
            let time = call.sampleTime &+ Int64(at)
            let over = ramps.advance(at: time)
            if over >= 0 { aim(over: over) }
            let length = ramps.limit(count &- at, at: time)
            if !direct.isSteady || direct.goal > 0 {
                add(to, at, length)
                if !isSilent { to.isSilent = false }
            }
            direct.advance(length)
            processed.advance(length)
            ramps.rendered(length)
            at &+= length
        }
    }

    /// Replaces the unit's output by the delayed input, or crossfades them.
    @_noLocks
    private func add(_ to: RenderBus, _ at: Int, _ count: Int) {
        if direct.isSteady, direct.goal == 1 {
            return mapChannels(line.channels, from: at, to: to.channels, at: at, frameCount: count)
        }
        mapChannels(line.channels, from: at, to: mapped.channels, at: 0, frameCount: count)
        for c in 0..<to.channels.count {
            processed.scale(to.channels[c] + at, count)
            direct.add(mapped.channels[c], to.channels[c] + at, count, times: 1)
        }
    }

    @_noLocks
    private mutating func aim(over frameCount: Int) {
        direct.move(to: ramps.values[0], over: frameCount)
        processed.move(to: 1 - ramps.values[0], over: frameCount)
    }
}
