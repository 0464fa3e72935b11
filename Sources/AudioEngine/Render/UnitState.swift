// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// Renders a unit: divides blocks at parameter changes, skips silence, and silences invalid output.
struct UnitState: ~Copyable {
    private let functions: UnitFunctions
    private let kernel: UnsafeMutableRawPointer
    private var ramps: ParameterRamps
    /// The silent frames after which the unit sleeps; more than a slice, so that the division into slices does not matter.
    private let memory: Int
    private let isGenerator: Bool
    private var quiet = 0
    private var isIdle = false
    private let faults: Counters.Handle

    /// - Parameter faults: counts the blocks silenced because the unit's output was NaN or infinite.
    init(_ instance: UnitInstance, ramps: consuming ParameterRamps, faults: Counters.Handle) {
        self.faults = faults
        functions = instance.functions
        kernel = instance.state
        memory = instance.memory + instance.latency + 2 * RenderProgram.sliceFrameCount
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

    /// Renders a block in one piece if it has sound throughout and no change; otherwise divides it.
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
        guard !isGenerator, !isIdle, quiet &+ count < memory, from.pointee.channels[0][count &- 1] != 0 else {
            return divide(call.pointee)
        }
        functions.callProcess(
            kernel,
            UnitBlock(input: from.pointee.channels, output: to.pointee.channels, offset: 0, frameCount: count))
        ramps.rendered(count)
        quiet = 0
        check(to.pointee, count)
    }

    /// Skips silence by frames, so that sleeping and waking do not depend on the division into blocks.
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
        var first = silent ? call.frameCount : 0
        if !silent, quiet &+ call.frameCount >= memory { first = soundStart(from.channels, call.frameCount) }
        // Read before the unit writes, as both may use the same memory.
        let inputQuiet = first < call.frameCount ? soundEnd(from.channels, call.frameCount) : 0
        let asleep = isIdle && ramps.isAtRest(until: call.sampleTime &+ Int64(first))
        if asleep {
            if first == call.frameCount {
                to.silence(first)
                return
            }
            for c in 0..<to.channels.count { clearSamples(to.channels[c], first) }
        } else if first > 0 {
            render(from.channels, to.channels, call, 0, first)
            settle(to.channels, first)
        }
        if first < call.frameCount {
            isIdle = false
            render(from.channels, to.channels, call, first, call.frameCount)
        }
        guard check(to, call.frameCount) else { return }
        to.isSilent = isIdle && soundStart(to.channels, call.frameCount) == call.frameCount
        if first < call.frameCount {
            let outputQuiet = quietEnd(to.channels, call.frameCount)
            let now = inputQuiet < outputQuiet ? inputQuiet : outputQuiet
            quiet = now < call.frameCount ? now : quiet &+ now
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

    /// Counts `count` more frames of silent input. Returns true if the output has been silent for long enough to have ended.
    @_noLocks
    private mutating func settle(_ to: Channels, _ count: Int) {
        let end = quietEnd(to, count)
        let before = quiet
        quiet = end < count ? end : quiet &+ count
        guard quiet >= memory else { return }
        let start = before < memory ? memory &- before : 0
        for c in 0..<to.count { clearSamples(to[c] + start, count &- start) }
        functions.callReset(kernel)
        isIdle = true
    }

    /// Silences a block with NaN or infinity. Returns true if it had none.
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

/// Returns the first frame that is not silent; `frameCount` if all are.
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

/// Returns the number of silent frames at the end.
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

/// Returns the number of frames at the end that are below −120 dBFS.
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

/// Replaces NaN and infinity by silence, and clamps the rest to ±1,000. Returns the number of samples replaced.
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
