// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import Synchronization

/// The state of a ``Loopback``'s callback, in memory that does not move.
struct LoopbackState: ~Copyable {
    /// The phase of a probe.
    enum Phase {
        case idle
        /// The sound fades out, and earlier output decays.
        case settling
        /// The probe is played, and the input is recorded.
        case capturing
    }

    /// Seconds over which the gain changes.
    static let ramp = 0.02
    /// Seconds before a probe in which the sound fades out and earlier output decays.
    static let settling = 0.15
    /// The factor by which each feedback reduces the gain: −12 dB.
    static let howlGain: Float = 0.25

    let controls: UnsafeMutablePointer<LoopbackControls>
    let levels: LatestValue<LoopbackLevels>.Writer
    let ring: AudioRing.Writer
    let probe: Channels
    let probeLength: Int
    let captureLength: Int

    private let sampleRate: Double
    private let inputBuffer: AudioBuffer
    private let delayedBuffer: AudioBuffer
    private let gainBuffer: AudioBuffer
    private let input: Channels  // captured sound, in which NaN, infinity and values beyond ±16 are 0
    private let delayed: Channels
    private let gains: Channels  // for each frame of the block
    private let rampLength: Int
    private let settlingLength: Int

    private var delay: LoopbackDelay
    private var level = LoopbackLevels()
    private var howlDetector = FeedbackDetector(windowCount: 6, minimum: 0.25)
    private var echoDetector = FeedbackDetector(windowCount: 4, minimum: 0.999)
    private var gain: Float = 0
    private var gainTarget: Float = 0
    private var gainStart: Float = 0
    private var rampedFrames = 0  // of the present change of the gain
    private var howlReduction: Float = 1
    private var gainSettingsSeen = 0
    private var requestsSeen = 0
    private var phase = Phase.idle
    private var settlingFramesLeft = 0
    private var framesSinceProbe = 0  // since the probe's first frame
    private var expectedSampleTime: Int64 = .min

    init(
        controls: UnsafeMutablePointer<LoopbackControls>, levels: LatestValue<LoopbackLevels>.Writer,
        ring: AudioRing.Writer, probe: AudioBuffer, captureLength: Int, channelCount: Int, sampleRate: Double,
        maximumDelay: Int
    ) {
        self.controls = controls
        self.levels = levels
        self.ring = ring
        self.probe = probe.channels
        probeLength = probe.frameCapacity
        self.captureLength = captureLength
        self.sampleRate = sampleRate
        let frames = IOCycle.maximumFrameCount
        inputBuffer = AudioBuffer(channelCount: channelCount, frameCapacity: frames)
        delayedBuffer = AudioBuffer(channelCount: channelCount, frameCapacity: frames)
        gainBuffer = AudioBuffer(channelCount: 1, frameCapacity: frames)
        input = inputBuffer.channels
        delayed = delayedBuffer.channels
        gains = gainBuffer.channels
        rampLength = max(1, Int(Self.ramp * sampleRate))
        settlingLength = Int(Self.settling * sampleRate)
        delay = LoopbackDelay(
            channelCount: channelCount, maximumFrameCount: maximumDelay, sampleRate: sampleRate)
    }
}

extension LoopbackState {
    @_noLocks
    mutating func process(_ cycle: IOCycle) {
        let frames = min(cycle.frameCount, IOCycle.maximumFrameCount)
        takeInput(cycle.input, frames)
        followProbe(cycle, frames)
        moveGain(frames)
        delay.process(
            input, into: delayed, frameCount: frames,
            delay: controls.pointee.delay.load(ordering: .relaxed))
        if phase == .capturing {
            runProbe(cycle, frames)
        } else {
            play(cycle.output, frames)
        }
        publishLevels(cycle, frames)
    }

    /// Copies the input. NaN, infinity and values beyond ±16 become 0, since they would circulate in a loop forever.
    @_noLocks
    private func takeInput(_ device: Channels, _ frames: Int) {
        for c in 0..<input.count {
            let to = input[c]
            guard c < device.count else {
                clearSamples(to, frames)
                continue
            }
            let from = device[c]
            for i in 0..<frames {
                let x = from[i]
                to[i] = x >= -16 && x <= 16 ? x : 0
            }
        }
    }

    /// Plays a single input on all outputs; of several, input c on output c modulo the number of outputs.
    @_noLocks
    private func play(_ output: Channels, _ frames: Int) {
        guard output.count > 0 else { return }
        for c in 0..<max(output.count, input.count) {
            guard input.count == 1 || c < input.count else { break }
            let to = output[c % output.count]
            let from = delayed[input.count == 1 ? 0 : c]
            for i in 0..<frames { to[i] += from[i] * gains[0][i] }
        }
        for c in 0..<output.count {
            for i in 0..<frames { output[c][i] = min(1, max(-1, output[c][i])) }
        }
    }

    /// Computes the gain of each frame, moving towards the target.
    @_noLocks
    private mutating func moveGain(_ frames: Int) {
        let settings = controls.pointee.gainSettings.load(ordering: .acquiring)
        if settings != gainSettingsSeen {
            gainSettingsSeen = settings
            howlReduction = 1
        }
        let isProbing = phase == .settling || phase == .capturing
        let target = isProbing ? 0 : Float(bitPattern: controls.pointee.gain.load(ordering: .relaxed)) * howlReduction
        if target != gainTarget {
            gainTarget = target
            gainStart = gain
            rampedFrames = 0
        }
        for i in 0..<frames {
            if rampedFrames < rampLength {
                rampedFrames &+= 1
                gain = gainStart + smoothStep(rampedFrames, of: rampLength) * (gainTarget - gainStart)
            }
            gains[0][i] = gain
        }
    }

    @_noLocks
    private mutating func publishLevels(_ cycle: IOCycle, _ frames: Int) {
        level.input = Level(of: input, frameCount: frames)
        level.output = Level(of: cycle.output, frameCount: frames)
        let fall = max(0, 1 - 2.3 * Float(frames) / Float(sampleRate))
        level.inputPeak = max(level.input.peak, level.inputPeak * fall)
        level.outputPeak = max(level.output.peak, level.outputPeak * fall)
        level.inputLatency = cycle.inputLatency
        level.outputLatency = cycle.outputLatency
        level.frameCount = frames
        levels.store(level)
        followHowl(frames)
    }

    /// Detects feedback in windows of 20 ms, and for echoes in windows half a second longer than the extra delay.
    @_noLocks
    private mutating func followHowl(_ frames: Int) {
        let peak = level.output.peak
        let second = Int(sampleRate)
        let echoWindowLength = second / 2 &+ controls.pointee.delay.load(ordering: .relaxed)
        let howls = howlDetector.follow(peak: peak, frameCount: frames, windowLength: second / 50)
        let echoes = echoDetector.follow(peak: peak, frameCount: frames, windowLength: echoWindowLength)
        guard howls || echoes else { return }
        howlReduction *= Self.howlGain
        controls.pointee.reduction.store(howlReduction.bitPattern, ordering: .relaxed)
        controls.pointee.howls.wrappingAdd(1, ordering: .releasing)
    }
}

extension LoopbackState {
    /// Advances a probe to its next phase when it is time, and ends the probe if the device has lost frames.
    @_noLocks
    private mutating func followProbe(_ cycle: IOCycle, _ frames: Int) {
        let requests = controls.pointee.requests.load(ordering: .acquiring)
        if requests != requestsSeen {
            requestsSeen = requests
            phase = .settling
            settlingFramesLeft = settlingLength
        } else if phase == .settling {
            settlingFramesLeft &-= frames
            if settlingFramesLeft <= 0 {
                phase = .capturing
                framesSinceProbe = 0
                controls.pointee.probeSampleTime.store(cycle.sampleTime, ordering: .relaxed)
            }
        } else if phase == .capturing, cycle.sampleTime != expectedSampleTime {
            finishProbe(LoopbackControls.Outcome.interrupted)
        }
        expectedSampleTime = cycle.sampleTime &+ Int64(cycle.frameCount)
    }

    /// Plays the probe's next block on all outputs and records the input.
    @_noLocks
    private mutating func runProbe(_ cycle: IOCycle, _ frames: Int) {
        let count = max(0, min(frames, probeLength &- framesSinceProbe))
        for c in 0..<cycle.output.count where count > 0 {
            copySamples(cycle.output[c], probe[0] + framesSinceProbe, count)
        }
        let framesToCapture = min(frames, captureLength &- framesSinceProbe)
        let isKept = ring.write(input, frameCount: framesToCapture)
        framesSinceProbe &+= frames
        if !isKept {
            finishProbe(LoopbackControls.Outcome.interrupted)
        } else if framesSinceProbe >= captureLength {
            finishProbe(LoopbackControls.Outcome.captured)
        }
    }

    @_noLocks
    private mutating func finishProbe(_ outcome: Int) {
        phase = .idle
        controls.pointee.outcome.store(outcome, ordering: .releasing)
    }
}
