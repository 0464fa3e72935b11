// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import Synchronization

/// Runs the client's callback between a block captured from an ALSA device and the block to play on it.
enum ALSACycle {
    /// Converts the captured block, calls back, and converts the block to play.
    /// - Parameter arrival: the time at which the captured block was complete or, without capture, the buffer had room for a
    ///   block.
    @_noLocks
    static func run(_ state: UnsafeMutablePointer<ALSAState>, _ arrival: HostTime) {
        guard let callback = state.pointee.callback else { return }
        let block = state.pointee.blockFrameCount
        let rate = state.pointee.sampleRate
        if state.pointee.isAfterGap {
            state.pointee.isAfterGap = false
            let expected = state.pointee.dueTime.advanced(bySeconds: Double(block) * state.pointee.loop.secondsPerFrame)
            let lost = max(0, earshot_round(arrival.seconds(since: expected) * rate))
            state.pointee.sampleTime &+= lost
            state.pointee.recorder.skip(Int(lost))
        }
        let due = state.pointee.loop.update(sampleTime: state.pointee.sampleTime, now: arrival)
        state.pointee.dueTime = due
        state.pointee.hasRun = true
        let (input, output) = (state.pointee.input, state.pointee.output)
        if let capture = state.pointee.capture {
            capture.sampleType.read(
                capture.bytes, channelCount: capture.channelCount, frameCount: block, into: input, map: capture.map)
        }
        for c in 0..<output.count { clearSamples(output[c], block) }
        let fill = state.pointee.fillFrameCount.load(ordering: .relaxed)
        var cycle = IOCycle(
            frameCount: block, sampleTime: state.pointee.sampleTime, hostTime: due,
            inputLatency: Double(block &+ state.pointee.inputExtra.load(ordering: .relaxed)) / rate,
            outputLatency: Double(fill &- block &+ state.pointee.outputExtra.load(ordering: .relaxed)) / rate,
            input: input, output: output)
        cycle.lateness = arrival.seconds(since: due)
        state.pointee.recorder.begin(frameCount: block, due: due, now: .now())
        callback(&cycle)
        state.pointee.recorder.end(now: .now())
        state.pointee.sampleTime &+= Int64(block)
        guard let playback = state.pointee.playback else { return }
        for c in 0..<output.count where state.pointee.mixInto[c] >= 0 {
            let to = output[state.pointee.mixInto[c]]
            let from = output[c]
            for i in 0..<block { to[i] += from[i] }
        }
        playback.sampleType.write(
            output, frameCount: block, into: playback.bytes, channelCount: playback.channelCount, map: playback.map)
    }
}
