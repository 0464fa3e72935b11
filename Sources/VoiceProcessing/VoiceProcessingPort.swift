// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// The render callback's side of a ``VoiceProcessingWorker``: in a call, in a graph's input, or in a callback of your own.
///
/// For one thread. It must not outlive the worker. A late worker does not change the delay: late frames are replaced by silence
/// and dropped when they arrive.
public struct VoiceProcessingPort: @unchecked Sendable {  // one thread at a time; what is shared are rings and atomics
    /// Values that the render callback and other threads share.
    struct Shared: ~Copyable {
        let wanted = Atomic<Int>(0)  // frames that the callback requested
        let late = Atomic<Int>(0)  // frames that silence replaced
        let rejected = Atomic<Int>(0)  // frames that did not fit into the worker's ring
        let isLeft = Atomic<Bool>(false)  // true once voice processing has ended permanently
        let isOn: Atomic<Bool>
        let latency: Atomic<Int>

        init(isOn: Bool, latency: Int) {
            self.isOn = Atomic(isOn)
            self.latency = Atomic(latency)
        }
    }

    /// The state that only the render callback uses.
    struct State {
        var owed = 0  // late frames, which must be dropped when they come; negative: rejected frames
        var pending = 0  // frames since the worker was last woken
        var fade = 0  // frames of plain sound since voice processing ended, up to `fadeLength`
        var share: Float  // the part of cleaned sound in the output of `process`, 0 to 1
        var sinceOn: Int  // frames since voice processing was turned on, up to the latency
        var latency: Int
        var margin: Int  // the part of the latency for long blocks and a late worker
        var isAfterRouteChange = false
        var planned = 0  // the part of the negative `owed` that lengthens the delay: its silence is not late
        var sinceDelayChange = Int.max  // frames since the delay changed, up to the end of the fade-in
        var last: Float = 0  // the last processed sample
        var tail: Float = 0  // the last sample before the delay changed
    }

    let toWorker: AudioRing.Writer
    let fromWorker: AudioRing.Reader
    let wakeup: Wakeup.Handle
    let shared: UnsafeMutablePointer<Shared>
    let state: UnsafeMutablePointer<State>
    let pair: UnsafeMutablePointer<UnsafeMutablePointer<Float>>  // microphone and reference of this call
    let single: UnsafeMutablePointer<UnsafeMutablePointer<Float>>  // the output of this call
    let dropped: Channels
    let microphone: Channels  // with those below, scratch of `process`
    let reference: Channels
    let cleaned: Channels
    let minimumMargin: Int
    let shareStep: Float
    let fadeStep: Float

    static var fadeLength: Int { @_noLocks get { 256 } }
    static var wakeLength: Int { @_noLocks get { 32 } }
    static var dropLength: Int { @_noLocks get { 1024 } }

    /// Returns true if ``process(_:reference:frameCount:)`` uses its reference: voice processing is on or fading out.
    @_noLocks
    public func needsReference() -> Bool {
        state.pointee.share > 0 || shared.pointee.isOn.load(ordering: .relaxed)
    }

    /// Processes a block in place; never blocks.
    ///
    /// Voice processing is for one microphone: its input is the mean of the channels, and all channels get its output,
    /// ``VoiceProcessingWorker/latency`` frames late. A block that is longer than all before it lengthens the latency: the sound
    /// is silent for as long as the new latency, and then fades in. A change of ``VoiceProcessingWorker/isOn`` fades between the
    /// plain and the processed sound over 20 ms. After voice processing was turned off because of an error, the block is
    /// unchanged.
    /// - Parameters:
    ///   - block: the captured channels.
    ///   - reference: the channels that this callback plays on the loudspeaker, after any volume.
    ///   - frameCount: at most ``IOCycle/maximumFrameCount``.
    @_noLocks
    public func process(_ block: Channels, reference played: Channels, frameCount: Int) {
        let isWanted = shared.pointee.isOn.load(ordering: .relaxed) && !isLeft
        if !isWanted, state.pointee.share == 0 {
            (state.pointee.sinceOn, state.pointee.last) = (0, 0)
            return
        }
        if !isLeft { adaptDelay(frameCount) }
        mean(of: block, into: microphone[0], frameCount)
        mean(of: played, into: reference[0], frameCount)
        exchange(input: microphone[0], reference: reference[0], output: cleaned[0], frameCount: frameCount)
        fadeAfterDelayChange(cleaned[0], frameCount)
        // Until the latency has passed, the output is silence or older sound.
        let isReady = state.pointee.sinceOn >= state.pointee.latency
        if !isReady { state.pointee.sinceOn = state.pointee.sinceOn &+ frameCount }
        let step = isWanted && isReady ? shareStep : 0 - shareStep
        if state.pointee.share == 0, step < 0 { return }
        if state.pointee.share == 1, step > 0 {
            for c in 0..<block.count { copySamples(block[c], cleaned[0], frameCount) }
            return
        }
        crossfade(block, step, frameCount)
    }

    @_noLocks
    private func crossfade(_ block: Channels, _ step: Float, _ frameCount: Int) {
        var share = state.pointee.share
        for c in 0..<block.count {
            share = state.pointee.share
            for i in 0..<frameCount {
                share += step
                share = share > 1 ? 1 : share < 0 ? 0 : share
                block[c][i] += share * (cleaned[0][i] - block[c][i])
            }
        }
        state.pointee.share = share
    }

    @_noLocks
    private func mean(of channels: Channels, into mono: UnsafeMutablePointer<Float>, _ frameCount: Int) {
        if channels.count == 0 { return clearSamples(mono, frameCount) }
        copySamples(mono, channels[0], frameCount)
        if channels.count == 1 { return }
        for c in 1..<channels.count { for i in 0..<frameCount { mono[i] += channels[c][i] } }
        let part = 1 / Float(channels.count)
        for i in 0..<frameCount { mono[i] *= part }
    }

    /// Passes one channel of the microphone and of the reference to the worker and reads the processed sound, even if voice
    /// processing is off.
    /// - Parameters:
    ///   - output: may be `input`.
    ///   - frameCount: any number.
    /// - Returns: true if all frames were there in time, or voice processing has ended.
    @_noLocks @discardableResult
    package func exchange(
        input: UnsafeMutablePointer<Float>, reference: UnsafeMutablePointer<Float>,
        output: UnsafeMutablePointer<Float>, frameCount: Int
    ) -> Bool {
        let isLeft = shared.pointee.isLeft.load(ordering: .relaxed)
        if isLeft, state.pointee.fade >= Self.fadeLength {
            if output != input { moveSamples(output, input, frameCount) }
            return true
        }
        pair[0] = input
        pair[1] = reference
        let isTaken = toWorker.write(Channels(pair, count: 2), frameCount: frameCount)
        if !isTaken {
            state.pointee.owed = state.pointee.owed &- frameCount
            shared.pointee.rejected.wrappingAdd(frameCount, ordering: .relaxed)
        }
        state.pointee.pending = state.pointee.pending &+ frameCount
        if state.pointee.pending >= Self.wakeLength {
            state.pointee.pending = 0
            wakeup.wake()
        }
        if isLeft {
            fade(from: input, into: output, frameCount: frameCount)
            return true
        }
        return dequeueFrames(into: output, frameCount: frameCount)
    }

    /// Reads processed frames into `output`, and silence for missing frames. Returns true if no silence was needed.
    @_noLocks
    private func dequeueFrames(into output: UnsafeMutablePointer<Float>, frameCount: Int) -> Bool {
        dropLate()
        // If the worker rejected a block, that block is missing in the worker's output; silence replaces the block, before
        // further output is read.
        var lead = 0
        if state.pointee.owed < 0 {
            lead = frameCount < 0 &- state.pointee.owed ? frameCount : 0 &- state.pointee.owed
            clearSamples(output, lead)
            state.pointee.owed = state.pointee.owed &+ lead
        }
        single[0] = output
        var got = 0
        if state.pointee.owed == 0 {
            got = fromWorker.read(Channels(single, count: 1), frameCount: frameCount &- lead, offset: lead).frameCount
        }
        let missing = frameCount &- lead &- got
        if missing > 0 {
            clearSamples(output + (lead &+ got), missing)
            state.pointee.owed = state.pointee.owed &+ missing
        }
        shared.pointee.wanted.wrappingAdd(frameCount, ordering: .relaxed)
        let planned = lead < state.pointee.planned ? lead : state.pointee.planned
        state.pointee.planned = state.pointee.planned &- planned
        let late = lead &+ missing &- planned
        if late > 0 { shared.pointee.late.wrappingAdd(late, ordering: .relaxed) }
        return late == 0
    }

    @_noLocks
    private func dropLate() {
        while state.pointee.owed > 0 {
            let readLimit = state.pointee.owed < Self.dropLength ? state.pointee.owed : Self.dropLength
            let got = fromWorker.read(dropped, frameCount: readLimit).frameCount
            state.pointee.owed = state.pointee.owed &- got
            if got < readLimit { return }
        }
    }

    /// True if the plain microphone is used permanently. Safe on the render thread.
    package var isLeft: Bool { @_noLocks get { shared.pointee.isLeft.load(ordering: .relaxed) } }

    /// Fades from the worker's remaining output to the plain microphone. Silence replaces missing frames of the output.
    @_noLocks
    private func fade(
        from input: UnsafeMutablePointer<Float>, into output: UnsafeMutablePointer<Float>, frameCount: Int
    ) {
        dropLate()
        let fadeRemaining = Self.fadeLength &- state.pointee.fade
        let readLimit = frameCount < fadeRemaining ? frameCount : fadeRemaining
        let got = state.pointee.owed == 0 ? fromWorker.read(dropped, frameCount: readLimit).frameCount : 0
        var gain = Float(state.pointee.fade) * fadeStep
        var i = 0
        while i < frameCount {
            gain = gain + fadeStep > 1 ? 1 : gain + fadeStep
            let last = i < got ? dropped[0][i] : 0
            output[i] = last + gain * (input[i] - last)
            i &+= 1
        }
        state.pointee.fade = state.pointee.fade &+ frameCount
    }
}
