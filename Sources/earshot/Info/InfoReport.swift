// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import Foundation

/// The report of `info --json` on a file. The manual page documents its fields, which must not change.
struct InfoReport: Codable {
    struct Picture: Codable {
        var mimeType: String
        /// The number of the picture's subject in ID3v2: 3 is the front cover.
        var kind: Int
        var description: String
        var bytes: Int
    }

    var file: String
    /// The file type; nil for a format that Earshot reads but does not write.
    var type: String?
    var container: String
    var codec: String
    var rate: Double
    var channels: Int
    var frames: Int
    var seconds: Double
    /// The bits of a sample; nil if the codec has none.
    var bits: Int?
    /// The average bits a second.
    var bitRate: Int
    var bytes: Int
    var primingFrames: Int?
    var remainderFrames: Int?
    /// The time at which a broadcast WAV begins, in frames since midnight; nil for other files.
    var timeReference: Int?
    var tags: [String: [String]]
    var pictures: [Picture]

    init(_ info: AudioFileInfo, name: String) {
        file = name
        type = info.type?.rawValue
        container = info.container
        codec = info.codec
        rate = info.format.sampleRate
        channels = info.format.channelCount
        frames = info.frameCount
        seconds = info.duration
        bits = info.bitDepth
        bitRate = info.bitRate
        bytes = info.byteCount
        primingFrames = info.primingFrames
        remainderFrames = info.remainderFrames
        timeReference = info.timeReference
        tags = info.tags.fields
        pictures = info.tags.pictures.map {
            Picture(
                mimeType: $0.mimeType, kind: Int($0.kind.rawValue), description: $0.description, bytes: $0.bytes.count)
        }
    }

    /// The report as text.
    var text: String {
        func line(_ head: String, _ text: String) -> String {
            let head = TerminalText.sanitizedLine(String(head.prefix(40)))  // a tag's name comes from the file too
            return "  " + head + String(repeating: " ", count: max(1, 13 - head.count))
                + TerminalText.sanitizedLine(text)
        }
        var lines = [TerminalText.sanitizedLine(file)]
        lines.append(line("kind", codec.hasPrefix(container) ? codec : "\(container), \(codec)"))
        lines.append(line("length", "\(FileFormatting.time(seconds)), \(frames) frames"))
        lines.append(line("sound", FileFormatting.format(rate: rate, channels: channels)))
        lines.append(
            line("size", "\(FileFormatting.size(bytes)), \(FileFormatting.decimal(Double(bitRate) / 1e3)) kb/s"))
        if let primingFrames, let remainderFrames {
            lines.append(line("gapless", "\(primingFrames) frames before the sound and \(remainderFrames) after it"))
        }
        if let timeReference { lines.append(line("begins", FileFormatting.time(Double(timeReference) / rate))) }
        for (name, values) in tags.sorted(by: { $0.key < $1.key }) {
            for value in values { lines.append(line(name.lowercased(), value)) }
        }
        for picture in pictures {
            let words = picture.description.isEmpty ? "" : ", \(picture.description)"
            lines.append(line("picture", "\(picture.mimeType), \(FileFormatting.size(picture.bytes))\(words)"))
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
