import ArgumentParser
import AudioEngine
import Call

extension VoiceProcessingMode: ExpressibleByArgument {}

/// What becomes of one's own voice in a call.
struct VoiceOptions: ParsableArguments {
    @OptionGroup var effect: EffectOptions

    @Option(
        help:
            "Take echo and noise out of the microphone, at a cost of some 30 ms: auto (with a loudspeaker and an open microphone), on, off."
    )
    var voiceProcessing = VoiceProcessingMode.auto

    /// Nil where the voice goes out as it is. Made for the session's device.
    func makeVoice(_ card: SoundCard, channelCount: Int) throws -> CallVoice? {
        let effects = try effect.effects()
        let canProcess = voiceProcessing != .off && card.input == nil
        if effects.isEmpty, !canProcess { return nil }
        return try CallVoice(
            effects: effects, canProcess: canProcess, sampleRate: card.device.sampleRate,
            channelCount: channelCount, blockFrameCount: card.device.blockFrameCount)
    }
}
