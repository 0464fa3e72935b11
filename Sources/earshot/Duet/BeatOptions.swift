// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotDuet

/// The options of a song's beat.
struct BeatOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Tempo of the song's count-in: 30 to 300 beats a minute. [default: 120]", valueName: "bpm"))
    var tempo: Double?

    @Option(help: ArgumentHelp("Beats in a bar, 2 to 8. The count-in is a bar. [default: 4]", valueName: "count"))
    var bar: Int?

    func validate() throws {
        if let tempo, !Beat.tempos.contains(tempo) {
            throw ValidationError("--tempo must be 30 to 300 beats a minute")
        }
        if let bar, !Beat.bars.contains(bar) { throw ValidationError("--bar must be 2 to 8 beats") }
    }

    /// The beat of a song; nil if unknown.
    var beat: Beat? {
        guard tempo != nil || bar != nil else { return nil }
        var beat = Beat.unknown
        beat.tempo = tempo ?? beat.tempo
        beat.beatsPerBar = bar ?? beat.beatsPerBar
        return beat
    }
}
