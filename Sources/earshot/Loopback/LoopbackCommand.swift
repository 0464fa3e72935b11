// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotDiagnostics

struct LoopbackCommand: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "loopback", abstract: "Play the microphone to the headphones and measure the delay.",
        discussion: """
            Use headphones: a loudspeaker feeds back into the microphone. Feedback is detected and lowered by 12 dB. --measure plays a short sweep and times it from output to input; connect them with a cable.
            """)

    static let examples = [
        CommandExample("Hear yourself", "earshot loopback --gain -6"),
        CommandExample("Measure the round trip of a cable", "earshot loopback --measure --device jack"),
    ]

    @OptionGroup(title: "Audio device")
    var card: DeviceOptions

    @Option(help: ArgumentHelp("Additional delay, 0 to 2000 ms.", valueName: "ms"))
    var delay = 0.0

    @Option(help: ArgumentHelp("Gain, -60 to 24 dB.", valueName: "dB"))
    var gain = 0.0

    @Option(help: ArgumentHelp("Microphone channels to play, 1 to 32.", valueName: "count"))
    var channels = 1

    @Option(
        defaultAsFlag: 3,
        help: ArgumentHelp(
            "Measure the round trip this many times, 1 to 100, then exit. With --duration, exit after that time instead.",
            valueName: "count")
    )
    var measure: Int?

    @Option(
        help: ArgumentHelp("Stop after this long: 30s, 2m, 1h.", valueName: "time"), transform: TimeArgument.above0)
    var duration: Double?

    @Flag(name: .lettered("json"), help: "Print a JSON report on standard output at the end.")
    var json = false

    @OptionGroup(title: "General") var general: GeneralOptions

    func validate() throws {
        guard (0...Loopback.maximumExtraDelay * 1e3).contains(delay) else {
            throw ValidationError("--delay must be 0 to 2000 (ms)")
        }
        guard (-60...24).contains(gain) else { throw ValidationError("--gain must be -60 to 24 (dB)") }
        guard (1...32).contains(channels) else { throw ValidationError("--channels must be 1 to 32") }
        if let measure, !(1...100).contains(measure) { throw ValidationError("--measure must be 1 to 100") }
    }

    func run() throws {
        try Failure.reporting {
            Interrupt.watch()
            try LoopbackRunner(self).run()
        }
    }
}
