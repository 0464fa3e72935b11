// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import TestSupport
import Testing

@testable import EarshotLiveCall

/// Songs from a server on loopback.
@Suite(.timeLimit(.minutes(2))) struct SongDownloadTests {
    /// Returns the bytes of a short song.
    private static func song(level: Float) throws -> [UInt8] {
        let path = NSTemporaryDirectory() + "earshot-song-\(UUID().uuidString).wav"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = try AudioFileWriter(path: path, format: AudioFormat(sampleRate: 8_000, channelCount: 1))
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: 100)
        for i in 0..<100 { buffer.channels[0][i] = level }
        try file.write(buffer.channels, frameCount: 100)
        try file.close()
        return [UInt8](try #require(FileManager.default.contents(atPath: path)))
    }

    @Test func `a song is kept once, under a name that replaces no other, and nothing else stays`() throws {
        let folder = NSTemporaryDirectory() + "earshot-songs-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let songs = try (0...2).map { try Self.song(level: Float($0) / 4) }
        let server = try LoopbackServer { connection in
            let path = connection.request.split(separator: " ")[1]
            if path == "/page.html" {
                connection.send(file: Array("<html>The song has moved.</html>".utf8))
            } else {
                connection.send(file: songs[path.hasPrefix("/other/") ? 1 : path.hasPrefix("/%2e") ? 2 : 0])
            }
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
        do throws(DuetProblem) {
            _ = try SongFile.download(server.address("/page.html"), to: folder) { _, _ in true }
            Issue.record("a page is no song")
        } catch {
            guard case .notSound(address: server.address("/page.html")) = error else { throw error }
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/Songs")
        #expect(names.sorted() == ["Blue Moon (2).ogg", "Blue Moon.ogg", "moon.ogg"])
    }

    @Test func `an address of another scheme is refused as such, not looked for as a file`() throws {
        let folder = NSTemporaryDirectory() + "earshot-songs-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(SongFile.isAddress("ftp://example.org/moon.ogg") && !SongFile.isAddress("songs/moon.ogg"))
        do throws(DuetProblem) {
            _ = try SongFile.download("ftp://example.org/moon.ogg", to: folder) { _, _ in true }
            Issue.record("it was received")
        } catch {
            guard case .download(.stream(.badAddress)) = error else { throw error }
        }
    }
}
