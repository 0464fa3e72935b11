// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

struct MonitorCommand: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor", abstract: "Play the microphone through effects and record it.",
        discussion: """
            Use headphones: a loudspeaker feeds back into the microphone. Feedback is detected and lowered by 12 dB. --volume changes the headphones only, not the recording.
            """)

    static let examples = [
        CommandExample("Sing with reverb", "earshot monitor --effect reverb:large-hall,mix=20"),
        CommandExample("Record what you hear", "earshot monitor --effect equalizer:voice --record voice.flac"),
    ]

    @OptionGroup(title: "Voice")
    var effect: EffectOptions

    @Option(
        help: ArgumentHelp("File to record to; its extension names the format.", valueName: "file"),
        completion: .file(extensions: SoundFileOutput.endings))
    var record: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Headphone volume, -60 to 18 dB.", valueName: "dB"))
    var volume = 0.0

    @Option(help: ArgumentHelp("Microphone channels to play, 1 or 2.", valueName: "count"))
    var channels = 1

    @OptionGroup(title: "Audio device")
    var card: DeviceOptions

    @OptionGroup(title: "Simulated device")
    var simulated: SimulatedOptions

    @Option(
        help: ArgumentHelp("Stop after this long: 30s, 2m, 1h.", valueName: "time"),
        transform: TimeArgument.above0)
    var duration: Double?

    @Flag(name: .lettered("json"), help: "Print a JSON report on standard output at the end.")
    var json = false

    @OptionGroup var existing: OverwriteOptions

    @OptionGroup(title: "General") var general: GeneralOptions

    func validate() throws {
        try simulated.check(card.device)
        guard (-60...18).contains(volume) else { throw ValidationError("--volume must be -60 to 18 (dB)") }
        guard (1...2).contains(channels) else { throw ValidationError("--channels must be 1 or 2") }
        if let record { try SoundFileOutput.check(record, option: "--record") }
    }

    func run() throws {
        try Failure.reporting {
            Interrupt.watch()
            if let record { try existing.check(record) }
            try MonitorRunner(self).run()
        }
    }
}
