// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotDuet

/// The options of a song's beat, and of a beat in place of a song.
struct BeatOptions: ParsableArguments {
    private static let defaultLength = 300.0

    @Option(
        help: ArgumentHelp(
            "Tempo of the song's count-in: 30 to 300 beats a minute. [default: 120]", valueName: "bpm"))
    var tempo: Double?

    @Option(
        help: ArgumentHelp(
            "Sing to a metronome in place of a song: 30 to 300 beats a minute. It is not in the mix.",
            valueName: "bpm"))
    var beat: Double?

    @Option(
        help: ArgumentHelp("With --beat: the length, 1s to 6h. [default: 5m]", valueName: "time"),
        transform: TimeArgument.from0)
    var length: Double?

    @Option(help: ArgumentHelp("Beats in a bar, 2 to 8. The count-in is a bar. [default: 4]", valueName: "count"))
    var bar: Int?

    func validate() throws {
        for (name, tempo) in [("--tempo", tempo), ("--beat", beat)] {
            if let tempo, !Beat.tempos.contains(tempo) {
                throw ValidationError("\(name) must be 30 to 300 beats a minute")
            }
        }
        if let bar, !Beat.bars.contains(bar) { throw ValidationError("--bar must be 2 to 8 beats") }
        if let length, !(DuetSong.shortestDuration...DuetSong.longestDuration).contains(length) {
            throw ValidationError("--length must be 1s to 6h")
        }
    }

    /// Throws unless there is either a song or a beat, with the options of that one.
    func check(song: String?) throws {
        if song == nil, beat == nil {
            throw ValidationError("No song given. Name a sound file, or sing to a metronome: --beat 96")
        }
        if song != nil, beat != nil {
            throw ValidationError("A song and --beat exclude each other. For the song's count-in use --tempo.")
        }
        if beat != nil, tempo != nil { throw ValidationError("--beat has the tempo already. Omit --tempo.") }
        if beat == nil, length != nil {
            throw ValidationError("--length is for --beat. A song has its own length, so omit --length.")
        }
    }

    /// The beat of a song; nil if unknown.
    var ofSong: Beat? {
        guard tempo != nil || bar != nil else { return nil }
        return Beat(tempo: tempo ?? Beat.unknown.tempo, beatsPerBar: bar ?? Beat.unknown.beatsPerBar)
    }

    /// The beat in place of a song, and its seconds; nil for a song.
    var metronome: (beat: Beat, duration: Double)? {
        guard let beat else { return nil }
        return (Beat(tempo: beat, beatsPerBar: bar ?? Beat.unknown.beatsPerBar), length ?? Self.defaultLength)
    }
}
