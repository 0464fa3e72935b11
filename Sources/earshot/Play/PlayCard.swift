// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioDevices
import EarshotAudioEngine
import EarshotAudioQueues
import EarshotAudioSession
import Foundation

/// The graph of `earshot play`: player → effects → the main mixer with the volume → loudspeaker.
final class PlayCard: SessionCard {
    let session: AudioSession
    let device: any AudioDevice
    let watchdog: CallbackWatchdog
    let effects: [AudioUnitEffect]
    let player: AudioPlayer
    private let engine = AudioEngine()
    let asked: SystemOptions
    private let loudspeaker: LoudspeakerOptions
    private var decayingPeak: Float = 0

    /// - Parameter hasKeys: true if the user has keys to resume playback. Then unplugging headphones pauses playback.
    init(_ command: PlayCommand, hasKeys: Bool) throws {
        asked = try command.card.system()
        loudspeaker = command.card.loudspeaker
        effects = try command.effects.map { try EffectOptions.effect($0) }
        let system: any AudioSystem =
            asked.device == .simulated
            ? SimulatedSystem.standard(
                SimulatedCard.Configuration(
                    sampleRate: asked.rate ?? 48_000, blockFrameCount: asked.block ?? 1_024, inputChannelCount: 0,
                    outputChannelCount: 2))
            : try asked.makeSystem()
        var sessionConfiguration = try asked.configuration(on: system)
        try loudspeaker.apply(to: &sessionConfiguration, channelCount: 2, on: system)
        sessionConfiguration.inputChannelCount = 0
        sessionConfiguration.category = .playback
        sessionConfiguration.preferredIOBufferDuration = 0.02
        if !hasKeys { sessionConfiguration.pausesWhenHeadphonesLeave = false }
        session = AudioSession(system, sessionConfiguration)
        device = try session.activate(needing: [.output])
        watchdog = CallbackWatchdog(monitor: device.monitor)
        let format = AudioFormat(
            sampleRate: device.sampleRate, channelCount: max(1, min(2, device.outputChannelCount)))
        player = try AudioPlayer(format: format, on: engine, name: "play")
        player.rate = command.speed
        volume = command.volume
        try connect(format)
    }

    private func connect(_ format: AudioFormat) throws {
        engine.mainMixerNode.outputVolume = volumeFactor
        guard !effects.isEmpty else { return }
        let (mixer, effects, main) = (player.queue.mixer, effects, engine.mainMixerNode)
        try engine.edit { edit throws(AudioEngineError) in
            try edit.disconnectNodeOutput(mixer)
            var last: AudioNode = mixer
            for effect in effects {
                try edit.attach(effect)
                try edit.connect(last, to: effect, format: last === mixer ? format : nil)
                last = effect
            }
            try edit.connect(last, to: main)
        }
    }

    func start() throws { try engine.start(on: device) }

    /// The volume in decibels.
    var volume = 0.0 { didSet { engine.mainMixerNode.outputVolume = volumeFactor } }
    private var volumeFactor: Float { Float(pow(10, volume / 20)) }

    /// Returns the peak of the heard sound, 1 being full scale. The peak decays with each call.
    func peak() -> Float {
        decayingPeak = max(engine.mainMixerNode.level.peak, decayingPeak * 0.8)
        return decayingPeak
    }

    /// Waits until the loudspeaker has played all rendered sound, at most 1 s.
    func drain() { Thread.sleep(forTimeInterval: min(1, device.outputLatency + 0.05)) }

    func close() {
        player.stop()
        // The player fades out during this wait.
        Thread.sleep(forTimeInterval: min(0.2, 0.03 + device.outputLatency))
        engine.stop()
        session.deactivate()
    }

    var warning: String? { loudspeaker.mapWarning(session.currentRoute) }
}
