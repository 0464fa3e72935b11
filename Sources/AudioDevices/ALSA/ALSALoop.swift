// SPDX-License-Identifier: Apache-2.0

import CEarshotALSA
import CEarshotRealtime
import EarshotAudioBase
import Synchronization

/// The work of an ``ALSADevice``'s thread: it waits until all open directions have a block, and then runs a cycle.
struct ALSALoop {
    typealias Phase = ALSAState.Phase

    static let priority = 70
    /// The seconds without frames after which a card has stalled.
    static let stallSeconds = 1.0
    /// The nanoseconds of the longest wait. A wait that took longer counts only as this much, so that a suspended machine does
    /// not look like a stalled card.
    static let longestWait: Int64 = 100_000_000

    let state: UnsafeMutablePointer<ALSAState>

    /// Runs cycles until the device is stopped or fails.
    func run() {
        earshot_name_thread("alsa")
        let isRealTime = earshot_set_fifo(CInt(Self.priority)) == 0
        guard start() else { return }
        _ = state.pointee.phase.compareExchange(
            expected: Phase.starting, desired: isRealTime ? Phase.realTime : Phase.normal,
            ordering: .acquiringAndReleasing)
        while !isStopping, cycle() {}
        drop()
    }

    var isStopping: Bool { state.pointee.phase.load(ordering: .relaxed) == Phase.stopping }

    /// Fails the device with the negative errno of a call. Returns false, so that the thread ends.
    func fail(_ code: Int, _ call: ALSACall) -> Bool {
        let stream = state.pointee.playback ?? state.pointee.capture
        let code = Self.cause(
            of: code, isCard: stream.map(isStrict) ?? true,
            isDisconnected: stream.map { snd_pcm_state($0.handle) == SND_PCM_STATE_DISCONNECTED } ?? false)
        state.pointee.failureCall.store(call.rawValue, ordering: .relaxed)
        state.pointee.failureCode.store(code, ordering: .releasing)
        let phase = state.pointee.phase.load(ordering: .relaxed)
        if phase != Phase.stopping {
            _ = state.pointee.phase.compareExchange(
                expected: phase, desired: Phase.failed, ordering: .acquiringAndReleasing)
        }
        drop()
        return false
    }

    /// Returns the negative errno that tells the cause of a failure. A card that has only xruns was unplugged or is starved. If a
    /// plug-in has only xruns, its server is gone, and the errno stays.
    static func cause(of code: Int, isCard: Bool, isDisconnected: Bool) -> Int {
        guard code == -Int(EPIPE), isCard else { return code }
        return isDisconnected ? -Int(ENODEV) : -Int(ETIME)
    }

    // MARK: Start and recovery

    /// Starts the open streams, playback with silence up to the fill level. If that is impossible, fails the device and returns
    /// false.
    private func start() -> Bool {
        state.pointee.isFirstCycle = true
        state.pointee.isFillingUp = false
        state.pointee.flow = ALSAFlow()
        let (capture, playback) = (state.pointee.capture, state.pointee.playback)
        if let playback { state.pointee.prerollCount = isStrict(playback) ? 0 : Quirks.alsaServerPreroll }
        for case let stream? in [capture, playback] {
            let code = Int(snd_pcm_prepare(stream.handle))
            guard code >= 0 else { return fail(code, .prepare) }
        }
        if let playback {
            let code = writeSilence(playback, state.pointee.fillFrameCount.load(ordering: .relaxed))
            guard code >= 0 else { return fail(code, .write) }
            let started = Int(snd_pcm_start(playback.handle))
            guard started >= 0 else { return fail(started, .start) }
        }
        if let capture, !(state.pointee.isLinked && playback != nil) {
            let code = Int(snd_pcm_start(capture.handle))
            guard code >= 0 else { return fail(code, .start) }
        }
        return true
    }

    private func drop() {
        if let capture = state.pointee.capture { snd_pcm_drop(capture.handle) }
        if let playback = state.pointee.playback { snd_pcm_drop(playback.handle) }
    }

    /// Restarts the streams after an xrun or a suspension of the machine. After other errors, or if restarting is impossible,
    /// fails the device and returns false.
    func recover(_ code: Int, _ call: ALSACall) -> Bool {
        guard code == -Int(EPIPE) || code == -Int(ESTRPIPE) || code == -Int(EINTR) else { return fail(code, call) }
        if state.pointee.recoveryCount == 0 { state.pointee.recorder.xrun(at: .now()) }
        state.pointee.recoveryCount &+= 1
        state.pointee.isAfterGap = state.pointee.hasRun
        // Fail after more than 20 restarts without a cycle: the device was removed, or is starved.
        guard state.pointee.recoveryCount <= 20 else { return fail(code, .recover) }
        if code == -Int(ESTRPIPE) {
            for case let stream? in [state.pointee.capture, state.pointee.playback] { resume(stream) }
        }
        drop()
        if state.pointee.recoveryCount > 1 { wait(10_000_000) }
        // A sound server that reads more frames at once needs a fuller playback buffer.
        if let playback = state.pointee.playback, !isStrict(playback) {
            let fill = state.pointee.fillFrameCount.load(ordering: .relaxed)
            state.pointee.fillFrameCount.store(min(2 * fill, playback.bufferFrameCount), ordering: .relaxed)
        }
        return start()
    }

    /// Restarts with a higher wake-up threshold and fill level, for a sound server that reads more frames at once than a block.
    /// The fill level adds to ``AudioDevice/outputLatency``.
    func adapt(_ playback: ALSAStream) -> Bool {
        let longest = playback.bufferFrameCount / 4
        state.pointee.wakeFrameCount = min(2 * state.pointee.wakeFrameCount, longest)
        let code = ALSAPCM.setThresholds(
            playback.handle, availableMinimum: state.pointee.wakeFrameCount, bufferFrameCount: playback.bufferFrameCount
        )
        guard code >= 0 else { return fail(Int(code), .configure) }
        return recover(-Int(EPIPE), .wait)
    }

    /// Waits until the driver has resumed the stream, or cannot resume it; five seconds at most.
    private func resume(_ stream: ALSAStream) {
        for _ in 0..<50 where snd_pcm_resume(stream.handle) == -EAGAIN {
            if isStopping { return }
            wait(Self.longestWait)
        }
    }
}
