// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

struct MonitorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor", abstract: "Hear yourself through effects, and record it.",
        discussion: """
            Plays the microphone through the effects to the headphones until Ctrl-C, and writes what the effects give to a
            file. --volume is for the headphones alone. Use headphones: an open loudspeaker feeds back into an open
            microphone; a howl is turned down by 12 dB, each time.
            """)

    @OptionGroup(title: "Your voice")
    var effect: EffectOptions

    @Option(
        help: ArgumentHelp("Write the sound to this file, of the kind that its ending names.", valueName: "file"),
        completion: .file(extensions: SoundFileOutput.endings))
    var record: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Turn the headphones up or down, −60 to 18 dB.", valueName: "dB"))
    var volume = 0.0

    @Option(help: ArgumentHelp("Microphones to hear, 1 or 2.", valueName: "count"))
    var channels = 1

    @OptionGroup(title: "Sound card")
    var card: DeviceOptions

    @Option(
        name: [.customLong("seconds"), .customLong("duration")],
        help: ArgumentHelp("End after this many seconds.", valueName: "seconds"))
    var seconds: Double?

    @Flag(help: "Print one JSON report on standard output at the end.")
    var json = false

    func validate() throws {
        guard (-60...18).contains(volume) else { throw ValidationError("--volume takes -60 to 18 (dB)") }
        guard (1...2).contains(channels) else { throw ValidationError("--channels takes 1 or 2") }
        if let record { try SoundFileOutput.check(record, option: "--record") }
        if let seconds, !(seconds > 0 && seconds <= 86_400 * 365) {
            throw ValidationError("--seconds takes a number of seconds above 0")
        }
    }

    func run() throws {
        try Failure.reporting {
            Interrupt.watch()
            try MonitorRunner(self).run()
        }
    }
}
