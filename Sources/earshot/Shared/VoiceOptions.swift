// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotCall
import EarshotLiveCall

extension VoiceProcessingMode: ExpressibleByArgument {}
extension MonitorMode: ExpressibleByArgument {}

/// The processing of the local voice in a call.
struct VoiceOptions: ParsableArguments {
    @OptionGroup var effect: EffectOptions

    @Option(
        help: ArgumentHelp(
            "Remove echo and noise; adds about 30 ms. auto: only with a loudspeaker.", valueName: "mode"))
    var voiceProcessing = VoiceProcessingMode.auto

    @Option(
        help: ArgumentHelp(
            "Hear yourself, with your effects. auto: with headphones, if the round trip is below 15 ms. equal: as late as you hear the others.",
            valueName: "mode"))
    var monitor = MonitorMode.auto

    /// Returns the processing of the local voice for the session's device; nil for none.
    func makeVoice(_ card: SoundCard) -> CallVoice? {
        guard voiceProcessing != .off, card.input == nil else { return nil }
        return CallVoice(
            canProcess: true, sampleRate: card.device.sampleRate, blockFrameCount: card.device.blockFrameCount)
    }

    /// Gives the local voice its first effects, before the call is in a room.
    func addEffects(to call: LiveCall) throws {
        guard !effect.descriptions.isEmpty else { return }
        do throws(CommandRefusal) {
            try call.perform(.setEffects(effect.descriptions))
        } catch {
            if case .effect(let error) = error { throw Failure(error) }
        }
    }
}
