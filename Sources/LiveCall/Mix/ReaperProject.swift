// SPDX-License-Identifier: Apache-2.0

/// A REAPER project: lines of a keyword and its values, in blocks between `<` and `>`.
enum ReaperProject {
    /// Returns the text of a project in which every track has one file from its beginning on.
    static func text(_ tracks: [MixStems.Track], seconds: Double, sampleRate: Double) -> String {
        var lines = ["<REAPER_PROJECT 0.1 \"earshot\" 0", "  SAMPLERATE \(Int(sampleRate)) 1 0"]
        for track in tracks {
            lines += [
                "  <TRACK", "    NAME \(quoted(track.name))", "    VOLPAN 1 0 -1 -1 1", "    NCHAN 2", "    <ITEM",
                "      POSITION 0", "      LENGTH \(seconds)", "      LOOP 0", "      NAME \(quoted(track.fileName))",
                "      <SOURCE WAVE", "        FILE \(quoted(track.fileName))", "      >", "    >", "  >",
            ]
        }
        return (lines + [">"]).joined(separator: "\n") + "\n"
    }

    /// Returns a value between the quotation marks that it does not have itself. REAPER knows three, and no escape: of a value
    /// with all three, grave accents are replaced.
    static func quoted(_ text: String) -> String {
        let line = String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 32 ? " " : $0 }))
        for mark in ["\"", "'", "`"] where !line.contains(mark) { return mark + line + mark }
        return "`\(line.replacing("`", with: "'"))`"
    }
}
