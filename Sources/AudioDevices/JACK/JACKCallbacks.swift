// SPDX-License-Identifier: Apache-2.0

import CEarshotJACK
import CEarshotRealtime
import EarshotAudioBase
import Synchronization

// libjack's callbacks are free functions, so that no actor or class is involved; their argument is the JACKState. libjack cancels
// its notification thread asynchronously when a client is closed, so the callbacks neither allocate nor lock.

private func state(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<JACKState>? {
    argument?.assumingMemoryBound(to: JACKState.self)
}

/// Handles a cycle, on the process thread.
@_noLocks
func jackProcess(_ frames: jack_nframes_t, _ argument: UnsafeMutableRawPointer?) -> CInt {
    guard let state = argument?.assumingMemoryBound(to: JACKState.self) else { return 0 }
    let hasEntered = state.pointee.gate.compareExchange(
        expected: JACKState.Gate.open, desired: JACKState.Gate.busy, ordering: .acquiring
    ).exchanged
    if hasEntered {
        // The first cycle is not watched for calls that may block, since libjack sets up the thread in that cycle.
        let isWatched = !state.pointee.isFirstCycle
        if isWatched { earshot_realtime_enter() }
        jackCycle(state, frames)
        if isWatched { earshot_realtime_exit() }
        state.pointee.gate.store(JACKState.Gate.open, ordering: .releasing)
    } else {
        jackSilence(state, frames)
    }
    return 0
}

@_noLocks
private func jackSilence(_ state: UnsafeMutablePointer<JACKState>, _ frames: jack_nframes_t) {
    for i in 0..<state.pointee.outputCount {
        guard let buffer = earshot_jack_buffer(state.pointee.outputPorts[i], frames) else { return }
        clearSamples(buffer.assumingMemoryBound(to: Float.self), Int(frames))
    }
}

@_noLocks
private func jackCycle(_ state: UnsafeMutablePointer<JACKState>, _ frames: jack_nframes_t) {
    guard let callback = state.pointee.callback else { return }
    let now = HostTime.now()
    let frameCount = Int(frames)
    let due = jackAdvance(state, frames, now)
    for i in 0..<state.pointee.inputCount {
        guard let buffer = earshot_jack_buffer(state.pointee.inputPorts[i], frames) else { return }
        state.pointee.inputs[i] = buffer.assumingMemoryBound(to: Float.self)
    }
    for i in 0..<state.pointee.outputCount {
        guard let buffer = earshot_jack_buffer(state.pointee.outputPorts[i], frames) else { return }
        state.pointee.outputs[i] = buffer.assumingMemoryBound(to: Float.self)
        clearSamples(state.pointee.outputs[i], frameCount)
    }
    state.pointee.recorder.begin(frameCount: frameCount, due: due, now: now)
    var cycle = IOCycle(
        frameCount: frameCount, sampleTime: state.pointee.sampleTime, hostTime: due,
        inputLatency: state.pointee.inputLatency / state.pointee.sampleRate,
        outputLatency: state.pointee.outputLatency / state.pointee.sampleRate,
        input: Channels(state.pointee.inputs, count: state.pointee.inputCount),
        output: Channels(state.pointee.outputs, count: state.pointee.outputCount))
    cycle.lateness = now.seconds(since: due)
    callback(&cycle)
    state.pointee.recorder.end(now: .now())
    state.pointee.sampleTime &+= Int64(frames)
}

/// Advances `sampleTime` by the frames lost before this cycle. Returns the cycle's nominal start.
///
/// The server's clock is continuous except for losses: each cycle begins at the predicted end of the previous cycle. The nominal
/// start comes from a separate delay-locked loop, since jackd 1.9.21's dummy device reports it 250 ms early.
@_noLocks
private func jackAdvance(_ state: UnsafeMutablePointer<JACKState>, _ frames: UInt32, _ now: HostTime) -> HostTime {
    var frame: UInt32 = 0
    var start: UInt64 = 0
    var next: UInt64 = 0
    var period: Float = 0
    guard earshot_jack_cycle_times(state.pointee.client, &frame, &start, &next, &period) == 0 else { return now }
    if state.pointee.isFirstCycle {
        state.pointee.isFirstCycle = false
    } else {
        let counted = Int64(Int32(truncatingIfNeeded: frame &- state.pointee.nextFrame))
        let gap = Double(Int64(truncatingIfNeeded: start &- state.pointee.nextTime)) * 1e-6 * state.pointee.sampleRate
        let lost = Quirks.jackLostFrames(counted: counted, gap: gap, frameCount: frames, last: state.pointee.frames)
        if lost > 0 {
            state.pointee.sampleTime &+= lost
            state.pointee.recorder.skip(Int(lost))
        }
    }
    jackRecordStall(state, frames, now)
    state.pointee.frames = frames
    state.pointee.nextFrame = frame &+ frames
    state.pointee.nextTime = next
    return state.pointee.loop.update(sampleTime: state.pointee.sampleTime, now: now)
}

/// Advances `sampleTime` by frames whose loss the server does not report: see ``Quirks/jackStallTime``.
@_noLocks
private func jackRecordStall(_ state: UnsafeMutablePointer<JACKState>, _ frames: UInt32, _ now: HostTime) {
    let rate = state.pointee.sampleRate
    let block = Double(frames) / rate
    let offset = now.nanoseconds &- earshot_round(Double(state.pointee.sampleTime) / rate * 1e9)
    var stall = state.pointee.stall
    let late = offset &- stall.offset
    if stall.offset == 0 || late <= earshot_round((block + Quirks.jackStallTime) * 1e9) {
        let risenOffset = stall.offset &+ earshot_round(block * 1e6)
        stall.offset = stall.offset == 0 || offset < risenOffset ? offset : risenOffset
        stall.lateCount = 0
    } else {
        stall.least = stall.lateCount == 0 || late < stall.least ? late : stall.least
        if stall.lateCount == 0 { stall.since = now }
        stall.lateCount &+= 1
        if stall.lateCount >= 8 && now.seconds(since: stall.since) > 0.05 {
            let lost = earshot_round(Double(stall.least) * 1e-9 * rate)
            state.pointee.sampleTime &+= lost
            state.pointee.recorder.skip(Int(lost))
            stall.lateCount = 0
        }
    }
    state.pointee.stall = stall
}

/// Notes an xrun, on a notification thread.
func jackXRun(_ argument: UnsafeMutableRawPointer?) -> CInt {
    state(argument)?.pointee.recorder.xrun(at: .now())
    return 0
}

/// Notes a new block size, on a notification thread, between cycles.
func jackBufferSize(_ frames: jack_nframes_t, _ argument: UnsafeMutableRawPointer?) -> CInt {
    state(argument)?.pointee.blockFrameCount.store(Int(frames), ordering: .relaxed)
    return 0
}

/// Notes a new sample rate, on a notification thread.
func jackSampleRate(_ rate: jack_nframes_t, _ argument: UnsafeMutableRawPointer?) -> CInt {
    state(argument)?.pointee.newSampleRate.store(Int(rate), ordering: .relaxed)
    return 0
}

/// Notes the longest latency of one direction, on a notification thread, after a change of connections or latencies. Played sound
/// does not come directly from the inputs, so no latency is passed from port to port.
func jackLatency(_ mode: jack_latency_callback_mode_t, _ argument: UnsafeMutableRawPointer?) {
    guard let state = state(argument) else { return }
    var longest = 0
    if mode == JackCaptureLatency {
        for i in 0..<state.pointee.inputCount {
            longest = max(longest, Int(earshot_jack_latency(state.pointee.inputPorts[i], mode)))
        }
        state.pointee.inputLatencyFrames.store(longest, ordering: .relaxed)
    } else {
        for i in 0..<state.pointee.outputCount {
            longest = max(longest, Int(earshot_jack_latency(state.pointee.outputPorts[i], mode)))
        }
        state.pointee.outputLatencyFrames.store(longest, ordering: .relaxed)
    }
}

/// Records the end of another client, on a notification thread. If the device is connected to that client, the device fails.
func jackClientRegistration(
    _ name: UnsafePointer<CChar>?, _ isRegistered: CInt, _ argument: UnsafeMutableRawPointer?
) {
    guard let state = state(argument), isRegistered == 0, let name else { return }
    if let target = state.pointee.inputTarget, strcmp(name, target) == 0 {
        state.pointee.isInputGone.store(true, ordering: .relaxed)
    }
    if let target = state.pointee.outputTarget, strcmp(name, target) == 0 {
        state.pointee.isOutputGone.store(true, ordering: .relaxed)
    }
}
