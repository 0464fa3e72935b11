// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioSession

/// The logic of a sound check without a thread, a clock or a device: captured samples, commands and time in, actions out.
///
/// Ticks are played, the microphone is recorded and judged, the recording is played, and the user decides. The user may decide at
/// any time. Equal inputs give equal outputs.
package struct SoundCheck: Sendable {
    /// A part of the check.
    package enum Step: Hashable, Sendable {
        /// Ticks are played.
        case ticks
        /// The microphone is recorded.
        case recording
        /// The recording is played.
        case playback
        /// The user's decision is awaited.
        case decision
        /// The user has decided.
        case ended(Ending)
    }

    /// The end of a check.
    package enum Ending: Hashable, Sendable {
        /// The user accepted the devices after the judgement.
        case accepted
        /// The user went on before the judgement, which is no answer about the devices.
        case skipped
        /// The user left.
        case cancelled
    }

    /// A command of the user.
    package enum Command: Hashable, Sendable {
        /// Accepts the devices; before the judgement, skips the check.
        case accept
        /// Begins again.
        case restart
        /// Ends the check without accepting the devices.
        case cancel
    }

    /// A message to the user.
    package enum Notice: Hashable, Sendable {
        /// The check begins on these devices, or begins again.
        case began(AudioRoute)
        /// Ticks follow.
        case ticks(count: Int)
        /// The microphone is recorded for this many seconds.
        case recording(seconds: Double)
        /// The recording was judged, or there is none.
        case judged(Finding)
        /// The recording is played.
        case playback
        /// The user should decide.
        /// - Parameter hasOutput: false if nothing was played, because the route has no loudspeaker.
        case decision(Finding, hasOutput: Bool)
    }

    /// A request to the owner of the device.
    package enum Action: Hashable, Sendable {
        /// Plays these samples on all channels, after the samples that are still playing.
        case play([Float])
        /// Fades out the samples that are playing.
        case stopPlaying
        case notify(Notice)
    }

    /// The times of the ticks, in seconds from the beginning.
    static let tickTimes = [0.1, 0.6]
    /// Seconds from the beginning to the recording.
    static let ticksDuration = 1.0
    /// Seconds of sound that are recorded.
    static let recordingDuration = 2.0
    /// Seconds that the recording may take longer than its sound. Opening a Bluetooth headset's microphone takes about a second.
    static let captureTolerance = 2.0
    /// Seconds from the end of the playback to the decision, for the delay of the device.
    static let playbackTolerance = 0.3

    /// The samples per second.
    package let sampleRate: Double
    /// The current part of the check.
    package private(set) var step = Step.ticks
    /// The judgement of the recording; nil before.
    package private(set) var finding: Finding?
    /// The peak of the captured sound, 1 being full scale; it falls by 20 dB per second.
    package private(set) var inputPeak: Float = 0

    private var route: AudioRoute
    private var stepStart = HostTime(nanoseconds: 0)
    private var playedTickCount = 0
    private var recording: [Float] = []

    /// Creates a check, which ``begin(at:)`` begins.
    /// - Parameter sampleRate: the rate of captured and played samples in hertz.
    package init(_ route: AudioRoute, sampleRate: Double) {
        self.route = route
        self.sampleRate = sampleRate
    }

    /// Begins the check, or begins it again.
    package mutating func begin(at now: HostTime) -> [Action] {
        (finding, recording, playedTickCount) = (nil, [], 0)
        let actions: [Action] = [.stopPlaying, .notify(.began(route))]
        guard route.output != nil else { return actions + beginRecording(at: now) }
        enter(.ticks, at: now)
        return actions + [.notify(.ticks(count: Self.tickTimes.count))]
    }

    /// Takes samples that the microphone captured after the previous ones.
    package mutating func capture(_ samples: [Float], at now: HostTime) -> [Action] {
        followPeak(of: samples)
        guard step == .recording else { return [] }
        let length = Int(sampleRate * Self.recordingDuration)
        recording += samples.prefix(length - recording.count)
        return recording.count < length ? [] : judge(Finding(recording, sampleRate: sampleRate), at: now)
    }

    /// Advances the check. Call it at least 20 times per second.
    package mutating func advance(to now: HostTime) -> [Action] {
        let elapsed = now.seconds(since: stepStart)
        switch step {
        case .ticks:
            if elapsed >= Self.ticksDuration { return beginRecording(at: now) }
            guard playedTickCount < Self.tickTimes.count, elapsed >= Self.tickTimes[playedTickCount] else { return [] }
            playedTickCount += 1
            return [.play(Self.tick(sampleRate: sampleRate))]
        case .recording:
            guard elapsed >= Self.recordingDuration + Self.captureTolerance else { return [] }
            return judge(.stalled(capturedSeconds: Double(recording.count) / sampleRate), at: now)
        case .playback:
            let duration = Double(recording.count) / sampleRate + Self.playbackTolerance
            return elapsed < duration ? [] : awaitDecision(at: now)
        case .decision, .ended: return []
        }
    }

    /// Executes a command. Does nothing after the end.
    package mutating func perform(_ command: Command, at now: HostTime) -> [Action] {
        if case .ended = step { return [] }
        if command == .restart { return begin(at: now) }
        enter(.ended(command == .cancel ? .cancelled : finding == nil ? .skipped : .accepted), at: now)
        return [.stopPlaying]
    }

    /// Begins again if the sound comes from or goes to another device than before. Does nothing after the end.
    package mutating func changeRoute(_ route: AudioRoute, at now: HostTime) -> [Action] {
        if case .ended = step { return [] }
        guard route.input?.id != self.route.input?.id || route.output?.id != self.route.output?.id else { return [] }
        self.route = route
        return begin(at: now)
    }

    // MARK: Steps

    private mutating func enter(_ step: Step, at now: HostTime) {
        self.step = step
        stepStart = now
    }

    private mutating func beginRecording(at now: HostTime) -> [Action] {
        guard route.input != nil else { return judge(.noMicrophone, at: now) }
        enter(.recording, at: now)
        return [.notify(.recording(seconds: Self.recordingDuration))]
    }

    private mutating func judge(_ finding: Finding, at now: HostTime) -> [Action] {
        self.finding = finding
        guard finding.hasSound, route.output != nil else {
            return [.notify(.judged(finding))] + awaitDecision(at: now)
        }
        enter(.playback, at: now)
        return [.notify(.judged(finding)), .notify(.playback), .play(recording)]
    }

    private mutating func awaitDecision(at now: HostTime) -> [Action] {
        enter(.decision, at: now)
        return [.notify(.decision(finding ?? .noMicrophone, hasOutput: route.output != nil))]
    }

    private mutating func followPeak(of samples: [Float]) {
        let peak = samples.reduce(Float(0)) { max($0, abs($1)) }
        // A factor of 10 in a second, which is 20 dB.
        let fall = max(0, 1 - 2.3 * Float(samples.count) / Float(sampleRate))
        inputPeak = max(peak, inputPeak * fall)
    }
}
