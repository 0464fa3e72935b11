// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioBase
import EarshotAudioEngine
import EarshotCall

extension VoiceProcessingMode: ExpressibleByArgument {}

/// The processing of the local voice in a call.
struct VoiceOptions: ParsableArguments {
    @OptionGroup var effect: EffectOptions

    @Option(
        help: ArgumentHelp(
            "Remove echo and noise; adds about 30 ms. auto: only with a loudspeaker.", valueName: "mode"))
    var voiceProcessing = VoiceProcessingMode.auto

    @Option(
        help: ArgumentHelp(
            "Hear yourself, with your effects. auto: with headphones, if the round trip is below 15 ms.",
            valueName: "mode"))
    var monitor = VoiceProcessingMode.auto

    /// Returns the processing of the local voice for the session's device; nil for none.
    func makeVoice(_ card: SoundCard, channelCount: Int) throws -> CallVoice? {
        let effects = try effect.effects()
        let canProcess = voiceProcessing != .off && card.input == nil
        if effects.isEmpty, !canProcess { return nil }
        let format = AudioFormat(sampleRate: card.device.sampleRate, channelCount: channelCount)
        return CallVoice(
            effects: try effects.isEmpty ? nil : CallEffects(EffectChain(effects, format: format)),
            canProcess: canProcess, sampleRate: format.sampleRate, channelCount: channelCount,
            blockFrameCount: card.device.blockFrameCount)
    }
}

extension CallEffects {
    init(_ chain: EffectChain) {
        self.init(names: chain.effects.map(\.unit.name), latency: chain.latency, callback: chain.callback, owner: chain)
    }
}
