// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import earshot

/// The choice of a song by a few letters.
@Suite struct SongChoiceTests {
    @Test func `letters, arrows and Enter choose a song`() {
        var choice = SongChoice(["b/Blue Moon.ogg", "a/Moon River.mp3", "Ö 10.wav", "Ö 9.wav"])
        #expect(choice.songs == ["a/Moon River.mp3", "b/Blue Moon.ogg", "Ö 9.wav", "Ö 10.wav"])
        #expect(choice.line == "Song: ▏ a/Moon River.mp3  1 of 4, ↑ ↓")
        for letter in "moon" { #expect(choice.take(.character(letter)) == nil) }
        #expect(choice.matches.count == 2 && choice.line == "Song: moon▏ a/Moon River.mp3  1 of 2, ↑ ↓")
        #expect(choice.take(.down) == nil && choice.take(.down) == nil)
        #expect(choice.line == "Song: moon▏ b/Blue Moon.ogg  2 of 2, ↑ ↓")
        for letter in " blue" { #expect(choice.take(.character(letter)) == nil) }
        #expect(choice.line == "Song: moon blue▏ b/Blue Moon.ogg")
        #expect(choice.take(.enter) == .chosen("b/Blue Moon.ogg"))
        #expect(choice.take(.character("x")) == nil && choice.line == "Song: moon bluex▏ no such song")
        #expect(choice.take(.enter) == nil && choice.take(.backspace) == nil)
        #expect(choice.take(.enter) == .chosen("b/Blue Moon.ogg") && choice.take(.escape) == .cancelled)
        #expect(choice.take(.down) == nil && choice.take(.clear) == nil)
        #expect(choice.line == "Song: ▏ a/Moon River.mp3  1 of 4, ↑ ↓")
        // The songs of a command line come first, and typed letters stay.
        choice = SongChoice([])
        for letter in "blue" { #expect(choice.take(.character(letter)) == nil) }
        choice.setSongs(["a.ogg", "blue b.ogg", "blue a.ogg"], first: ["blue c.ogg", "blue b.ogg"])
        #expect(choice.matches == ["blue c.ogg", "blue b.ogg", "blue a.ogg"] && choice.songs.count == 4)
        #expect(choice.take(.enter) == .chosen("blue c.ogg"))
        choice = SongChoice([])
        #expect(choice.take(.down) == nil && choice.take(.enter) == nil)
    }
}
