import AudioBase
import CPipeWire
import CRealtime
import Synchronization

/// One cycle, on the context's data thread; the argument is the ``PipeWireState``.
@_noLocks
func pipeWireProcess(_ data: UnsafeMutableRawPointer?, _ position: UnsafeMutablePointer<spa_io_position>?) {
    guard let state = data?.assumingMemoryBound(to: PipeWireState.self), let position else { return }
    let now = HostTime.now()
    let frameCount = Int(min(position.pointee.clock.duration, UInt64(state.pointee.frameCapacity)))
    let rate = position.pointee.clock.rate
    let graphRate = rate.num > 0 ? Int(rate.denom / rate.num) : 0
    guard frameCount > 0, graphRate > 0 else { return }
    if state.pointee.thread.load(ordering: .relaxed) == 0 {
        state.pointee.thread.store(Int(earshot_thread_id()), ordering: .relaxed)
    }
    state.pointee.frameCount.store(frameCount, ordering: .relaxed)
    state.pointee.graphRate.store(graphRate, ordering: .relaxed)
    pipeWireBuffers(state, frameCount)
    if state.pointee.gate.compareExchange(
        expected: PipeWireState.Gate.open, desired: PipeWireState.Gate.busy, ordering: .acquiring
    ).exchanged {
        pipeWireCall(state, position, frameCount, graphRate, now)
        state.pointee.gate.store(PipeWireState.Gate.open, ordering: .releasing)
    }
    state.pointee.cycleCount.wrappingAdd(1, ordering: .releasing)
}

/// Takes each port's buffer, silence and scratch memory for ports that have none, and clears what goes out.
@_noLocks
private func pipeWireBuffers(_ state: UnsafeMutablePointer<PipeWireState>, _ frameCount: Int) {
    if state.pointee.inputCount > 0 { clearSamples(state.pointee.silence, frameCount) }
    for i in 0..<state.pointee.inputCount {
        let buffer = state.pointee.inputPorts[i].flatMapBuffer(frameCount)
        state.pointee.inputs[i] = buffer ?? state.pointee.silence
    }
    for i in 0..<state.pointee.outputCount {
        let buffer = state.pointee.outputPorts[i].flatMapBuffer(frameCount)
        if let buffer {
            state.pointee.outputs[i] = buffer
        } else {
            state.pointee.outputs[i] = state.pointee.scratch + i &* state.pointee.frameCapacity
        }
        clearSamples(state.pointee.outputs[i], frameCount)
    }
}

extension UnsafeMutableRawPointer? {
    /// A port's samples in this cycle, or nil.
    @_noLocks
    fileprivate func flatMapBuffer(_ frameCount: Int) -> UnsafeMutablePointer<Float>? {
        guard let port = self, let buffer = earshot_pw_dsp_buffer(port, UInt32(frameCount)) else { return nil }
        return buffer.assumingMemoryBound(to: Float.self)
    }
}

@_noLocks
private func pipeWireCall(
    _ state: UnsafeMutablePointer<PipeWireState>, _ position: UnsafeMutablePointer<spa_io_position>, _ frameCount: Int,
    _ graphRate: Int, _ now: HostTime
) {
    guard let callback = state.pointee.callback, let recorder = state.pointee.recorder,
        !state.pointee.hasFailed.load(ordering: .relaxed)
    else { return }
    let isOtherRate = Double(graphRate) != state.pointee.sampleRate
    if isOtherRate != (state.pointee.otherRateSince.load(ordering: .relaxed) != 0) {
        state.pointee.otherRateSince.store(isOtherRate ? now.nanoseconds : 0, ordering: .relaxed)
    }
    if isOtherRate { return }
    let due = pipeWireAdvance(state, recorder, position, frameCount, now)
    recorder.begin(frameCount: frameCount, due: due, now: now)
    let sampleRate = state.pointee.sampleRate
    var cycle = IOCycle(
        frameCount: frameCount, sampleTime: state.pointee.sampleTime, hostTime: due,
        inputLatency: state.pointee.inputLatency.seconds(frameCount: frameCount, sampleRate: sampleRate),
        outputLatency: state.pointee.outputLatency.seconds(frameCount: frameCount, sampleRate: sampleRate),
        input: Channels(state.pointee.inputs, count: state.pointee.inputCount),
        output: Channels(state.pointee.outputs, count: state.pointee.outputCount))
    callback(&cycle)
    recorder.end(now: .now())
    state.pointee.sampleTime &+= Int64(frameCount)
}

/// Moves `sampleTime` over what was lost before this cycle; returns the cycle's nominal start.
///
/// The driver's position counts on through cycles in which this client was left out, and its time tells what the position
/// does not: that the driver stood still, or that another one took over, whose position is unrelated. A driver's time may
/// be when it woke up, so differences of less than a cycle and 5 ms mean nothing. A cycle is due at the driver's time,
/// smoothed; where that is not plausible (a virtual device catches up after a stop with times long past), at its call's.
@_noLocks
private func pipeWireAdvance(
    _ state: UnsafeMutablePointer<PipeWireState>, _ recorder: CallbackMonitor.Recorder,
    _ position: UnsafeMutablePointer<spa_io_position>, _ frameCount: Int, _ now: HostTime
) -> HostTime {
    let sampleRate = state.pointee.sampleRate
    let id = position.pointee.clock.id
    let at = position.pointee.clock.position
    let time = Int64(truncatingIfNeeded: position.pointee.clock.nsec)
    if state.pointee.isFirstCycle {
        state.pointee.isFirstCycle = false
    } else {
        let isSameClock = id == state.pointee.clock
        let left = isSameClock ? Double(Int64(truncatingIfNeeded: at &- state.pointee.nextPosition)) : 0
        let gap = Double(time &- state.pointee.nextTime) * 1e-9 * sampleRate
        let slack = Double(frameCount) + Quirks.pipeWireTimeSlack * sampleRate
        let lost = left - gap > slack || gap - left > slack ? gap : left
        if lost >= 1 && lost < 1e12 {
            let frames = earshot_round(lost)
            state.pointee.sampleTime &+= frames
            recorder.skip(Int(frames))
            recorder.xrun(at: now)
        }
    }
    state.pointee.clock = id
    state.pointee.nextPosition = at &+ UInt64(frameCount)
    state.pointee.nextTime = time &+ earshot_round(Double(frameCount) * 1e9 / sampleRate)
    let age = now.nanoseconds &- time
    let start = age >= 0 && age < Quirks.pipeWireOldestTime ? HostTime(nanoseconds: time) : now
    return state.pointee.loop.update(sampleTime: state.pointee.sampleTime, now: start)
}
