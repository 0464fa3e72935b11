import AudioSession
import Call
import Foundation

/// Keeps voice processing as the route wants it while a call runs, and says so.
struct VoiceWatch {
    private let voice: CallVoice?
    private let mode: VoiceProcessingMode
    private let card: SoundCard
    private let channelCount: Int
    private var told: VoiceProcessingChoice?
    private var isLeft = false

    init(_ voice: CallVoice?, mode: VoiceProcessingMode, card: SoundCard, channelCount: Int) {
        self.voice = voice
        self.mode = mode
        self.card = card
        self.channelCount = channelCount
    }

    /// Prints the effects and the delay that they add.
    func tellEffects() {
        guard let effects = voice?.effects else { return }
        Terminal.say(
            "effects: \(effects.names.joined(separator: ", ")); "
                + String(format: "your effects add %.1f ms", effects.latency * 1e3))
    }

    /// Turns voice processing on or off where the route has changed.
    mutating func look() {
        guard let voice, mode != .off, card.input == nil else { return }
        if case .left(let error) = voice.processing {
            if !isLeft { Terminal.warn("\(error)") }
            isLeft = true
            return
        }
        let route = card.session.currentRoute
        // Between two routes there is nothing to decide.
        guard !route.isEmpty else { return }
        let choice = choice(route, voice)
        guard choice != told else { return }
        told = choice
        voice.setProcessing(choice.isOn)
        let cost = choice.isOn ? String(format: "; it adds %.1f ms", voice.processingLatency * 1e3) : ""
        Terminal.say("voice processing: \(choice.isOn ? "on" : "off"), \(choice.reason)\(cost)")
    }

    private func choice(_ route: AudioRoute, _ voice: CallVoice) -> VoiceProcessingChoice {
        let block = card.session.hardware?.blockFrameCount ?? 0
        return VoiceProcessingChoice(
            mode, input: route.input, output: route.output, channelCount: channelCount, blockFrameCount: block,
            maximumBlockFrameCount: voice.blockFrameCount)
    }

    /// For the report; nil where the voice went out as it was.
    var report: CallReport.Voice? {
        guard let voice else { return nil }
        var report = CallReport.Voice(
            effects: voice.effects?.names ?? [], effectsMs: (voice.effects?.latency ?? 0) * 1e3, processing: "off",
            processingMs: 0, lateFrames: voice.lateFrameCount)
        switch voice.processing {
        case .off: report.reason = told?.reason
        case .on:
            (report.processing, report.reason) = ("on", told?.reason)
            report.processingMs = voice.processingLatency * 1e3
        case .left(let error): (report.processing, report.reason) = ("left", "\(error)")
        }
        if let statistics = voice.statistics, statistics.frames > 0 {
            report.costPer10Ms = statistics.cost
            report.echoReductionDb = statistics.enhancement
        }
        return report
    }
}
