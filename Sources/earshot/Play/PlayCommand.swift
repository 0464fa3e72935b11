// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

struct PlayCommand: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "play", abstract: "Play audio files, folders, streams and playlists.",
        discussion: """
            Files follow each other without a gap. A file that cannot be played is reported and skipped. A stream that stops is reconnected. In the folder of a recorded call or of a take of a duet, only the mix is played.
            Keys: space pause, left and right 5 s, up and down 60 s, n next, p previous, + and - volume, ? help, q quit.
            """)

    static let examples = [
        CommandExample("Play a folder in random order", "earshot play Music --shuffle --loop"),
        CommandExample(
            "Play a station through an effect", "earshot play https://radio.example/live --effect equalizer"),
    ]

    @Argument(
        help: ArgumentHelp(
            "Audio files, folders, http and https URLs, .m3u and .pls playlists, or - for standard input.",
            valueName: "file"), completion: .file())
    var files: [String]

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Volume, -60 to 18 dB.", valueName: "dB"))
    var volume = 0.0

    @Option(help: ArgumentHelp("Playback speed at constant pitch, 0.25 to 4.", valueName: "speed"))
    var speed = 1.0

    @Flag(help: "Repeat after the last file; retry failed streams.")
    var loop = false

    @Flag(help: "Play in random order, each file once per round.")
    var shuffle = false

    @Option(help: ArgumentHelp("Seed of --shuffle: the same number gives the same order.", valueName: "number"))
    var seed: UInt64?

    @Option(
        help: ArgumentHelp("Start position in the first file. [default: 0]", valueName: "time"),
        transform: TimeArgument.from0)
    var start = 0.0

    @Option(
        help: ArgumentHelp("Stop after this long: 30s, 2m, 1h.", valueName: "time"),
        transform: TimeArgument.above0)
    var duration: Double?

    @Option(
        name: .lettered("effect"),
        help: ArgumentHelp(
            "Apply an effect: NAME[:preset][,parameter=value…], such as equalizer:voice. LV2 plug-in: lv2:URI. Repeat to chain.",
            valueName: "effect"))
    var effects: [String] = []

    @OptionGroup(title: "Audio device")
    var card: OutputOptions

    @Flag(name: .lettered("json"), help: "Print a JSON report on standard output at the end.")
    var json = false

    @OptionGroup(title: "General") var general: GeneralOptions

    func validate() throws {
        guard (-60...18).contains(volume) else { throw ValidationError("--volume must be -60 to 18 (dB)") }
        guard (0.25...4).contains(speed) else { throw ValidationError("--speed must be 0.25 to 4") }
        if seed != nil, !shuffle { throw ValidationError("--seed needs --shuffle") }
        for effect in effects { _ = try EffectOptions.effect(effect) }
    }

    func run() throws {
        try Failure.reporting {
            Interrupt.watch()
            try PlayRunner(self).run()
        }
    }
}
