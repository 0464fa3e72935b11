// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotVoiceProcessing
import Foundation

struct ProcessVoiceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "process-voice",
        abstract: "Take echo and noise out of a recorded microphone.",
        discussion: """
            What `host` and `join` do in a call, over files: --mic is what a microphone heard, --reference what the loudspeaker
            beside it played, both from the same instant. The result is as long as the longer, mono, at 8, 16, 32 or 48 kHz,
            whichever keeps the microphone's band; its delay is taken out.
            """)

    @Option(help: ArgumentHelp("What the microphone heard.", valueName: "file"), completion: .file())
    var mic: String

    @Option(help: ArgumentHelp("What the loudspeaker played.", valueName: "file"), completion: .file())
    var reference: String?

    @Option(
        help: ArgumentHelp("Write the result to this file, of the kind that its ending names.", valueName: "file"),
        completion: .file(extensions: SoundFileOutput.endings))
    var output: String

    @Flag(help: "Leave the echo in; no --reference is needed.")
    var noEchoCancellation = false

    @Option(
        help: ArgumentHelp(
            "How hard to press down what is left of the echo: low keeps more of who talks at the same time.",
            valueName: "low|moderate|high"))
    var echoSuppression = EchoLevel.low

    @Option(help: ArgumentHelp("How far to lower steady noise.", valueName: "off|low|moderate|high|very-high"))
    var noiseSuppression = NoiseLevel.moderate

    @Option(help: ArgumentHelp("Bring who talks to one level.", valueName: "off|adaptive|fixed"))
    var gainControl = GainMode.off

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The peak that gain control aims at, -31 to 0 dB. Default: -3.", valueName: "dB"))
    var gainTarget: Int?

    @Flag(help: "Leave in what is below the voice.")
    var noHighPass = false

    @Flag(help: "Print one JSON report on standard output.")
    var json = false

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
                "process-voice takes --reference FILE, what the loudspeaker played, or --no-echo-cancellation")
        }
        if let gainTarget {
            guard (-31...0).contains(gainTarget) else { throw ValidationError("--gain-target takes -31 to 0 (dB)") }
            guard gainControl != .off else {
                throw ValidationError("--gain-target belongs to --gain-control adaptive or fixed")
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
                try Terminal.output(report.words)
            }
            if report.ended == "interrupted" { throw ExitCode(Interrupt.exitStatus) }
        }
    }
}
