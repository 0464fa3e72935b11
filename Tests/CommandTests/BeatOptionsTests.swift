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
        #expect(try host("song.ogg").beat.beat == nil)
        #expect(try host("song.ogg", "--tempo", "92.5").beat.beat == Beat(tempo: 92.5))
        #expect(try host("song.ogg", "--bar", "3").beat.beat == Beat(tempo: 120, beatsPerBar: 3))
        #expect(try host("song.ogg", "--tempo", "160", "--bar", "3").beat.beat == Beat(tempo: 160, beatsPerBar: 3))
    }

    @Test(
        arguments: [
            (["song.ogg", "--tempo", "0"], "--tempo must be 30 to 300"),
            (["song.ogg", "--tempo", "1000"], "--tempo must be 30 to 300"),
            (["song.ogg", "--tempo", "nan"], "--tempo must be 30 to 300"),
            (["song.ogg", "--bar", "1"], "--bar must be 2 to 8"), (["song.ogg", "--bar", "9"], "--bar must be 2 to 8"),
        ])
    func `a wrong beat is refused in plain words`(arguments: [String], words: String) throws {
        do {
            _ = try EarshotCommand.parseAsRoot(["duet", "host"] + arguments)
            Issue.record("\(arguments) was accepted")
        } catch { #expect(EarshotCommand.message(for: error).contains(words), "\(EarshotCommand.message(for: error))") }
    }
}
