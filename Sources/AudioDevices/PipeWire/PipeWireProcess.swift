// SPDX-License-Identifier: Apache-2.0

import CEarshotPipeWire
import CEarshotRealtime
import EarshotAudioBase
import Synchronization

/// Handles a cycle, on the context's data thread; `data` is the ``PipeWireState``.
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
    earshot_realtime_enter()
    state.pointee.frameCount.store(frameCount, ordering: .relaxed)
    state.pointee.graphRate.store(graphRate, ordering: .relaxed)
    pipeWireBuffers(state, frameCount)
    let lost = pipeWireFollow(state, position, frameCount, Double(graphRate))
    if state.pointee.gate.compareExchange(
        expected: PipeWireState.Gate.open, desired: PipeWireState.Gate.busy, ordering: .acquiring
    ).exchanged {
        pipeWireCall(state, lost, frameCount, graphRate, now)
        state.pointee.gate.store(PipeWireState.Gate.open, ordering: .releasing)
    }
    state.pointee.cycleCount.wrappingAdd(1, ordering: .releasing)
    earshot_realtime_exit()
}

/// Gets each port's buffer, uses silence or scratch memory for ports without a buffer, and clears the outputs.
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
    /// Returns the memory for a port's samples in this cycle; nil if the port has no buffer.
    @_noLocks
    fileprivate func flatMapBuffer(_ frameCount: Int) -> UnsafeMutablePointer<Float>? {
        guard let port = self, let buffer = earshot_pw_dsp_buffer(port, UInt32(frameCount)) else { return nil }
        return buffer.assumingMemoryBound(to: Float.self)
    }
}

@_noLocks
private func pipeWireCall(
    _ state: UnsafeMutablePointer<PipeWireState>, _ lost: Int64, _ frameCount: Int, _ graphRate: Int, _ now: HostTime
) {
    guard let callback = state.pointee.callback, let recorder = state.pointee.recorder,
        !state.pointee.hasFailed.load(ordering: .relaxed)
    else { return }
    let isOtherRate = Double(graphRate) != state.pointee.sampleRate
    if isOtherRate != (state.pointee.otherRateSince.load(ordering: .relaxed) != 0) {
        state.pointee.otherRateSince.store(isOtherRate ? now.nanoseconds : 0, ordering: .relaxed)
    }
    if isOtherRate { return }
    pipeWireAdvance(state, recorder, lost, now)
    let start = pipeWireStart(state, now)
    let due = state.pointee.loop.update(sampleTime: state.pointee.sampleTime, now: start)
    recorder.begin(frameCount: frameCount, due: due, now: now)
    let sampleRate = state.pointee.sampleRate
    var cycle = IOCycle(
        frameCount: frameCount, sampleTime: state.pointee.sampleTime, hostTime: due,
        inputLatency: state.pointee.inputLatency.seconds(frameCount: frameCount, sampleRate: sampleRate),
        outputLatency: state.pointee.outputLatency.seconds(frameCount: frameCount, sampleRate: sampleRate),
        input: Channels(state.pointee.inputs, count: state.pointee.inputCount),
        output: Channels(state.pointee.outputs, count: state.pointee.outputCount))
    cycle.lateness = start.seconds(since: due)
    callback(&cycle)
    recorder.end(now: .now())
    state.pointee.sampleTime &+= Int64(frameCount)
}

/// Follows the driver's clock in every cycle. Returns the frames that are now known to be lost.
///
/// The driver's position counts cycles in which this client was left out. The driver's time also reveals that the driver stopped,
/// or that another driver with an unrelated position took over. A driver's time may be that of its wake-up, so differences of
/// less than a cycle plus 5 ms are ignored.
///
/// The clock is the driver's own memory: a late cycle may already see the next cycle's clock. Then a cycle seems lost, until the
/// next cycle sees the same clock again. So a single cycle that seems lost is counted one cycle later.
@_noLocks
private func pipeWireFollow(
    _ state: UnsafeMutablePointer<PipeWireState>, _ position: UnsafeMutablePointer<spa_io_position>, _ frameCount: Int,
    _ sampleRate: Double
) -> Int64 {
    let id = position.pointee.clock.id
    let driverPosition = position.pointee.clock.position
    let time = Int64(truncatingIfNeeded: position.pointee.clock.nsec)
    var knownLost = 0.0
    if state.pointee.isFollowing {
        // Some drivers count a cycle's frames at its start, some at its end: after a change of the quantum only the time is
        // reliable.
        let isComparable = id == state.pointee.clock && frameCount == state.pointee.quantum
        let missed = isComparable ? Double(Int64(truncatingIfNeeded: driverPosition &- state.pointee.nextPosition)) : 0
        let gap = Double(time &- state.pointee.nextTime) * 1e-9 * sampleRate
        let slack = Double(frameCount) + Quirks.pipeWireTimeSlack * sampleRate
        let wasAhead = missed < 0 && gap < 0 && state.pointee.seeminglyLost > 0
        knownLost = wasAhead ? 0 : state.pointee.seeminglyLost
        let lost = missed - gap > slack || gap - missed > slack ? gap : missed
        state.pointee.seeminglyLost = 0
        if lost >= 1 && lost < 1e12 {
            if lost == missed && missed <= Double(frameCount) {
                state.pointee.seeminglyLost = lost
            } else {
                knownLost += lost
            }
        }
    }
    state.pointee.isFollowing = true
    state.pointee.clock = id
    state.pointee.quantum = frameCount
    state.pointee.clockTime = time
    state.pointee.nextPosition = driverPosition &+ UInt64(frameCount)
    state.pointee.nextTime = time &+ earshot_round(Double(frameCount) * 1e9 / sampleRate)
    return earshot_round(knownLost)
}

/// Advances `sampleTime` by lost frames.
@_noLocks
private func pipeWireAdvance(
    _ state: UnsafeMutablePointer<PipeWireState>, _ recorder: CallbackMonitor.Recorder, _ lost: Int64, _ now: HostTime
) {
    if lost > 0 && !state.pointee.isFirstCycle {
        state.pointee.sampleTime &+= lost
        recorder.skip(Int(lost))
        recorder.xrun(at: now)
    }
    state.pointee.isFirstCycle = false
}

/// Returns the cycle's start by the driver's time. If that time is implausible (a virtual device catches up after a stop with old
/// times), returns the time of this callback.
@_noLocks
private func pipeWireStart(_ state: UnsafeMutablePointer<PipeWireState>, _ now: HostTime) -> HostTime {
    let age = now.nanoseconds &- state.pointee.clockTime
    guard age >= 0 && age < Quirks.pipeWireOldestTime else { return now }
    return HostTime(nanoseconds: state.pointee.clockTime)
        .advanced(bySeconds: -state.pointee.seeminglyLost / state.pointee.sampleRate)
}
