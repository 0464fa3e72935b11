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
            // The first letter of the path names the content.
            let content = connection.request.utf8.dropFirst("GET /".utf8.count).first ?? 0
            connection.send(file: [UInt8](repeating: content, count: 1_000))
        }
        func download(_ path: String) throws -> String? {
            try SongFile.download(server.address(path), to: folder) { _, _ in true }
        }
        #expect(try download("/Blue%20Moon.ogg") == "\(folder)/Songs/Blue Moon.ogg")
        #expect(try download("/B/Blue%20Moon.ogg") == "\(folder)/Songs/Blue Moon.ogg")
        #expect(try download("/other/Blue%20Moon.ogg") == "\(folder)/Songs/Blue Moon (2).ogg")
        #expect(try download("/%2e%2e%2fmoon.ogg") == "\(folder)/Songs/moon.ogg")
        #expect(try SongFile.download(server.address(), to: folder) { _, _ in false } == nil)
        #expect(throws: DuetProblem.self) { try download("/a b") }
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/Songs")
        #expect(names.sorted() == ["Blue Moon (2).ogg", "Blue Moon.ogg", "moon.ogg"])
    }
}
