// SPDX-License-Identifier: Apache-2.0

import EarshotAudioContainers
import EarshotAudioFiles
import Foundation

/// The title of a playing file.
struct PlayTitle {
    /// The title: `ARTIST – TITLE`, or only the tag that exists. Without both tags, the file's name.
    var text: String
    /// The file's length, format, album and date, to print after the title.
    var details = ""

    /// - Parameter name: the title of a file without tags; nil for the file's name.
    init(path: String, name: String?) {
        text = TerminalText.sanitizedLine(name ?? (path as NSString).lastPathComponent)
        guard let info = try? SoundFiles.info(path) else { return }
        let names = [info.tags.artist, info.tags.title].compactMap { $0 }.filter { !$0.isEmpty }
        if !names.isEmpty { text = TerminalText.sanitizedLine(names.joined(separator: " – ")) }
        details =
            ", \(PlayLine.clock(info.duration)), \(info.codec), "
            + FileFormatting.format(rate: info.format.sampleRate, channels: info.format.channelCount)
        let words = (names.isEmpty ? [] : [text]) + [info.tags.album, info.tags.date].compactMap { $0 }
        if !words.isEmpty { details += "\n  " + TerminalText.sanitizedLine(words.joined(separator: ", ")) }
    }
}
