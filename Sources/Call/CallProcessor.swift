// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioDevices
import Synchronization

/// The call's render callbacks. Captured frames pass voice processing, the damping of feedback, ``effects`` and
/// ``captureInsert`` into the ring, as silence while muted. The remote voices come from the mixer and pass ``playbackInsert``. An accompaniment is added after both.
/// The local voice's level is measured before any processing.
///
/// A device with both directions calls ``callback``. Two devices call ``captureCallback`` and ``playbackCallback``, on two
/// threads; then voice processing has no reference, and the local voice cannot be monitored.
package final class CallProcessor: Sendable {
    /// The captured frames, for the media thread.
    package let captured: AudioRing
    /// The cycles of the playing callback, for the recording that pulls the voices a second time. New cycles are dropped while
    /// the queue is full.
    package let cycles: MessageQueue<CallCycle>
    /// The local voice for a recording: after voice processing, before effects, silent while muted.
    let dryTap: SoundTap
    /// The local voice for a recording: before voice processing, silent while muted.
    let rawTap: SoundTap
    /// The microphone for ``SameRoomListener``, also while muted: one channel before voice processing.
    let roomTap: SoundTap
    /// The mixer of the remote voices.
    package let mixer: PeerMixer
    /// The place of the local voice's effects, after voice processing.
    package let effects: InsertPoint
    /// The place of the program's own processing of the captured voice, after the effects.
    package let captureInsert: InsertPoint
    /// The place of the program's own processing of the mix of all remote voices.
    package let playbackInsert: InsertPoint
    /// The places of the accompaniment: in the playback after ``playbackInsert``, and in the sent voice after mute.
    let songInserts: (playback: InsertPoint, capture: InsertPoint)
    /// The place of a song that is played at ordered instants, for the local participant only: after the accompaniment.
    package let scheduledSong: InsertPoint
    private let spoken: LatestValue<SpokenLevels>
    private let heard: LatestValue<HeardLevels>
    private let state: StatePointer
    private let deviceRate: Double

    /// The state of the callbacks. `capture` belongs to the capturing thread and `playback` to the playing thread; a device with
    /// both directions has one thread for both.
    struct State: ~Copyable {
        var capture: CaptureSide
        var playback: PlaybackSide
        var monitor: VoiceMonitor
    }

    /// The memory of the callbacks, allocated once and freed with the processor.
    private struct StatePointer: @unchecked Sendable {  // `value` is the devices'; the rest is atomic or constant
        let value: UnsafeMutablePointer<State>
        let isMuted: UnsafeMutablePointer<Atomic<Bool>>
        let isMonitored: UnsafeMutablePointer<Atomic<Bool>>
        let monitorDelay: UnsafeMutablePointer<Atomic<Int>>  // frames
        let volume: UnsafeMutablePointer<Atomic<UInt32>>  // the bits of a Float
        let retained: (AudioBuffer, AudioBuffer, AudioBuffer, AudioBuffer, CallVoice?, Wakeup)
    }

    /// - Parameter voice: the processing of the captured voice; nil for none.
    package init(channelCount: Int, deviceRate: Double, wakeup: Wakeup, voice: CallVoice? = nil) {
        // Half a second. After a stall the media thread drops frames older than 50 ms, or than four blocks if these are longer.
        captured = AudioRing(channelCount: channelCount, capacity: Int(deviceRate / 2))
        (spoken, heard) = (LatestValue(SpokenLevels()), LatestValue(HeardLevels()))
        cycles = MessageQueue(capacity: 4_096)
        dryTap = SoundTap(channelCount: channelCount, deviceRate: deviceRate)
        rawTap = SoundTap(channelCount: channelCount, deviceRate: deviceRate)
        roomTap = SoundTap(channelCount: 1, deviceRate: deviceRate)
        mixer = PeerMixer(channelCount: channelCount, deviceRate: deviceRate)
        effects = InsertPoint(channelCount: channelCount, sampleRate: deviceRate)
        captureInsert = InsertPoint(channelCount: channelCount, sampleRate: deviceRate)
        playbackInsert = InsertPoint(channelCount: channelCount, sampleRate: deviceRate)
        songInserts = (
            InsertPoint(channelCount: channelCount, sampleRate: deviceRate),
            InsertPoint(channelCount: channelCount, sampleRate: deviceRate)
        )
        scheduledSong = InsertPoint(channelCount: channelCount, sampleRate: deviceRate)
        let input = AudioBuffer(channelCount: channelCount, frameCapacity: IOCycle.maximumFrameCount)
        let output = AudioBuffer(channelCount: channelCount, frameCapacity: IOCycle.maximumFrameCount)
        let monitored = AudioBuffer(channelCount: channelCount, frameCapacity: IOCycle.maximumFrameCount)
        let isMuted = UnsafeMutablePointer<Atomic<Bool>>.allocate(capacity: 1)
        isMuted.initialize(to: Atomic(false))
        let isMonitored = UnsafeMutablePointer<Atomic<Bool>>.allocate(capacity: 1)
        isMonitored.initialize(to: Atomic(false))
        let monitorDelay = UnsafeMutablePointer<Atomic<Int>>.allocate(capacity: 1)
        monitorDelay.initialize(to: Atomic(0))
        let delayed = AudioBuffer(
            channelCount: channelCount, frameCapacity: MonitorDelay.lineLength(sampleRate: deviceRate))
        let volume = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: 1)
        volume.initialize(to: Atomic(Float(1).bitPattern))
        let value = UnsafeMutablePointer<State>.allocate(capacity: 1)
        value.initialize(
            to: State(
                capture: CaptureSide(
                    ring: captured.writer, wakeup: wakeup.handle, levels: spoken.writer, block: input.channels,
                    capacity: input.frameCapacity, isMuted: isMuted,
                    processing: voice?.processingPort, effects: effects.renderer, insert: captureInsert.renderer,
                    songInsert: songInserts.capture.renderer,
                    dryTap: dryTap.makeWriter(), rawTap: rawTap.makeWriter(), roomTap: roomTap.makeWriter(),
                    sampleRate: deviceRate),
                playback: PlaybackSide(
                    voices: mixer.renderer, levels: heard.writer, cycles: cycles.writer, block: output.channels,
                    capacity: output.frameCapacity, insert: playbackInsert.renderer,
                    songInsert: songInserts.playback.renderer, scheduledSong: scheduledSong.renderer, volume: volume,
                    sampleRate: deviceRate),
                monitor: VoiceMonitor(
                    isMonitored, voice: monitored.channels,
                    delay: MonitorDelay(
                        monitorDelay, line: delayed.channels, length: delayed.frameCapacity, sampleRate: deviceRate),
                    sampleRate: deviceRate)))
        state = StatePointer(
            value: value, isMuted: isMuted, isMonitored: isMonitored, monitorDelay: monitorDelay, volume: volume,
            retained: (input, output, monitored, delayed, voice, wakeup))
        self.deviceRate = deviceRate
    }

    deinit {
        state.value.deinitialize(count: 1)
        state.value.deallocate()
        state.isMuted.deinitialize(count: 1)
        state.isMuted.deallocate()
        state.isMonitored.deinitialize(count: 1)
        state.isMonitored.deallocate()
        state.monitorDelay.deinitialize(count: 1)
        state.monitorDelay.deallocate()
        state.volume.deinitialize(count: 1)
        state.volume.deallocate()
    }

    /// True if the local voice is silent for all remote peers. Any thread.
    package var isMuted: Bool {
        get { state.isMuted.pointee.load(ordering: .relaxed) }
        set { state.isMuted.pointee.store(newValue, ordering: .relaxed) }
    }

    /// True to add the local voice to the played sound, also while muted. A change is a ramp over 10 ms, or over a block if that
    /// is longer. Has no effect with two devices. Any thread.
    package var isMonitored: Bool {
        get { state.isMonitored.pointee.load(ordering: .relaxed) }
        set { state.isMonitored.pointee.store(newValue, ordering: .relaxed) }
    }

    /// The seconds by which the monitor is later than the cycle, clamped to 0…0.25. A change is a fade over 20 ms. Any thread.
    package var monitorDelay: Double {
        get { Double(state.monitorDelay.pointee.load(ordering: .relaxed)) / deviceRate }
        set {
            let frames = max(0, min(MonitorDelay.longest, newValue)) * deviceRate
            state.monitorDelay.pointee.store(Int(frames.rounded()), ordering: .relaxed)
        }
    }

    /// The volume of the played mix as a factor. A change is a ramp over 5 ms, or over a block if that is longer. Any thread.
    package var outputVolume: Float {
        get { Float(bitPattern: state.volume.pointee.load(ordering: .relaxed)) }
        set { state.volume.pointee.store(newValue.bitPattern, ordering: .relaxed) }
    }

    private var insertPoints: [InsertPoint] {
        [effects, captureInsert, playbackInsert, songInserts.playback, songInserts.capture, scheduledSong]
    }

    /// Sets whether callbacks may be called. While they may not, changes of voices and inserts take effect without a fade.
    func setRunning(_ isRunning: Bool) {
        mixer.setPulled(isRunning)
        for point in insertPoints { point.setRendered(isRunning) }
    }

    /// Frees the voices and inserts that the callbacks no longer use.
    func collect() {
        mixer.collect()
        for point in insertPoints { point.collect() }
    }

    /// The levels of the last captured block and of the last played block. For one thread at a time.
    package var levels: CallLevels { CallLevels(spoken: spoken.load(), heard: heard.load()) }

    /// The callback of a device that captures and plays; valid while the processor lives.
    package var callback: RenderCallback {
        RenderCallback(context: UnsafeMutableRawPointer(state.value)) { context, cycle in
            guard let context, let cycle else { return }
            context.assumingMemoryBound(to: State.self).pointee.process(
                cycle.assumingMemoryBound(to: IOCycle.self).pointee)
        }
    }

    /// The callback of a device that only captures; valid while the processor lives.
    package var captureCallback: RenderCallback {
        RenderCallback(context: UnsafeMutableRawPointer(state.value)) { context, cycle in
            guard let context, let cycle else { return }
            context.assumingMemoryBound(to: State.self).pointee.capture.process(
                cycle.assumingMemoryBound(to: IOCycle.self).pointee)
        }
    }

    /// The callback of a device that only plays; valid while the processor lives.
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
        // Voice processing needs the sound that is played in this cycle. Without voice processing the block is sent first.
        let needsPlayedSound = capture.processing?.needsReference() ?? false
        if needsPlayedSound { playback.process(cycle) }
        capture.render(cycle)
        monitor.copyVoice(capture.block, min(cycle.frameCount, IOCycle.maximumFrameCount))
        capture.send(cycle)
        if !needsPlayedSound { playback.process(cycle) }
        // The monitor is last in both orders. So it adds no delay, and the reference of voice processing does not contain the
        // local voice, which would otherwise be removed from the microphone.
        playback.add(&monitor, cycle)
    }
}
