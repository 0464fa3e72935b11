// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// Renders a unit: divides blocks at parameter changes, skips silence, and silences invalid output.
struct UnitState: ~Copyable {
    private let functions: UnitFunctions
    private let kernel: UnsafeMutableRawPointer
    private var ramps: ParameterRamps
    /// The quiet frames after which the unit stops rendering; more than a slice, so that the division into slices does not
    /// matter.
    private let quietLimit: Int
    private let isGenerator: Bool
    private var quietCount = 0
    private var isIdle = false
    private let faults: Counters.Handle

    /// - Parameter faults: counts the blocks that were silenced because the unit's output had NaN or infinity.
    init(_ instance: UnitInstance, ramps: consuming ParameterRamps, faults: Counters.Handle) {
        self.faults = faults
        functions = instance.functions
        kernel = instance.state
        quietLimit = instance.memory + instance.latency + 2 * RenderProgram.sliceFrameCount
        isGenerator = instance.description.component.type == .generator
        self.ramps = ramps
        functions.callSet(kernel, self.ramps.values, over: 0)
    }

    /// Renders one ``RenderCall``.
    static var function: RenderFunction {
        { state, call in
            state.assumingMemoryBound(to: UnitState.self).pointee.process(call.assumingMemoryBound(to: RenderCall.self))
        }
    }

    /// Renders a block in one piece if its last frame has sound and no parameter changes; otherwise divides the block.
    @_noLocks
    mutating func process(_ call: UnsafePointer<RenderCall>) {
        let count = call.pointee.frameCount
        guard count > 0 else { return }
        ramps.takeChanges(call.pointee.changeCount)
        guard call.pointee.inputCount > 0, ramps.isAtRest(until: call.pointee.sampleTime &+ Int64(count)) else {
            return divide(call.pointee)
        }
        let (from, to) = (call.pointee.inputs, call.pointee.outputs)
        if from.pointee.isSilent {
            // Output that shares the input's memory is silent already.
            if isIdle, from.pointee.channels.pointers == to.pointee.channels.pointers { return }
            return divide(call.pointee)
        }
        guard !isGenerator, !isIdle, quietCount &+ count < quietLimit, from.pointee.channels[0][count &- 1] != 0 else {
            return divide(call.pointee)
        }
        functions.callProcess(
            kernel,
            UnitBlock(input: from.pointee.channels, output: to.pointee.channels, offset: 0, frameCount: count))
        ramps.rendered(count)
        quietCount = 0
        check(to.pointee, count)
    }

    /// Renders a block in parts: counts and skips silence by frames, so that the unit's sleep does not depend on the division
    /// into blocks.
    @_noLocks
    private mutating func divide(_ call: RenderCall) {
        let hasInput = call.inputCount > 0
        let from = hasInput ? call.inputs[0] : call.outputs[0]
        let to = call.outputs[0]
        if isGenerator {
            render(from.channels, to.channels, call, 0, call.frameCount)
            check(to, call.frameCount)
            return
        }
        let silent = !hasInput || from.isSilent
        if !hasInput { to.silence(call.frameCount) }
        var onset = silent ? call.frameCount : 0
        if !silent, quietCount &+ call.frameCount >= quietLimit { onset = soundStart(from.channels, call.frameCount) }
        // The input is read before the unit writes, because input and output may use the same memory.
        let inputQuiet = onset < call.frameCount ? soundEnd(from.channels, call.frameCount) : 0
        let asleep = isIdle && ramps.isAtRest(until: call.sampleTime &+ Int64(onset))
        if asleep {
            if onset == call.frameCount {
                to.silence(onset)
                return
            }
            for c in 0..<to.channels.count { clearSamples(to.channels[c], onset) }
        } else if onset > 0 {
            render(from.channels, to.channels, call, 0, onset)
            settle(to.channels, onset)
        }
        if onset < call.frameCount {
            isIdle = false
            render(from.channels, to.channels, call, onset, call.frameCount)
        }
        guard check(to, call.frameCount) else { return }
        to.isSilent = isIdle && soundStart(to.channels, call.frameCount) == call.frameCount
        if onset < call.frameCount {
            let outputQuiet = quietEnd(to.channels, call.frameCount)
            let endingQuietCount = inputQuiet < outputQuiet ? inputQuiet : outputQuiet
            quietCount = endingQuietCount < call.frameCount ? endingQuietCount : quietCount &+ endingQuietCount
        }
    }

    @_noLocks
    private mutating func render(_ from: Channels, _ to: Channels, _ call: RenderCall, _ start: Int, _ end: Int) {
        var at = start
        while at < end {
            let time = call.sampleTime &+ Int64(at)
            let over = ramps.advance(at: time)
            if over >= 0 { functions.callSet(kernel, ramps.values, over: over) }
            let count = ramps.limit(end &- at, at: time)
            functions.callProcess(kernel, UnitBlock(input: from, output: to, offset: at, frameCount: count))
            ramps.rendered(count)
            at &+= count
        }
    }

    /// Counts `count` more frames of silent input. Once the output has been quiet for long enough, silences the rest and resets
    /// the unit.
    @_noLocks
    private mutating func settle(_ to: Channels, _ count: Int) {
        let end = quietEnd(to, count)
        let before = quietCount
        quietCount = end < count ? end : quietCount &+ count
        guard quietCount >= quietLimit else { return }
        let start = before < quietLimit ? quietLimit &- before : 0
        for c in 0..<to.count { clearSamples(to[c] + start, count &- start) }
        functions.callReset(kernel)
        isIdle = true
    }

    /// Silences a block that has NaN or infinity. Returns true if all samples were finite.
    @_noLocks
    @discardableResult
    private mutating func check(_ to: RenderBus, _ frameCount: Int) -> Bool {
        to.isSilent = false
        if areSamplesFinite(to.channels, frameCount) { return true }
        functions.callReset(kernel)
        to.silence(frameCount)
        faults.add(1)
        return false
    }
}

/// Returns the index of the first frame in which any channel is not zero; `frameCount` if all are zero.
@_noLocks
func soundStart(_ channels: Channels, _ frameCount: Int) -> Int {
    var first = frameCount
    for c in 0..<channels.count {
        var i = 0
        while i < first, channels[c][i] == 0 { i &+= 1 }
        first = i
    }
    return first
}

/// Returns the number of frames at the end of a block in which all channels are zero.
@_noLocks
func soundEnd(_ channels: Channels, _ frameCount: Int) -> Int {
    var count = frameCount
    for c in 0..<channels.count {
        var n = 0
        while n < count, channels[c][frameCount &- 1 &- n] == 0 { n &+= 1 }
        count = n
    }
    return count
}

/// Returns the number of frames at the end of a block that are below −120 dBFS in all channels.
@_noLocks
func quietEnd(_ channels: Channels, _ frameCount: Int) -> Int {
    var count = frameCount
    for c in 0..<channels.count {
        var n = 0
        while n < count {
            let x = channels[c][frameCount &- 1 &- n]
            if x >= 1e-6 || x <= -1e-6 { break }
            n &+= 1
        }
        count = n
    }
    return count
}

/// Returns the greatest magnitude of a block of finite samples.
@_noLocks
func absolutePeak(_ channels: Channels, _ frameCount: Int) -> Float {
    var top: Float = 0
    for c in 0..<channels.count {
        let peak = peakOfSamples(channels[c], frameCount)
        if peak > top { top = peak }
    }
    return top
}

/// Replaces NaN and infinity by silence, and clamps the other samples to ±1,000. Returns the number of samples replaced, not
/// clamped.
@_noLocks
func scrub(_ channels: Channels, _ frameCount: Int) -> Int {
    if areSamplesFinite(channels, frameCount), absolutePeak(channels, frameCount) <= 1_000 { return 0 }
    var count = 0
    for c in 0..<channels.count {
        let samples = channels[c]
        for i in 0..<frameCount {
            if !samples[i].isFinite {
                samples[i] = 0
                count &+= 1
            } else if samples[i] > 1_000 {
                samples[i] = 1_000
            } else if samples[i] < -1_000 {
                samples[i] = -1_000
            }
        }
    }
    return count
}
