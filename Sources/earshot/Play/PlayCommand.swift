// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

struct PlayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play", abstract: "Play sound files, folders, streams and playlists.",
        discussion: """
            Files follow each other without a gap. What cannot be played is told and left out. An address plays a station or a
            file as it comes; while nothing comes there is silence, and the connection is made anew.

            Keys: space pauses, ← → go 5 s back and on, ↓ ↑ 60 s, n and p to the next and previous, + - change the
            volume, ? shows this, q ends.

            earshot play Music --shuffle --loop
            earshot play https://radio.example/live --effect equalizer
            """)

    @Argument(
        help: ArgumentHelp(
            "Sound files, folders, http and https addresses, .m3u and .pls playlists, or - for standard input.",
            valueName: "file"), completion: .file())
    var files: [String]

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Turn the sound up or down, -60 to 18 dB.", valueName: "dB"))
    var volume = 0.0

    @Option(help: ArgumentHelp("Play slower or faster at the same pitch, 0.25 to 4.", valueName: "speed"))
    var rate = 1.0

    @Flag(help: "Begin again after the last; a stream that failed is tried again too, later each time.")
    var loop = false

    @Flag(help: "Play in an order left to chance, each once before any comes again.")
    var shuffle = false

    @Option(help: ArgumentHelp("The same number shuffles alike again.", valueName: "number"))
    var seed: UInt64?

    @Option(help: ArgumentHelp("Begin so far in the first file.", valueName: "seconds"))
    var start = 0.0

    @Option(
        name: [.customLong("seconds"), .customLong("duration")],
        help: ArgumentHelp("End after this many seconds.", valueName: "seconds"))
    var seconds: Double?

    @Option(
        name: .customLong("effect"),
        help: ArgumentHelp(
            "Send the sound through an effect: NAME[:preset][,parameter=value…], such as equalizer:voice or reverb:large-hall,mix=20; lv2:URI for a plug-in. Several are passed in order.",
            valueName: "effect"))
    var effects: [String] = []

    @OptionGroup(title: "Sound card")
    var card: OutputOptions

    @Flag(help: "Print one JSON report on standard output at the end.")
    var json = false

    func validate() throws {
        guard (-60...18).contains(volume) else { throw ValidationError("--volume takes -60 to 18 (dB)") }
        guard (0.25...4).contains(rate) else {
            throw ValidationError("--rate takes 0.25 to 4 (times as fast); the device's own rate is --device-rate")
        }
        if seed != nil, !shuffle { throw ValidationError("--seed belongs to --shuffle") }
        guard start >= 0, start < 1e7 else { throw ValidationError("--start takes a number of seconds, 0 or more") }
        if let seconds, !(seconds > 0 && seconds <= 86_400 * 365) {
            throw ValidationError("--seconds takes a number of seconds above 0")
        }
        for effect in effects { _ = try EffectParser.effect(effect) }
    }

    func run() throws {
        try Failure.reporting {
            Interrupt.watch()
            try PlayRunner(self).run()
        }
    }
}
