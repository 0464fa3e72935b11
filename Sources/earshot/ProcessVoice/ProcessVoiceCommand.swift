// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotVoiceProcessing
import Foundation

struct ProcessVoiceCommand: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "process-voice",
        abstract: "Remove echo and noise from a recording.",
        discussion: """
            Does over files what 'host' and 'join' do in a call. --mic and --reference begin at the same instant. The output is mono, at 8, 16, 32 or 48 kHz, without the processing delay.
            """)

    static let examples = [
        CommandExample(
            "Remove the loudspeaker's echo",
            "earshot process-voice --mic mic.wav --reference speaker.wav --output voice.wav"),
        CommandExample(
            "Remove noise only", "earshot process-voice --mic mic.wav --no-echo-cancellation --output voice.wav"),
    ]

    @Option(help: ArgumentHelp("Recording of the microphone.", valueName: "file"), completion: .file())
    var mic: String

    @Option(help: ArgumentHelp("Recording of what the loudspeaker played.", valueName: "file"), completion: .file())
    var reference: String?

    @Option(
        name: .lettered("output"),
        help: ArgumentHelp("Output file; its extension names the format.", valueName: "file"),
        completion: .file(extensions: SoundFileOutput.endings))
    var output: String

    @Flag(help: "Keep the echo; no --reference is needed.")
    var noEchoCancellation = false

    @Option(
        help: ArgumentHelp(
            "Suppression of residual echo. low keeps more of simultaneous speech.",
            valueName: "level"))
    var echoSuppression = EchoLevel.low

    @Option(help: ArgumentHelp("Suppression of steady noise.", valueName: "level"))
    var noiseSuppression = NoiseLevel.moderate

    @Option(help: ArgumentHelp("Automatic gain control: off, adaptive or fixed.", valueName: "mode"))
    var gainControl = GainMode.off

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Target peak of gain control, -31 to 0 dBFS. [default: -3]", valueName: "dB"))
    var gainTarget: Int?

    @Flag(help: "Keep frequencies below the voice.")
    var noHighPass = false

    @Flag(name: .lettered("json"), help: "Print a JSON report on standard output.")
    var json = false

    @OptionGroup var existing: OverwriteOptions

    @OptionGroup(title: "General") var general: GeneralOptions

    enum EchoLevel: String, ExpressibleByArgument, CaseIterable { case low, moderate, high }
    enum NoiseLevel: String, ExpressibleByArgument, CaseIterable {
        case off, low, moderate, high
        case veryHigh = "very-high"
    }
    enum GainMode: String, ExpressibleByArgument, CaseIterable { case off, adaptive, fixed }

    var options: VoiceProcessingOptions {
        let echo: VoiceProcessingOptions.EchoSuppression =
            switch echoSuppression {
            case .low: .low
            case .moderate: .moderate
            case .high: .high
            }
        let noise: VoiceProcessingOptions.NoiseSuppression? =
            switch noiseSuppression {
            case .off: nil
            case .low: .low
            case .moderate: .moderate
            case .high: .high
            case .veryHigh: .veryHigh
            }
        let gain: VoiceProcessingOptions.GainControl? =
            switch gainControl {
            case .off: nil
            case .adaptive: .init(mode: .adaptive, target: gainTarget ?? -3)
            case .fixed: .init(mode: .fixed, target: gainTarget ?? -3)
            }
        return VoiceProcessingOptions(
            echo: noEchoCancellation ? nil : echo, noise: noise, gainControl: gain, highPass: !noHighPass)
    }

    func validate() throws {
        guard noEchoCancellation || reference != nil else {
            throw ValidationError(
                "process-voice needs --reference FILE (what the loudspeaker played) or --no-echo-cancellation")
        }
        if let gainTarget {
            guard (-31...0).contains(gainTarget) else { throw ValidationError("--gain-target must be -31 to 0 (dB)") }
            guard gainControl != .off else {
                throw ValidationError("--gain-target needs --gain-control adaptive or fixed")
            }
        }
        try SoundFileOutput.check(output, option: "--output")
    }

    func run() throws {
        try Failure.reporting {
            Interrupt.watch()
            let report = try VoiceFiles(self).process()
            if json {
                try Terminal.output(report.json())
            } else {
                try Terminal.output(report.summary)
            }
            if report.ended == "interrupted" { throw ExitCode(Interrupt.exitStatus) }
        }
    }
}
