// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioFiles

/// The options for tags.
struct TagOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Title tag.", valueName: "text"))
    var title: String?

    @Option(help: ArgumentHelp("Artist tag.", valueName: "text"))
    var artist: String?

    @Option(help: ArgumentHelp("Album tag.", valueName: "text"))
    var album: String?

    @Option(help: ArgumentHelp("Genre tag.", valueName: "text"))
    var genre: String?

    @Option(help: ArgumentHelp("Date tag, such as 2026 or 2026-11-22.", valueName: "date"))
    var date: String?

    @Option(help: ArgumentHelp("Comment tag.", valueName: "text"))
    var comment: String?

    var isEmpty: Bool { [title, artist, album, genre, date, comment].allSatisfy { $0 == nil } }

    /// Writes the tags given as options to a file. Other tags stay.
    /// - Parameter part: the number of the part, which becomes the track number; nil without `--split`.
    func write(to path: String, part: Int? = nil) throws(AudioFileError) {
        guard !isEmpty else { return }
        var tags = try AudioFileTags(path: path)
        tags.title = title ?? tags.title
        tags.artist = artist ?? tags.artist
        tags.album = album ?? tags.album
        tags.genre = genre ?? tags.genre
        tags.date = date ?? tags.date
        tags.comment = comment ?? tags.comment
        if let part { tags.track = AudioFileTags.Position(part) }
        try tags.write(to: path)
    }
}
