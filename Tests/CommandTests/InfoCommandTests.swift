import AudioBase
import AudioFiles
import Foundation
import TestSupport
import Testing

@testable import earshot

@Suite struct InfoCommandTests {
    @Test func `nothing that a file says of itself commands the terminal`() {
        var tags = AudioFileTags()
        tags.fields["\u{1B}[2J\u{202E}\nNAME" + String(repeating: "X", count: 10_000)] = ["\u{1B}[1Avalue\u{9B}31m"]
        tags.pictures = [.init(mimeType: "image/\u{7}png", description: "\u{1B}]0;title\u{7}", bytes: [1])]
        let info = AudioFileInfo(
            path: "x.mp3", type: .mp3, container: "MPEG audio", codec: "MP3",
            format: AudioFormat(sampleRate: 48_000, channelCount: 2), frameCount: 48_000, bitDepth: nil,
            byteCount: 16_000, tags: tags)
        let text = InfoReport(info, name: "x\u{1B}[2J.mp3").text
        #expect(text.contains("name") && text.contains("value") && text.count < 2_000)
        // kind, length, sound, size, the tag and the picture, below the name
        #expect(text.split(separator: "\n").count == 7, "\(text)")
        for scalar in text.unicodeScalars where scalar != "\n" {
            #expect(![.control, .format].contains(scalar.properties.generalCategory), "\(scalar.value)")
        }
    }
}
