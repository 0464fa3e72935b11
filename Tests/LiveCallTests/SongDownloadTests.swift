// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import EarshotLiveCall

/// Songs from a server on loopback.
@Suite(.timeLimit(.minutes(2))) struct SongDownloadTests {
    @Test func `a song is kept once, under a name that replaces no other, and nothing else stays`() throws {
        let folder = NSTemporaryDirectory() + "earshot-songs-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let server = try LoopbackServer { connection in
            let isOther = connection.request.contains("/other/")
            connection.send(file: [UInt8](repeating: isOther ? 2 : 1, count: 1_000))
        }
        func download(_ path: String) throws -> String? {
            try SongFile.download(server.address(path), to: folder) { _, _ in true }
        }
        #expect(try download("/Blue%20Moon.ogg") == "\(folder)/Songs/Blue Moon.ogg")
        #expect(try download("/again/Blue%20Moon.ogg") == "\(folder)/Songs/Blue Moon.ogg")
        #expect(try download("/other/Blue%20Moon.ogg") == "\(folder)/Songs/Blue Moon 2.ogg")
        #expect(try download("/%2e%2e%2fmoon.ogg") == "\(folder)/Songs/moon.ogg")
        #expect(try SongFile.download(server.address(), to: folder) { _, _ in false } == nil)
        #expect(throws: DuetProblem.self) { try download("/a b") }
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/Songs")
        #expect(names.sorted() == ["Blue Moon 2.ogg", "Blue Moon.ogg", "moon.ogg"])
    }

    @Test(arguments: [
        ("song.ogg", "song.ogg"), ("", "song"), ("a\u{0}b", "a-b"), ("/etc", "-etc"), (".hidden", "-.hidden"),
        ("%zz", "%zz"), (String(repeating: "x", count: 300) + ".flac", String(repeating: "x", count: 155) + ".flac"),
        (String(repeating: "x", count: 300), String(repeating: "x", count: 160)),
    ])
    func `a stranger's name becomes that of a file in the folder`(part: String, name: String) {
        #expect(SongFile.cleanedName(part) == name)
    }
}
