// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import EarshotAudioDSP

/// Wraps the render state of a unit that was bypassed: delays the unit's input by the unit's latency, and crossfades between the
/// delayed input and the unit's output.
///
/// A bypassed unit keeps rendering, so that its state is right when it is heard again.
struct BypassState: ~Copyable {
    private let function: RenderFunction
    private let unit: UnsafeMutableRawPointer
    /// The gain of the delayed input, 0 to 1.
    private var ramps: ParameterRamps
    private var inputGain = MixGain()
    private var unitGain = MixGain()
    /// The last `latency` frames of the input, followed by the frames of the block.
    private let delayLine: AudioBuffer
    private let mappedInput: AudioBuffer
    private let latency: Int
    /// The frames until the delay line is full. A fade starts only then.
    private var framesUntilFull: Int
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
        delayLine = AudioBuffer(channelCount: inputChannelCount, frameCapacity: latency + slice)
        mappedInput = AudioBuffer(channelCount: outputChannelCount, frameCapacity: slice)
        framesUntilFull = isRunning ? latency : 0
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
        // The input is read before the unit writes, because input and output may use the same memory.
        let isSilent = call.pointee.inputCount == 0 || call.pointee.inputs[0].isSilent
        silentFrames = isSilent ? silentFrames &+ count : 0
        for c in 0..<delayLine.channels.count {
            let end = delayLine.channels[c] + latency
            if isSilent {
                clearSamples(end, count)
            } else {
                copySamples(end, call.pointee.inputs[0].channels[c], count)
            }
        }
        earshot_unit_process(function, unit, UnsafeRawPointer(call))
        mix(call.pointee)
        for c in 0..<delayLine.channels.count {
            moveSamples(delayLine.channels[c], delayLine.channels[c] + count, latency)
        }
    }

    @_noLocks
    private mutating func mix(_ call: RenderCall) {
        let (to, count) = (call.outputs[0], call.frameCount)
        var position = framesUntilFull < count ? framesUntilFull : count
        framesUntilFull &-= position
        if framesUntilFull == 0 { ramps.takeChanges(call.changeCount) }
        let isSilent = silentFrames >= latency &+ count
        if isSilent, position == 0, inputGain.isSteady, inputGain.goal == 1, ramps.isAtRest(until: .max) {
            to.silence(count)
            ramps.rendered(count)
            return
        }
        while position < count {
            let time = call.sampleTime &+ Int64(position)
            let over = ramps.advance(at: time)
            if over >= 0 { aim(over: over) }
            let length = ramps.limit(count &- position, at: time)
            if !inputGain.isSteady || inputGain.goal > 0 {
                add(to, position, length)
                if !isSilent { to.isSilent = false }
            }
            inputGain.advance(length)
            unitGain.advance(length)
            ramps.rendered(length)
            position &+= length
        }
    }

    /// Replaces the unit's output by the delayed input, or mixes them during a crossfade.
    @_noLocks
    private func add(_ to: RenderBus, _ at: Int, _ count: Int) {
        if inputGain.isSteady, inputGain.goal == 1 {
            return mapChannels(delayLine.channels, from: at, to: to.channels, at: at, frameCount: count)
        }
        mapChannels(delayLine.channels, from: at, to: mappedInput.channels, at: 0, frameCount: count)
        for c in 0..<to.channels.count {
            unitGain.scale(to.channels[c] + at, count)
            inputGain.add(mappedInput.channels[c], to.channels[c] + at, count, times: 1)
        }
    }

    @_noLocks
    private mutating func aim(over frameCount: Int) {
        inputGain.move(to: ramps.values[0], over: frameCount)
        unitGain.move(to: 1 - ramps.values[0], over: frameCount)
    }
}
