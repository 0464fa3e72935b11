import AudioBase
import AudioDSP

/// Renders a unit: divides blocks where parameters change, skips silence, and keeps what is not a number to itself.
struct UnitState: ~Copyable {
    private let functions: UnitFunctions
    private let kernel: UnsafeMutableRawPointer
    private var ramps: ParameterRamps
    private let memory: Int
    private let isGenerator: Bool
    private var quiet = 0
    private var isIdle = false
    private let faults: Counters.Handle

    /// - Parameter faults: counts blocks that were silenced because the unit made something that is no number.
    init(_ instance: UnitInstance, ramps: consuming ParameterRamps, faults: Counters.Handle) {
        self.faults = faults
        functions = instance.functions
        kernel = instance.state
        memory = instance.memory + instance.latency
        isGenerator = instance.description.component.type == .generator
        self.ramps = ramps
        functions.callSet(kernel, self.ramps.values, over: 0)
    }

    /// Takes one ``RenderCall``.
    static var function: RenderFunction {
        { state, call in
            state.assumingMemoryBound(to: UnitState.self).pointee.process(
                call.assumingMemoryBound(to: RenderCall.self).pointee)
        }
    }

    @_noLocks
    mutating func process(_ call: RenderCall) {
        guard call.frameCount > 0 else { return }
        let from = call.inputCount > 0 ? call.inputs[0] : call.outputs[0]
        let to = call.outputs[0]
        let news = ramps.takeNews()
        let silent = !isGenerator && (call.inputCount == 0 || from.isSilent)
        if !silent {
            isIdle = false
            quiet = 0
        }
        if isIdle, !news, ramps.isAtRest, !ramps.isDue(before: call.sampleTime &+ Int64(call.frameCount)) {
            to.silence(call.frameCount)
            return
        }
        if call.inputCount == 0, !isGenerator { to.silence(call.frameCount) }
        render(from.channels, to.channels, call)
        finish(to, call, silent)
    }

    @_noLocks
    private mutating func render(_ from: Channels, _ to: Channels, _ call: RenderCall) {
        var at = 0
        while at < call.frameCount {
            let time = call.sampleTime &+ Int64(at)
            let over = ramps.advance(at: time)
            if over >= 0 { functions.callSet(kernel, ramps.values, over: over) }
            let count = ramps.limit(call.frameCount &- at, at: time)
            functions.callProcess(kernel, UnitBlock(input: from, output: to, offset: at, frameCount: count))
            ramps.rendered(count)
            at &+= count
        }
    }

    /// Looks at what came out: no number, or nothing any more.
    @_noLocks
    private mutating func finish(_ to: RenderBus, _ call: RenderCall, _ silent: Bool) {
        to.isSilent = false
        let peak = absolutePeak(to.channels, call.frameCount)
        guard peak.isFinite else {
            functions.callReset(kernel)
            to.silence(call.frameCount)
            faults.add(1)
            return
        }
        guard silent else { return }
        quiet = peak < 1e-6 ? quiet &+ call.frameCount : 0
        if quiet > memory {
            functions.callReset(kernel)
            isIdle = true
            to.silence(call.frameCount)
        }
    }
}

/// The greatest magnitude of a block; not finite where one sample is not.
@_noLocks
func absolutePeak(_ channels: Channels, _ frameCount: Int) -> Float {
    var sum: Float = 0
    for c in 0..<channels.count {
        let samples = channels[c]
        var top = SIMD4<Float>(repeating: 0)
        var poison = SIMD4<Float>(repeating: 0)
        var i = 0
        while i &+ 4 <= frameCount {
            let x = SIMD4(samples[i], samples[i &+ 1], samples[i &+ 2], samples[i &+ 3])
            let magnitude = x.replacing(with: -x, where: x .< 0)
            top = top.replacing(with: magnitude, where: magnitude .> top)
            poison += x * 0  // 0, but for what is no number
            i &+= 4
        }
        while i < frameCount {
            let x = samples[i]
            let magnitude = x < 0 ? -x : x
            if magnitude > top[0] { top[0] = magnitude }
            poison[0] += x * 0
            i &+= 1
        }
        let high = top[0] > top[1] ? top[0] : top[1]
        let low = top[2] > top[3] ? top[2] : top[3]
        let peak = (high > low ? high : low) + (poison[0] + poison[1] + poison[2] + poison[3])
        sum = peak > sum || !peak.isFinite ? peak : sum
        if !sum.isFinite { return sum }
    }
    return sum
}

/// Puts silence in the place of what is no number, and bounds the rest to ±1,000. Returns how many were no number.
@_noLocks
func scrub(_ channels: Channels, _ frameCount: Int) -> Int {
    let peak = absolutePeak(channels, frameCount)
    if peak.isFinite, peak <= 1_000 { return 0 }
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
