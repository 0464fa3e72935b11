// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioDevices
import Synchronization

/// The call's render callbacks: captured frames pass the voice path into the ring, silent while muted; the remote voices come
/// from the mixer. Levels are measured at the microphone.
///
/// A device with both directions calls ``callback``. Two devices call ``captureCallback`` and ``playbackCallback``, on two
/// threads; then voice processing has no reference.
package final class CallProcessor: Sendable {
    /// The captured frames, for the media thread.
    package let captured: AudioRing
    /// The callback's cycles, for the recording that pulls the voices a second time. If they are not read, new ones are dropped.
    package let cycles: MessageQueue<CallCycle>
    /// The mixer of the remote voices.
    package let mixer: PeerMixer
    /// The processing of the captured voice after the voice path.
    package let captureInsert: InsertPoint
    /// The processing of the mix of all voices.
    package let playbackInsert: InsertPoint
    private let spoken: LatestValue<SpokenLevels>
    private let heard: LatestValue<HeardLevels>
    private let state: StatePointer

    /// Each side belongs to its own thread, and both to one thread if a device has both directions.
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

    /// - Parameter voice: the processing of the captured voice; nil for none.
    package init(channelCount: Int, deviceRate: Double, wakeup: Wakeup, voice: CallVoice? = nil) {
        // Half a second. After a stall the media thread drops what is older than 50 ms.
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

    /// Returns true if the local voice is silent for the others. Any thread.
    package var isMuted: Bool {
        get { state.isMuted.pointee.load(ordering: .relaxed) }
        set { state.isMuted.pointee.store(newValue, ordering: .relaxed) }
    }

    /// The volume of the played mix as a factor, reached within a block. Any thread.
    package var outputVolume: Float {
        get { Float(bitPattern: state.volume.pointee.load(ordering: .relaxed)) }
        set { state.volume.pointee.store(newValue.bitPattern, ordering: .relaxed) }
    }

    /// Sets whether callbacks may come. While they do not, voices and inserts change at once.
    func setRunning(_ isRunning: Bool) {
        mixer.setPulled(isRunning)
        for point in [captureInsert, playbackInsert] { point.setRendered(isRunning) }
    }

    /// Frees the voices and inserts that the callbacks no longer use.
    func collect() {
        mixer.collect()
        for point in [captureInsert, playbackInsert] { point.collect() }
    }

    /// The levels of the last blocks. For one thread at a time.
    package var levels: CallLevels { CallLevels(spoken: spoken.load(), heard: heard.load()) }

    /// The callback of a device with both directions; like the others valid while this object lives.
    package var callback: RenderCallback {
        RenderCallback(context: UnsafeMutableRawPointer(state.value)) { context, cycle in
            guard let context, let cycle else { return }
            context.assumingMemoryBound(to: State.self).pointee.process(
                cycle.assumingMemoryBound(to: IOCycle.self).pointee)
        }
    }

    /// The callback of a device that captures.
    package var captureCallback: RenderCallback {
        RenderCallback(context: UnsafeMutableRawPointer(state.value)) { context, cycle in
            guard let context, let cycle else { return }
            context.assumingMemoryBound(to: State.self).pointee.capture.process(
                cycle.assumingMemoryBound(to: IOCycle.self).pointee)
        }
    }

    /// The callback of a device that plays.
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
        // Voice processing needs the sound that is played in this cycle; without it the block is sent before playout.
        let waits = capture.voice?.needsReference() ?? false
        if !waits { capture.send(cycle) }
        playback.process(cycle)
        if waits { capture.send(cycle) }
    }
}
