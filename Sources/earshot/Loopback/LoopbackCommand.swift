// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotDiagnostics

struct LoopbackCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "loopback", abstract: "Hear your own microphone, with a delay that is stated and can be measured.",
        discussion: """
            Plays the microphone through to the headphones until Ctrl-C. Use headphones: an open loudspeaker feeds back into
            an open microphone; a howl is turned down by 12 dB, each time. With --measure a short sweep is played instead,
            and its way from output to input timed: join them with a cable, or with a link in the sound server. The simulated
            card's output is joined to its input.
            """)

    @OptionGroup(title: "Sound card")
    var card: DeviceOptions

    @Option(help: ArgumentHelp("Delay the sound by so much besides, 0 to 2000 ms.", valueName: "ms"))
    var delay = 0.0

    @Option(help: ArgumentHelp("Turn the sound up or down, −60 to 24 dB.", valueName: "dB"))
    var gain = 0.0

    @Option(help: ArgumentHelp("Microphones to hear, 1 to 32.", valueName: "count"))
    var channels = 1

    @Option(
        defaultAsFlag: 3,
        help: ArgumentHelp(
            "Measure the round trip so many times, 1 to 100; then end, unless --duration is given.", valueName: "count")
    )
    var measure: Int?

    @Option(help: ArgumentHelp("End after this many seconds.", valueName: "seconds"))
    var duration: Double?

    @Flag(help: "Print one JSON report on standard output at the end.")
    var json = false

    func validate() throws {
        guard (0...Loopback.maximumExtraDelay * 1e3).contains(delay) else {
            throw ValidationError("--delay takes 0 to 2000 (ms)")
        }
        guard (-60...24).contains(gain) else { throw ValidationError("--gain takes -60 to 24 (dB)") }
        guard (1...32).contains(channels) else { throw ValidationError("--channels takes 1 to 32") }
        if let measure, !(1...100).contains(measure) { throw ValidationError("--measure takes 1 to 100 times") }
        if let duration, !(duration > 0 && duration <= 86_400 * 365) {
            throw ValidationError("--duration takes a number of seconds above 0")
        }
    }

    func run() throws {
        try Failure.reporting {
            Interrupt.watch()
            try LoopbackRunner(self).run()
        }
    }
}
