// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioDevices
import EarshotVoiceProcessing
import Synchronization

/// The local voice's path from a device's block to the ring, on the capturing render thread.
struct CaptureSide: ~Copyable {
    private let ring: AudioRing.Writer
    private let wakeup: Wakeup.Handle
    private let levels: LatestValue<SpokenLevels>.Writer
    /// The cycle's block, with the call's channels. After ``render(_:)`` it has the processed voice, which mute does not affect.
    let block: Channels
    private let capacity: Int
    private let isMuted: UnsafeMutablePointer<Atomic<Bool>>
    let processing: VoiceProcessingPort?
    private var gapFade: GapFade
    private var damper: FeedbackDamper
    private let effects: InsertPoint.Renderer
    private let insert: InsertPoint.Renderer
    private let songInsert: InsertPoint.Renderer
    private var fader: VoiceFader
    /// True unless the voice is muted in this cycle.
    private var isHeard = true
    private var dryTap: SoundTap.Writer
    private var rawTap: SoundTap.Writer
    private var roomTap: SoundTap.Writer
    private var speech: SpeechDetector
    private var check: MicrophoneCheck
    private var level = SpokenLevels()
    private var expectedSampleTime: Int64 = .min
    /// The lost frames from which a gap counts as a change of the route rather than an xrun: 50 ms.
    private let routeGapFrames: Int64

    init(
        ring: AudioRing.Writer, wakeup: Wakeup.Handle, levels: LatestValue<SpokenLevels>.Writer, block: Channels,
        capacity: Int, isMuted: UnsafeMutablePointer<Atomic<Bool>>, processing: VoiceProcessingPort?,
        effects: InsertPoint.Renderer, insert: InsertPoint.Renderer, songInsert: InsertPoint.Renderer,
        dryTap: consuming SoundTap.Writer, rawTap: consuming SoundTap.Writer, roomTap: consuming SoundTap.Writer,
        sampleRate: Double
    ) {
        self.ring = ring
        self.wakeup = wakeup
        self.levels = levels
        self.block = block
        self.capacity = capacity
        self.isMuted = isMuted
        self.processing = processing
        self.effects = effects
        self.insert = insert
        self.songInsert = songInsert
        gapFade = GapFade(sampleRate: sampleRate)
        damper = FeedbackDamper(sampleRate: sampleRate, channelCount: block.count)
        fader = VoiceFader(sampleRate: sampleRate, isHeard: true)
        self.dryTap = dryTap
        self.rawTap = rawTap
        self.roomTap = roomTap
        speech = SpeechDetector(sampleRate: sampleRate)
        check = MicrophoneCheck(sampleRate: sampleRate)
        routeGapFrames = Int64(sampleRate * 0.05)
    }

    /// Processes a block of a device that only captures.
    @_noLocks
    mutating func process(_ cycle: IOCycle) {
        listen(cycle)
        render(cycle)
        send(cycle)
    }

    /// Copies the device's input to the block, and measures the block. A mono block is the mean of all input channels. A stereo
    /// block has the first two, or a single one twice. Without an input channel the block is silent.
    @_noLocks
    mutating func listen(_ cycle: IOCycle) {
        let frames = min(cycle.frameCount, capacity)
        if expectedSampleTime != .min, cycle.sampleTime > expectedSampleTime {
            ring.skip(Int(cycle.sampleTime &- expectedSampleTime))
            let isRouteChange = cycle.sampleTime &- expectedSampleTime >= routeGapFrames
            if isRouteChange {
                check.noteRouteChange()
                damper.restart()
                processing?.noteRouteChange()
            }
            if isRouteChange || effects.hasInsert || insert.hasInsert { gapFade.begin() }
        }
        expectedSampleTime = cycle.sampleTime &+ Int64(cycle.frameCount)
        for c in 0..<block.count {
            if cycle.input.count == 0 {
                clearSamples(block[c], frames)
            } else {
                copySamples(block[c], cycle.input[min(c, cycle.input.count &- 1)], frames)
            }
        }
        if block.count == 1, cycle.input.count > 1 {
            for k in 1..<cycle.input.count { for i in 0..<frames { block[0][i] += cycle.input[k][i] } }
            let share = 1 / Float(cycle.input.count)
            for i in 0..<frames { block[0][i] *= share }
        }
        level.last = Level(of: block, frameCount: frames)
        level.peak = max(level.last.peak, level.peak * 0.99)
        check.update(level.last, frameCount: frames)
        level.microphone = check.finding
        speech.update(meanSquare: level.last.meanSquare, frameCount: frames)
        level.isSpeaking = speech.isSpeaking
        level.feedback = damper.report
        levels.store(level)
    }

    /// Processes the block that ``listen(_:)`` copied: voice processing, damping of feedback, effects, insert.
    @_noLocks
    mutating func render(_ cycle: IOCycle) {
        let frames = min(cycle.frameCount, capacity)
        isHeard = !isMuted.pointee.load(ordering: .relaxed)
        rawTap.write(block, cycle, frameCount: frames, isHeard: isHeard)
        roomTap.write(block, cycle, frameCount: frames, isHeard: true)
        processing?.process(block, reference: cycle.output, frameCount: frames)
        dryTap.write(block, cycle, frameCount: frames, isHeard: isHeard)
        gapFade.process(block, frames)
        damper.process(block, frames)
        effects.process(block, cycle, frameCount: frames)
        insert.process(block, cycle, frameCount: frames)
    }

    /// Silences the block while muted, and writes it to the ring.
    @_noLocks
    mutating func send(_ cycle: IOCycle) {
        let frames = min(cycle.frameCount, capacity)
        fader.process(block, frames, isHeard: isHeard)
        songInsert.process(block, cycle, frameCount: frames)
        // After a block that does not fit, the ring rejects all blocks until the reader has emptied it.
        if !ring.write(block, frameCount: frames) || ring.hasAwaited { wakeup.wake() }
    }
}
