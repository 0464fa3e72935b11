// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioDevices
import Synchronization

/// The call's render callbacks: captured frames go through the voice path into the ring, silent while muted; the remote peers'
/// voices come out of the mixer. Levels are those of the microphone itself.
///
/// A device that captures and plays calls ``callback``. Two devices, one each way, call ``captureCallback`` and
/// ``playbackCallback``, on two threads at once; then nothing that is played is known when a block is sent.
package final class CallProcessor: Sendable {
    /// Captured frames on their way to the media thread.
    package let captured: AudioRing
    /// The callback's cycles, for the recording that pulls the voices a second time. If they are not read, the oldest stay and new
    /// ones are dropped.
    package let cycles: MessageQueue<CallCycle>
    /// The voices that are heard.
    package let mixer: PeerMixer
    /// The processing of the captured voice after the voice path.
    package let captureInsert: InsertPoint
    /// The processing of the mix of all voices.
    package let playbackInsert: InsertPoint
    private let spoken: LatestValue<SpokenLevels>
    private let heard: LatestValue<HeardLevels>
    private let state: StatePointer

    /// Each side is its own thread's, and both one thread's if a device does both.
    struct State: ~Copyable {
        var capture: CaptureSide
        var playback: PlaybackSide
    }

    /// Allocated once, freed with the processor.
    private struct StatePointer: @unchecked Sendable {  // the devices' threads alone look inside
        let value: UnsafeMutablePointer<State>
        let isMuted: UnsafeMutablePointer<Atomic<Bool>>
        let volume: UnsafeMutablePointer<Atomic<UInt32>>  // a float's bits
        let kept: (AudioBuffer, AudioBuffer, CallVoice?, Wakeup)
    }

    /// - Parameter voice: what the captured voice goes through on its way to the ring; nil for nothing.
    package init(channelCount: Int, deviceRate: Double, wakeup: Wakeup, voice: CallVoice? = nil) {
        // Half a second: the media thread drops what is older than a tenth of that when it comes back from a stall.
        captured = AudioRing(channelCount: channelCount, capacity: Int(deviceRate / 2))
        (spoken, heard) = (LatestValue(SpokenLevels()), LatestValue(HeardLevels()))
        cycles = MessageQueue(capacity: 4_096)
        mixer = PeerMixer(channelCount: channelCount, deviceRate: deviceRate)
        captureInsert = InsertPoint(channelCount: channelCount, sampleRate: deviceRate)
        playbackInsert = InsertPoint(channelCount: channelCount, sampleRate: deviceRate)
        let input = AudioBuffer(channelCount: channelCount, frameCapacity: IOCycle.maximumFrameCount)
        let output = AudioBuffer(channelCount: channelCount, frameCapacity: IOCycle.maximumFrameCount)
        let isMuted = UnsafeMutablePointer<Atomic<Bool>>.allocate(capacity: 1)
        isMuted.initialize(to: Atomic(false))
        let volume = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: 1)
        volume.initialize(to: Atomic(Float(1).bitPattern))
        let value = UnsafeMutablePointer<State>.allocate(capacity: 1)
        value.initialize(
            to: State(
                capture: CaptureSide(
                    ring: captured.writer, wakeup: wakeup.handle, levels: spoken.writer, block: input.channels,
                    capacity: input.frameCapacity, isMuted: isMuted, voice: voice?.path,
                    insert: captureInsert.renderer, sampleRate: deviceRate),
                playback: PlaybackSide(
                    voices: mixer.renderer, levels: heard.writer, cycles: cycles.writer, block: output.channels,
                    capacity: output.frameCapacity, insert: playbackInsert.renderer, volume: volume,
                    sampleRate: deviceRate)))
        state = StatePointer(value: value, isMuted: isMuted, volume: volume, kept: (input, output, voice, wakeup))
    }

    deinit {
        state.value.deinitialize(count: 1)
        state.value.deallocate()
        state.isMuted.deinitialize(count: 1)
        state.isMuted.deallocate()
        state.volume.deinitialize(count: 1)
        state.volume.deallocate()
    }

    /// Returns true if one's own voice is silent for the others. Any thread.
    package var isMuted: Bool {
        get { state.isMuted.pointee.load(ordering: .relaxed) }
        set { state.isMuted.pointee.store(newValue, ordering: .relaxed) }
    }

    /// The volume of all that is played, as a factor; reached within a block. Any thread.
    package var outputVolume: Float {
        get { Float(bitPattern: state.volume.pointee.load(ordering: .relaxed)) }
        set { state.volume.pointee.store(newValue.bitPattern, ordering: .relaxed) }
    }

    /// Sets whether callbacks may come; while none does, voices and inserts come and go at once.
    func setRunning(_ isRunning: Bool) {
        mixer.setPulled(isRunning)
        for point in [captureInsert, playbackInsert] { point.setRendered(isRunning) }
    }

    /// Frees the voices and inserts that the callbacks no longer use.
    func collect() {
        mixer.collect()
        for point in [captureInsert, playbackInsert] { point.collect() }
    }

    /// Levels of the last blocks. One thread at a time.
    package var levels: CallLevels { CallLevels(spoken: spoken.load(), heard: heard.load()) }

    /// For a device that captures and plays; valid while this object lives, as the others are.
    package var callback: RenderCallback {
        RenderCallback(context: UnsafeMutableRawPointer(state.value)) { context, cycle in
            guard let context, let cycle else { return }
            context.assumingMemoryBound(to: State.self).pointee.process(
                cycle.assumingMemoryBound(to: IOCycle.self).pointee)
        }
    }

    /// For a device that captures.
    package var captureCallback: RenderCallback {
        RenderCallback(context: UnsafeMutableRawPointer(state.value)) { context, cycle in
            guard let context, let cycle else { return }
            context.assumingMemoryBound(to: State.self).pointee.capture.process(
                cycle.assumingMemoryBound(to: IOCycle.self).pointee)
        }
    }

    /// For a device that plays.
    package var playbackCallback: RenderCallback {
        RenderCallback(context: UnsafeMutableRawPointer(state.value)) { context, cycle in
            guard let context, let cycle else { return }
            context.assumingMemoryBound(to: State.self).pointee.playback.process(
                cycle.assumingMemoryBound(to: IOCycle.self).pointee)
        }
    }
}

extension CallProcessor.State {
    @_noLocks
    mutating func process(_ cycle: IOCycle) {
        capture.listen(cycle)
        // Voice processing needs what is played now; without it the media thread need not wait for playout.
        let waits = capture.voice?.needsReference() ?? false
        if !waits { capture.send(cycle) }
        playback.process(cycle)
        if waits { capture.send(cycle) }
    }
}
