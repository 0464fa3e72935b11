// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import TestSupport
import Testing

@testable import earshot

@Suite struct InfoCommandTests {
    @Test(arguments: [(11_025.0, "11.025 kHz, mono"), (44_100, "44.1 kHz, mono"), (192_000, "192 kHz, mono")])
    func `a sample rate is shown with all its digits`(rate: Double, text: String) {
        #expect(FileFormatting.format(rate: rate, channels: 1) == text)
    }

    @Test(arguments: [(0.0, "0:00"), (59.6, "1:00"), (3_723.6, "1:02:04"), (-1, "?"), (Double.nan, "?")])
    func `a length is shown in whole seconds, with hours if there are any`(seconds: Double, text: String) {
        #expect(FileFormatting.clock(seconds) == text)
    }

    @Test func `a link to a folder is followed, nested folder links and broken links are reported as skipped`() throws {
        let scratch = try Scratch()
        for folder in ["real/deep", "other"] {
            try FileManager.default.createDirectory(atPath: scratch(folder), withIntermediateDirectories: true)
        }
        for name in ["real/1.wav", "real/deep/2.wav", "other/3.wav"] {
            try Recorded.write([[0, 0.5, 0]], to: scratch(name))
        }
        for (link, target) in [
            ("music", "real"), ("real/4.wav", "../other/3.wav"), ("real/gone.wav", "nowhere"),
            ("real/away", "../other"), ("real/.hidden.wav", "1.wav"), ("real/gone.txt", "nowhere"),
        ] {
            try FileManager.default.createSymbolicLink(atPath: scratch(link), withDestinationPath: target)
        }
        let program = try Earshot.start(["info", scratch("music"), "--json"])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let reports = try JSONDecoder().decode([InfoReport].self, from: Data(program.output.utf8))
        #expect(reports.map(\.file) == ["1.wav", "4.wav", "deep/2.wav"].map { scratch("music/\($0)") })
        let told = program.errors.split(separator: "\n")
        #expect(told.count == 2, "\(program.errors)")
        #expect(told.contains { $0.contains("music/gone.wav: skipped: a link to a missing file") }, "\(told)")
        #expect(told.contains { $0.contains("music/away: skipped: a link to a folder") }, "\(told)")
    }

    @Test func `an unreadable folder is reported`() throws {
        let scratch = try Scratch()
        let manager = FileManager.default
        try manager.createDirectory(atPath: scratch("open/closed"), withIntermediateDirectories: true)
        try Recorded.write([[0, 0.5, 0]], to: scratch("open/1.wav"))
        for (name, mode) in [("", 0o755), ("open", 0o755), ("open/1.wav", 0o644), ("open/closed", 0)] {
            try manager.setAttributes([.posixPermissions: mode], ofItemAtPath: scratch(name))
        }
        defer { chmod(scratch("open/closed"), 0o700) }
        // Root may read everything.
        let asNobody = getuid() == 0 ? ["setpriv", "--reuid=65534", "--clear-groups"] : []
        let around = try ChildProcess(asNobody + [Earshot.program, "info", scratch("open")])
        #expect(around.wait() == .exit(0), "\(around.errors)")
        #expect(around.output.contains("open/1.wav"), "\(around.output)")
        #expect(around.errors.contains("open/closed: the folder cannot be read"), "\(around.errors)")
        let itself = try ChildProcess(asNobody + [Earshot.program, "info", scratch("open/closed")])
        #expect(itself.wait() == .exit(66), "\(itself.errors)")
        #expect(theFailure(itself).contains("open/closed: the folder cannot be read"), "\(itself.errors)")
    }

    @Test func `control characters in a file's metadata do not reach the terminal`() {
        var tags = AudioFileTags()
        tags.fields["\u{1B}[2J\u{202E}\nNAME" + String(repeating: "X", count: 10_000)] = ["\u{1B}[1Avalue\u{9B}31m"]
        tags.pictures = [.init(mimeType: "image/\u{7}png", description: "\u{1B}]0;title\u{7}", bytes: [1])]
        let info = AudioFileInfo(
            path: "x.mp3", type: .mp3, container: "MPEG audio", codec: "MP3",
            format: AudioFormat(sampleRate: 48_000, channelCount: 2), frameCount: 48_000, bitDepth: nil,
            byteCount: 16_000, tags: tags)
        let text = InfoReport(info, name: "x\u{1B}[2J.mp3").text
        #expect(text.contains("name") && text.contains("value") && text.count < 2_000)
        // Below the name: kind, length, sound, size, the tag and the picture.
        #expect(text.split(separator: "\n").count == 7, "\(text)")
        for scalar in text.unicodeScalars where scalar != "\n" {
            #expect(![.control, .format].contains(scalar.properties.generalCategory), "\(scalar.value)")
        }
    }
}
