import EarshotAudioContainers
import EarshotAudioFiles
import Foundation

/// What a file that plays is called.
struct PlayWords {
    /// `ARTIST – TITLE`, or what there is of the two; else the file's name.
    var title: String
    /// Behind its name, in a line.
    var details = ""

    /// - Parameter name: what it is called where it has no tags; else the file's name.
    init(path: String, name: String?) {
        title = TerminalText.sanitizedLine(name ?? (path as NSString).lastPathComponent)
        guard let info = try? SoundFiles.info(path) else { return }
        let names = [info.tags.artist, info.tags.title].compactMap { $0 }.filter { !$0.isEmpty }
        if !names.isEmpty { title = TerminalText.sanitizedLine(names.joined(separator: " – ")) }
        details =
            ", \(PlayLine.clock(info.duration)), \(info.codec), "
            + FileFormatting.format(rate: info.format.sampleRate, channels: info.format.channelCount)
        let words = (names.isEmpty ? [] : [title]) + [info.tags.album, info.tags.date].compactMap { $0 }
        if !words.isEmpty { details += "\n  " + TerminalText.sanitizedLine(words.joined(separator: ", ")) }
    }
}
