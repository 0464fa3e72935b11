// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A choice from a list of songs by a few letters.
struct SongChoice {
    enum Result: Equatable {
        case chosen(String)
        case cancelled
    }

    /// The paths of the songs, relative to the folder.
    private(set) var songs: [String]
    private(set) var typed = ""
    /// The selected song among ``matches``.
    private(set) var selection = 0

    /// - Parameter first: the songs that come first, in this order.
    init(_ songs: [String], first: [String] = []) { self.songs = Self.ordered(songs, first: first) }

    /// Sets the songs, and keeps the typed letters.
    mutating func setSongs(_ songs: [String], first: [String]) {
        (self.songs, selection) = (Self.ordered(songs, first: first), 0)
    }

    private static func ordered(_ songs: [String], first: [String]) -> [String] {
        first + songs.filter { !first.contains($0) }.sorted { $0.localizedStandardCompare($1) == .orderedAscending }
    }

    /// The songs whose names contain all typed words, whatever the case and the accents.
    var matches: [String] {
        let words = typed.split(separator: " ")
        return songs.filter { song in words.allSatisfy { song.localizedStandardContains($0) } }
    }

    /// The line that shows the choice.
    var line: String {
        let matches = matches
        guard matches.indices.contains(selection) else { return "Song: \(typed)▏ no such song" }
        let place = matches.count == 1 ? "" : "  \(selection + 1) of \(matches.count), ↑ ↓"
        return "Song: \(typed)▏ \(TerminalText.sanitizedLine(matches[selection]))\(place)"
    }

    /// Handles a key. Returns nil until the user has decided.
    mutating func take(_ key: Key) -> Result? {
        switch key {
        case .escape: return .cancelled
        case .enter: return matches.indices.contains(selection) ? .chosen(matches[selection]) : nil
        case .up: selection = max(0, selection - 1)
        case .down: selection = min(max(0, matches.count - 1), selection + 1)
        case .backspace, .delete:
            if !typed.isEmpty { typed.removeLast() }
            selection = 0
        case .clear: (typed, selection) = ("", 0)
        case .character(let character):
            if typed.count < 100 { typed.append(character) }
            selection = 0
        default: break
        }
        return nil
    }
}
