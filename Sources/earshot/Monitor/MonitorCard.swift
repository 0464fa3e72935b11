// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioDevices
import EarshotAudioEngine
import EarshotAudioFiles
import EarshotAudioSession
import EarshotCall
import EarshotDiagnostics
import Foundation

/// The sound card of `earshot monitor` with its graph: microphone → effects → a mixer, from which the file is written → the main
/// mixer with the volume → headphones.
final class MonitorCard: SessionCard {
    let session: AudioSession
    let device: any AudioDevice
    let watchdog: CallbackWatchdog
    let effects: [AudioUnitEffect]
    let recorder: FileRecorder?
    /// The number of frames at which the recording is complete; nil for no limit.
    private let recordingLimit: Int?
    let heard: MonitorTape
    private let spoken: MonitorTape
    private let engine = AudioEngine()
    private let feeder: FileFeeder?  // feeds the simulated microphone
    let asked: SystemOptions
    private let volume: Float
    /// The delay of the effects in seconds.
    private(set) var effectsLatency = 0.0
    private var handledHowlCount = 0
    /// The gain by which howls have lowered the output.
    private(set) var reduction: Float = 1

    init(_ command: MonitorCommand) throws {
        asked = command.card.system
        effects = try command.effect.effects()
        volume = Float(pow(10, command.volume / 20))
        var speech: AudioRing?
        session = try command.card.session(inputChannelCount: command.channels) { card in
            if command.simulated.speak != nil {
                speech = AudioRing(channelCount: card.inputChannelCount, capacity: Int(card.sampleRate))
            }
            card.source = speech
            card.driftPPM = command.simulated.drift
            card.script = command.simulated.cardScript?.events ?? []
        }
        device = try session.activate(needing: [.input, .output])
        watchdog = CallbackWatchdog(monitor: device.monitor)
        let rate = device.sampleRate
        feeder = try command.simulated.speak.flatMap { path in
            try speech.map { FileFeeder(try SoundFiles.open(path), into: $0, sampleRate: rate) }
        }
        spoken = MonitorTape(sampleRate: rate)
        let channels = min(2, device.outputChannelCount)
        let ring = command.record == nil ? nil : AudioRing(channelCount: channels, capacity: Int(rate))
        heard = MonitorTape(sampleRate: rate, ring: ring)
        if let path = command.record, let ring {
            let format = AudioFormat(sampleRate: rate, channelCount: channels)
            let limit = command.duration.map { max(1, Int(($0 * rate).rounded())) }
            recorder = FileRecorder(
                try SoundFileOutput.create(path, format: format), from: ring, maximumFrameCount: limit ?? .max)
            recordingLimit = limit
        } else {
            (recorder, recordingLimit) = (nil, nil)
        }
        try connect(rate: rate, channelCount: channels)
    }

    private func connect(rate: Double, channelCount: Int) throws {
        let stereo = AudioFormat(sampleRate: rate, channelCount: channelCount)
        let voice = AudioMixerNode(name: "voice")
        let (spoken, heard) = (spoken, heard)
        let input = AudioSinkNode(name: "input meter") { spoken.take($0, $1, $2) }
        let tape = AudioSinkNode(name: "tape") { heard.take($0, $1, $2) }
        for node in [voice, input, tape] { try engine.attach(node) }
        // The effects get the channels of the output, since a reverb's output has as many channels as its input.
        try engine.connectInSeries(effects, to: voice, format: stereo)
        try engine.connect(engine.inputNode, to: input)
        try engine.connect(voice, to: tape, format: stereo)
        try engine.connect(voice, to: engine.mainMixerNode)
        engine.mainMixerNode.outputVolume = volume
    }

    func start() throws {
        feeder?.prime()
        try feeder?.start()
        try recorder?.start()
        try engine.start(on: device)
        effectsLatency = engine.paths.filter { $0.nodes.last == engine.outputNode.name }.map(\.latency).max() ?? 0
    }

    /// Lowers the output by 12 dB if a new howl was detected.
    /// - Returns: true if there was a new howl.
    func reduceHowl() -> Bool {
        guard heard.howlCount > handledHowlCount else { return false }
        handledHowlCount = heard.howlCount
        reduction *= 0.25
        engine.mainMixerNode.outputVolume = volume * reduction
        return true
    }

    /// True if the recording has the requested length; also if no length is requested or nothing is recorded.
    var isRecordingComplete: Bool { recordingLimit.map { (recorder?.frameCount ?? $0) >= $0 } ?? true }

    /// Closes the card and completes the file.
    func close() {
        engine.stop()
        session.deactivate()
        recorder?.stop()
        feeder?.stop()
    }

    /// The peaks of the microphone and of the heard sound; 1 is full scale.
    var peaks: (input: Float, output: Float) { (spoken.peak.load(), heard.peak.load() * volume * reduction) }

    /// The delay from mouth to ear, with the parts of the device and of the effects.
    var delay: MonitorReport.Delay {
        MonitorReport.Delay(
            inputMs: device.inputLatency * 1e3, outputMs: device.outputLatency * 1e3, effectsMs: effectsLatency * 1e3)
    }
}

extension AudioRoute {
    /// The warning that a loudspeaker feeds back into the microphone; nil for headphones, a virtual output, or an input that is
    /// the monitor of an output.
    var feedbackWarning: String? {
        guard let output, !output.isWorn, output.transport != .virtual || output.form == .speaker,
            input?.form != .monitor
        else { return nil }
        return "Use headphones: a loudspeaker feeds back into the microphone."
    }
}
