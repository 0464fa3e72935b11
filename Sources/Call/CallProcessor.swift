import AudioBase
import AudioDSP
import AudioDevices
import Synchronization

/// The call's render callback: captured frames go through the voice path into the ring, silent while muted; the far sides'
/// voices come out of the mixer. Levels are those of the microphone itself.
package final class CallProcessor: Sendable {
    /// Captured frames on their way to the media thread.
    package let captured: AudioRing
    /// Levels of the last blocks; for the control thread.
    package let levels: LatestValue<CallLevels>
    /// The callback's cycles, for who pulls the voices once more, later; while nobody reads, the oldest stay and new ones are
    /// dropped.
    package let cycles: MessageQueue<CallCycle>
    /// The voices that are heard.
    package let mixer: VoiceMixer
    private let state: StatePointer

    struct State: ~Copyable {
        let capture: AudioRing.Writer
        let wakeup: Wakeup.Handle
        let voices: VoiceMixer.Renderer
        let levels: LatestValue<CallLevels>.Writer
        let cycles: MessageQueue<CallCycle>.Writer
        let spoken: Channels  // one block at the stream's channel count
        let heard: Channels
        let capacity: Int
        let isMuted: UnsafeMutablePointer<Atomic<Bool>>
        var voice: VoicePath
        var fader: VoiceFader
        var speech: SpeechDetector
        var expectedSampleTime: Int64 = .min
        var level = CallLevels()
        var check: MicrophoneCheck
    }

    /// Allocated once, freed with the processor.
    private struct StatePointer: @unchecked Sendable {  // the device's thread alone looks inside
        let value: UnsafeMutablePointer<State>
        let isMuted: UnsafeMutablePointer<Atomic<Bool>>
        let kept: (AudioBuffer, AudioBuffer, CallVoice?)
    }

    /// - Parameter voice: what the captured voice goes through on its way to the ring; nil for nothing.
    package init(channelCount: Int, deviceRate: Double, wakeup: Wakeup, voice: CallVoice? = nil) {
        // Half a second: the media thread drops what is older than a tenth of that when it comes back from a stall.
        captured = AudioRing(channelCount: channelCount, capacity: Int(deviceRate / 2))
        levels = LatestValue(CallLevels())
        cycles = MessageQueue(capacity: 4_096)
        mixer = VoiceMixer(channelCount: channelCount, deviceRate: deviceRate)
        let spoken = AudioBuffer(channelCount: channelCount, frameCapacity: IOCycle.maximumFrameCount)
        let heard = AudioBuffer(channelCount: channelCount, frameCapacity: IOCycle.maximumFrameCount)
        let isMuted = UnsafeMutablePointer<Atomic<Bool>>.allocate(capacity: 1)
        isMuted.initialize(to: Atomic(false))
        let value = UnsafeMutablePointer<State>.allocate(capacity: 1)
        value.initialize(
            to: State(
                capture: captured.writer, wakeup: wakeup.handle, voices: mixer.renderer, levels: levels.writer,
                cycles: cycles.writer, spoken: spoken.channels, heard: heard.channels, capacity: spoken.frameCapacity,
                isMuted: isMuted, voice: voice?.path ?? VoicePath(),
                fader: VoiceFader(sampleRate: deviceRate, isHeard: true),
                speech: SpeechDetector(sampleRate: deviceRate), check: MicrophoneCheck(sampleRate: deviceRate)))
        state = StatePointer(value: value, isMuted: isMuted, kept: (spoken, heard, voice))
    }

    deinit {
        state.value.deinitialize(count: 1)
        state.value.deallocate()
        state.isMuted.deinitialize(count: 1)
        state.isMuted.deallocate()
    }

    /// Whether one's own voice is silent for the others. Any thread.
    package var isMuted: Bool {
        get { state.isMuted.pointee.load(ordering: .relaxed) }
        set { state.isMuted.pointee.store(newValue, ordering: .relaxed) }
    }

    /// For the device; valid while this object lives.
    package var callback: RenderCallback {
        RenderCallback(context: UnsafeMutableRawPointer(state.value)) { context, cycle in
            guard let context, let cycle else { return }
            context.assumingMemoryBound(to: State.self).pointee.process(
                cycle.assumingMemoryBound(to: IOCycle.self).pointee)
        }
    }
}

extension CallProcessor.State {
    @_noLocks
    mutating func process(_ cycle: IOCycle) {
        let frames = min(cycle.frameCount, capacity)
        listen(cycle, frames)
        // Voice processing needs what is played now; without it the media thread need not wait for playout.
        let waits = voice.needsReference()
        if !waits { send(cycle, frames) }
        voices.pull(heard, frameCount: frames, sampleTime: cycle.sampleTime, hostTime: cycle.hostTime)
        cycles.push(CallCycle(sampleTime: cycle.sampleTime, frameCount: frames, hostTime: cycle.hostTime))
        level.heard = Level(of: heard, frameCount: frames)
        level.heardPeak = max(level.heard.peak, level.heardPeak * 0.99)
        // Mono to every output; stereo to the first two, or their mean to a single one.
        for c in 0..<cycle.output.count {
            if heard.count == 2 && cycle.output.count == 1 {
                for i in 0..<frames { cycle.output[0][i] = 0.5 * (heard[0][i] + heard[1][i]) }
            } else if c < heard.count || heard.count == 1 {
                copySamples(cycle.output[c], heard[min(c, heard.count &- 1)], frames)
            }
        }
        if waits { send(cycle, frames) }
        levels.store(level)
    }

    /// Mono is the mean of all inputs; stereo the first two, or a single one twice.
    @_noLocks
    private mutating func listen(_ cycle: IOCycle, _ frames: Int) {
        if expectedSampleTime != .min, cycle.sampleTime > expectedSampleTime {
            capture.skip(Int(cycle.sampleTime &- expectedSampleTime))
        }
        expectedSampleTime = cycle.sampleTime &+ Int64(cycle.frameCount)
        for c in 0..<spoken.count {
            if cycle.input.count == 0 {
                clearSamples(spoken[c], frames)
            } else {
                copySamples(spoken[c], cycle.input[min(c, cycle.input.count &- 1)], frames)
            }
        }
        if spoken.count == 1, cycle.input.count > 1 {
            for k in 1..<cycle.input.count { for i in 0..<frames { spoken[0][i] += cycle.input[k][i] } }
            let share = 1 / Float(cycle.input.count)
            for i in 0..<frames { spoken[0][i] *= share }
        }
        level.spoken = Level(of: spoken, frameCount: frames)
        level.spokenPeak = max(level.spoken.peak, level.spokenPeak * 0.99)
        check.update(level.spoken, frameCount: frames)
        level.microphone = check.finding
        speech.update(meanSquare: level.spoken.meanSquare, frameCount: frames)
        level.isSpeaking = speech.isSpeaking
    }

    @_noLocks
    private mutating func send(_ cycle: IOCycle, _ frames: Int) {
        voice.process(spoken, cycle, frameCount: frames)
        fader.process(spoken, frames, isHeard: !isMuted.pointee.load(ordering: .relaxed))
        // What was rejected is, once the ring is empty, a gap.
        if !capture.write(spoken, frameCount: frames) || capture.hasAwaited { wakeup.wake() }
    }
}

/// What one's own microphone and the far side's voice measure.
@frozen
public struct CallLevels: BitwiseCopyable, Sendable {
    /// The last block captured.
    public var spoken = Level()
    /// The last block played.
    public var heard = Level()
    /// The peak captured; falls by 1 % a block.
    public var spokenPeak: Float = 0
    /// The peak played; falls by 1 % a block.
    public var heardPeak: Float = 0
    /// Whether one speaks, sings or plays, muted or not: from 50 ms after it begins to 400 ms after it ends.
    public var isSpeaking = false
    /// What is the matter with the microphone.
    public var microphone = MicrophoneCheck.Finding.fine

    /// Silence.
    @_noLocks
    public init() {}
}
