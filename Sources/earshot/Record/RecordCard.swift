// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioDevices
import EarshotAudioEngine
import EarshotAudioFiles
import EarshotAudioQueues
import EarshotAudioSession
import Foundation

/// The sound card of `earshot record`: microphone → recorder, with a meter.
final class RecordCard: SessionCard {
    let session: AudioSession
    let device: any AudioDevice
    let watchdog: CallbackWatchdog
    let recorder: AudioRecorder
    private let engine = AudioEngine()
    private let meter: MonitorTape
    let asked: SystemOptions
    private let feeder: FileFeeder?
    private let source: AudioRing?
    /// The maximum frames to record; nil for no limit.
    private let frameLimit: Int?

    init(_ command: RecordCommand, _ plan: RecordPlan) throws {
        asked = command.system
        let rate = plan.format?.sampleRate ?? asked.rate
        if let rate, let requestedRate = asked.rate, rate != requestedRate {
            throw Failure(
                "Cannot append at \(Int(requestedRate)) Hz: the file has \(Int(rate)) Hz. Omit --rate.",
                status: Failure.usage)
        }
        let mappedChannelCount = command.microphone.microphoneChannels?.channels.count
        let requestedChannelCount = command.channels ?? mappedChannelCount
        if let format = plan.format, let requestedChannelCount, requestedChannelCount != format.channelCount {
            throw Failure(
                "Cannot append \(requestedChannelCount) channels: the file has \(format.channelCount). Omit --channels.",
                status: Failure.usage
            )
        }
        let count = plan.format?.channelCount ?? requestedChannelCount
        var (feeder, source): (FileFeeder?, AudioRing?)
        let system: any AudioSystem
        if command.system.device == .simulated {
            let card = try Self.card(command, channelCount: count ?? 1)
            (feeder, source) = (card.feeder, card.source)
            system = SimulatedSystem.standard(card.configuration)
        } else {
            system = try command.system.makeSystem()
        }
        (self.feeder, self.source) = (feeder, source)
        session = AudioSession(system, try Self.sessionConfiguration(command, count, rate, system))
        system.warnOfSilentMicrophone(id: session.configuration.preferredInput)
        device = try session.activate(needing: [.input])
        watchdog = CallbackWatchdog(monitor: device.monitor)
        meter = MonitorTape(sampleRate: device.sampleRate)
        let format = AudioFormat(
            sampleRate: rate ?? device.sampleRate,
            channelCount: count
                ?? max(1, min(2, session.currentRoute.input?.inputChannelCount ?? 1, device.inputChannelCount)))
        frameLimit = command.duration.map { max(1, Int(($0 * format.sampleRate).rounded())) }
        var options = AudioRecorder.Options()
        options.preRoll = command.preRoll ?? 0
        options.partDuration = command.split
        options.firstPart = plan.firstPart
        options.silence = command.trimSilence.map {
            AudioRecorder.SilenceTrimming(threshold: Float($0), kept: command.keepSilence)
        }
        let engine = engine
        recorder = try Failure.creating {
            try AudioRecorder(files: plan.files, format: format, on: engine, options: options)
        }
        let tape = meter
        let sink = AudioSinkNode(name: "meter") { tape.take($0, $1, $2) }
        try engine.attach(sink)
        try engine.connect(engine.inputNode, to: sink)
    }

    private static func card(
        _ command: RecordCommand, channelCount: Int
    ) throws -> (configuration: SimulatedCard.Configuration, feeder: FileFeeder?, source: AudioRing?) {
        let rates = SimulatedSystem.standard().devices.first?.sampleRates ?? []
        let rate = command.system.rate.flatMap { rates.contains($0) ? $0 : nil } ?? 48_000
        let source = command.simulated.speak == nil ? nil : AudioRing(channelCount: channelCount, capacity: Int(rate))
        var feeder: FileFeeder?
        if let path = command.simulated.speak, let source {
            feeder = FileFeeder(try SoundFiles.open(path), into: source, sampleRate: rate)
        }
        var card = SimulatedCard.Configuration(
            sampleRate: rate, blockFrameCount: command.system.block ?? 256, inputChannelCount: channelCount,
            outputChannelCount: 2, driftPPM: command.simulated.drift, source: source)
        card.script = command.simulated.cardScript?.events ?? []
        return (card, feeder, source)
    }

    private static func sessionConfiguration(
        _ command: RecordCommand, _ count: Int?, _ rate: Double?, _ system: any AudioSystem
    ) throws -> AudioSession.Configuration {
        var configuration = try command.system.configuration(on: system)
        configuration.category = .record
        configuration.preferredIOBufferDuration = 0.02
        try command.microphone.apply(to: &configuration, channelCount: count ?? 2, on: system)
        let device = system.devices.first {
            configuration.preferredInput == nil ? $0.isDefaultInput : $0.id == configuration.preferredInput
        }
        if count == nil, let device { configuration.inputChannelCount = max(1, min(2, device.inputChannelCount)) }
        // The device is asked only for a rate that it supports. The engine converts to any other rate.
        configuration.preferredSampleRate = rate.flatMap { rate in
            device?.sampleRates.contains(rate) ?? true ? rate : nil
        }
        if system.backend == .simulated { configuration.preferredBlockFrameCount = command.system.block ?? 256 }
        return configuration
    }

    /// Starts capturing. Also starts recording, unless `standby` is true.
    func start(standby: Bool) throws {
        feeder?.prime()
        try feeder?.start()
        if standby { try recorder.prepareToRecord() } else { try record() }
        try engine.start(on: device)
    }

    /// Starts or resumes recording, until the requested duration is reached if there is one.
    func record() throws {
        let rest = frameLimit.map { Double(max(0, $0 - recorder.elapsedFrameCount)) / recorder.format.sampleRate }
        try recorder.record(forDuration: rest)
    }

    /// True if the requested duration is recorded; false without a requested duration.
    var isComplete: Bool { frameLimit.map { recorder.elapsedFrameCount >= $0 } ?? false }

    /// Closes the card and completes the files.
    func close() {
        engine.stop()
        session.deactivate()
        try? recorder.stop()  // each file stores its own error
        feeder?.stop()
    }

    /// The input's peak, which decays slowly; 1 is full scale.
    var peak: Float { meter.peak.load() }
}
