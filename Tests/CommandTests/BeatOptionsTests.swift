// SPDX-License-Identifier: Apache-2.0

import EarshotDuet
import Testing

@testable import earshot

/// The options of a duet's beat.
@Suite struct BeatOptionsTests {
    private func host(_ arguments: String...) throws -> HostDuet {
        try #require(try EarshotCommand.parseAsRoot(["duet", "host"] + arguments) as? HostDuet)
    }

    @Test func `the tempo and the bar of a song's count-in are options`() throws {
        #expect(try host("song.ogg").beat.ofSong == nil && host("song.ogg").beat.metronome == nil)
        #expect(try host("song.ogg", "--tempo", "92.5").beat.ofSong == Beat(tempo: 92.5))
        #expect(try host("song.ogg", "--bar", "3").beat.ofSong == Beat(tempo: 120, beatsPerBar: 3))
        #expect(try host("song.ogg", "--tempo", "160", "--bar", "3").beat.ofSong == Beat(tempo: 160, beatsPerBar: 3))
    }

    @Test func `a beat in place of a song has a tempo, a length and a bar`() throws {
        let standard = try host("--beat", "96")
        #expect(standard.songs.isEmpty && standard.beat.metronome?.beat == Beat(tempo: 96))
        #expect(standard.beat.metronome?.duration == 300)
        let waltz = try #require(try host("--beat", "160", "--bar", "3", "--length", "2m30s").beat.metronome)
        #expect(waltz.beat == Beat(tempo: 160, beatsPerBar: 3) && waltz.duration == 150)
    }

    @Test(
        arguments: [
            (["song.ogg", "--tempo", "0"], "--tempo must be 30 to 300"),
            (["song.ogg", "--tempo", "1000"], "--tempo must be 30 to 300"),
            (["song.ogg", "--tempo", "nan"], "--tempo must be 30 to 300"),
            (["song.ogg", "--bar", "1"], "--bar must be 2 to 8"), (["song.ogg", "--bar", "9"], "--bar must be 2 to 8"),
            (["--beat", "0"], "--beat must be 30 to 300 beats a minute"),
            (["--beat", "1000"], "--beat must be 30 to 300 beats a minute"),
            (["--beat", "96", "--length", "0"], "--length must be 1s to 6h"),
            (["--beat", "96", "--length", "7h"], "--length must be 1s to 6h"),
            (["song.ogg", "--beat", "96"], "A song and --beat exclude each other."),
            (["--beat", "96", "--tempo", "96"], "Omit --tempo."), (["song.ogg", "--length", "5m"], "omit --length"),
            ([], "No song given."),
        ])
    func `a wrong beat is refused in plain words`(arguments: [String], words: String) throws {
        do {
            _ = try EarshotCommand.parseAsRoot(["duet", "host"] + arguments)
            Issue.record("\(arguments) was accepted")
        } catch { #expect(EarshotCommand.message(for: error).contains(words), "\(EarshotCommand.message(for: error))") }
    }
}
