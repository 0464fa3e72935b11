// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioDevices
import EarshotAudioFiles
import EarshotAudioSession
import EarshotLiveCall
import Foundation

/// The sound card of a call, with the sound files of a simulated card.
final class SoundCard: LiveCallDevice {
    let calls: CallDeviceSession
    let asked: SystemOptions
    private let source: AudioRing?
    private let sink: AudioRing?
    private let feeder: FileFeeder?
    private let preparation = LockedValue(Preparation())
    private let spokenPath: String?
    private let heardPath: String?
    private let simulated: Simulated?

    /// The state of ``prepare()``, of which only the first call has an effect.
    private struct Preparation {
        var hasBegun = false
        var recorder: FileRecorder?
        var error: (any Error)?
    }

    /// The simulated card that the session opened. Its converters give the times of the sound files.
    private struct Simulated {
        let configuration: SimulatedCard.Configuration
        let card: SimulatedCard
    }

    /// The session's device, which stays the same while the hardware changes.
    var device: any AudioDevice { calls.device }
    /// The session and device of a separate microphone; nil if ``device`` captures.
    var input: (session: AudioSession, device: any AudioDevice)? { calls.input }
    var watchdog: CallbackWatchdog { calls.watchdog }
    var inputWatchdog: CallbackWatchdog? { calls.inputWatchdog }

    init(_ options: CallOptions) throws {
        asked = options.card.system
        // The paths are absolute, since the report may be read in another folder.
        // A file that begins with the song has no known time.
        spokenPath = options.simulatedSpeaker.sing ? nil : options.speak.map { URL(fileURLWithPath: $0).path }
        heardPath = options.hear.map { URL(fileURLWithPath: $0).path }
        let system: any AudioSystem
        var configuration: SimulatedCard.Configuration?
        var feeder: FileFeeder?
        if options.card.device == .simulated {
            let rate = options.card.rate ?? (options.coding.codec == .aac ? 44_100 : 48_000)
            let ring = { AudioRing(channelCount: options.channels, capacity: Int(rate)) }
            let source = options.speak == nil ? nil : ring()
            let sink = options.hear == nil ? nil : ring()
            if let path = options.speak, let source {
                feeder = FileFeeder(try SoundFiles.open(path), into: source, sampleRate: rate)
            }
            // An existing file, perhaps of an earlier call, is replaced only with --overwrite.
            if let path = options.hear { try options.existing.check(path) }
            if let path = options.hear { try Failure.creating { try OutputPath.check(path) } }
            var card = SimulatedCard.Configuration(
                sampleRate: rate, blockFrameCount: options.card.block ?? 256, inputChannelCount: options.channels,
                outputChannelCount: options.channels, driftPPM: options.drift, source: source,
                sink: sink)
            card.script = options.cardScript?.events ?? []
            card.sourceFollowsSound = options.simulatedSpeaker.sing
            (self.source, self.sink, configuration) = (source, sink, card)
            system = SimulatedSystem.standard(card)
        } else {
            (source, sink) = (nil, nil)
            system = try options.card.makeSystem()
        }
        self.feeder = feeder
        var sessionConfiguration = try options.card.configuration(
            inputChannelCount: options.channels,
            outputChannelCount: options.card.device == .simulated ? options.channels : 2, on: system)
        sessionConfiguration.preferredBlockFrameCount = options.card.block ?? configuration?.blockFrameCount
        sessionConfiguration.preferredSampleRate = options.card.rate ?? configuration?.sampleRate
        var microphoneConfiguration = sessionConfiguration
        if options.separateInput {
            sessionConfiguration.category = .playback
            sessionConfiguration.pausesWhenHeadphonesLeave = false
        }
        system.warnOfSilentMicrophone(id: sessionConfiguration.preferredInput)
        calls = try CallDeviceSession(
            AudioSession(system, sessionConfiguration), calibrations: CalibrationStore.standard.read(),
            input: !options.separateInput
                ? nil
                : { device in
                    microphoneConfiguration.category = .record
                    microphoneConfiguration.clientName += "-in"
                    microphoneConfiguration.otherAudio = .mix
                    microphoneConfiguration.preferredSampleRate = device.sampleRate
                    return AudioSession(system, microphoneConfiguration)
                })
        let card = (calls.session.hardware as? SimulatedDevice)?.card
        simulated = card.flatMap { card in configuration.map { Simulated(configuration: $0, card: card) } }
        if let microphone = calls.input?.device, microphone.sampleRate != device.sampleRate {
            calls.close()
            throw Failure(
                "The microphone runs at \(Int(microphone.sampleRate)) Hz and the loudspeaker at \(Int(device.sampleRate)). "
                    + "Omit --separate-input.", status: Failure.unavailable)
        }
    }

    // MARK: LiveCallDevice

    var description: CallDevice { calls.description }
    var events: AsyncStream<AudioSessionEvent> { calls.events }
    var interruption: (kind: Interruption, since: HostTime)? { calls.interruption }
    var hardwareBlockFrameCount: Int { calls.hardwareBlockFrameCount }

    func use(input: String?, output: String?) throws(AudioDeviceError) { try calls.use(input: input, output: output) }

    func update() { calls.update() }

    /// Creates or overwrites the file for the loudspeaker's sound, and starts the threads that read and write the sound files.
    /// Only the first call has an effect.
    func prepare() throws {
        guard
            preparation.withLock({ preparation in
                defer { preparation.hasBegun = true }
                return !preparation.hasBegun
            })
        else { return }
        do {
            try startFiles()
        } catch {
            preparation.withLock { $0.error = error }
            throw error
        }
    }

    private func startFiles() throws {
        var recorder: FileRecorder?
        if let heardPath, let sink {
            let format = AudioFormat(sampleRate: device.sampleRate, channelCount: sink.channelCount)
            recorder = FileRecorder(try SoundFileOutput.create(heardPath, format: format), from: sink)
        }
        preparation.withLock { $0.recorder = recorder }
        feeder?.prime()
        try feeder?.start()
        try recorder?.start()
    }

    /// Closes the devices, and writes and closes the recorded file.
    func close() {
        calls.close()
        feeder?.stop()
        recorder?.stop()
    }

    private var recorder: FileRecorder? { preparation.withLock { $0.recorder } }

    // MARK: Reports

    /// The reason that a sound file cannot be read or written; nil if there is none.
    var error: (any Error)? { preparation.withLock { $0.error } ?? feeder?.error ?? recorder?.error }

    private var sessions: [AudioSession] { calls.sessions }
    var routeChanges: [CallReport.RouteChanged] {
        sessions.flatMap(\.routeChanges).sorted { $0.monotonicNanoseconds < $1.monotonicNanoseconds }
    }
    var interruptions: [CallReport.Interrupted] { sessions.flatMap(\.interruptions) }
    var lostFrameCount: Int { sessions.map(\.lostFrameCount).reduce(0, +) }

    var spoken: CallReport.Tape? {
        guard let spokenPath, let feeder, let time = simulated?.card.firstInputFrameTime else { return nil }
        return CallReport.Tape(
            file: spokenPath, rate: trueRate, firstFrameMonotonicNanoseconds: time.nanoseconds,
            frames: feeder.framesFed,
            lostFrames: 0)
    }

    var heard: CallReport.Tape? {
        guard let heardPath, let recorder, let time = simulated?.card.firstOutputFrameTime else { return nil }
        return CallReport.Tape(
            file: heardPath, rate: trueRate, firstFrameMonotonicNanoseconds: time.nanoseconds,
            frames: recorder.frameCount, lostFrames: recorder.lostFrameCount)
    }

    private var trueRate: Double { simulated?.configuration.trueSampleRate ?? device.sampleRate }
}
