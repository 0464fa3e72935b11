// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotLiveCall

/// The sentences about the accompaniment of a call.
enum AccompanimentSentences {
    static let none = "No accompaniment. Load one: earshot call accompany FILE"
    static let ended = "The accompaniment is off."

    /// Returns the accompaniment as `Song, playing at 0:12 of 3:20, only for you`.
    static func text(_ song: AccompanimentDocument) -> String {
        let place = (song.itemCount ?? 0) > 1 ? " (\(song.item ?? 1) of \(song.itemCount ?? 1))" : ""
        let state = song.isPlaying ? "playing" : "paused"
        let volume = song.volume == 1 ? "" : ", \(VolumeSentences.text(song.volume))"
        return
            "\(TerminalText.sanitizedLine(song.title))\(place), \(state) at \(times(song)), \(audience(song))\(volume)"
    }

    /// Returns the line about the accompaniment in the status of a call.
    static func status(_ song: AccompanimentDocument?) -> String { song.map { "Accompaniment: \(text($0))" } ?? none }

    static func changed(_ song: AccompanimentDocument?) -> String {
        song.map { "Accompaniment: \(text($0))." } ?? ended
    }

    /// Returns the sentence after files were loaded.
    static func loaded(_ song: AccompanimentDocument) -> String {
        "\(changed(song)) Play it: earshot call accompany play"
    }

    /// Returns the position and the length as `0:12 of 3:20`.
    static func times(_ song: AccompanimentDocument, separator: String = " of ") -> String {
        PlayLine.clock(song.seconds) + (song.duration.map { separator + PlayLine.clock($0) } ?? "")
    }

    static func audience(_ song: AccompanimentDocument) -> String { song.isForAll ? "for all" : "only for you" }

    /// Returns the part of a status line as `♪ Song 0:12/3:20 for all`.
    /// - Parameter limit: the maximum columns of the title; 0 for none.
    static func line(_ song: AccompanimentDocument, titleLimit limit: Int) -> String {
        let title = limit > 0 ? " \(PlayLine.fit(TerminalText.sanitizedLine(song.title), limit))" : ""
        let volume = song.volume == 1 ? "" : " \(VolumeSentences.text(song.volume))"
        let forAll = song.isForAll ? " for all" : ""
        return "\(song.isPlaying ? "♪" : "‖")\(title) \(times(song, separator: "/"))\(forAll)\(volume)"
    }
}

/// Chooses the changes of the accompaniment that a terminal prints. With a status line, it omits those of position and volume.
struct AccompanimentNotices {
    private var last: AccompanimentDocument?

    /// Returns the sentence about a change; nil if there is nothing to print.
    mutating func sentence(_ song: AccompanimentDocument?, hasStatusLine: Bool) -> String? {
        defer { last = song }
        if hasStatusLine, let song, let last, song.file == last.file, song.isPlaying == last.isPlaying,
            song.isForAll == last.isForAll, song.itemCount == last.itemCount
        {
            return nil
        }
        return AccompanimentSentences.changed(song)
    }
}
