// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import EarshotAudioStreams

@Suite struct ICYParserTests {
    @Test(arguments: [1, 2, 16, 333, 100_000])
    func `the sound is passed on unchanged, and titles carry their byte offset`(_ piece: Int) {
        let sound = (0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let bytes = LoopbackServer.interleave(
            sound, interval: 1_000,
            texts: [
                0: Array("StreamTitle='One';StreamUrl='';".utf8), 1: Array("StreamTitle='One';".utf8),
                3: Array("StreamTitle='It's two';StreamUrl='x';".utf8),
            ])
        var parser = ICYParser(interval: 1_000)
        var out: [UInt8] = []
        var titles: [ICYParser.Title] = []
        for start in stride(from: 0, to: bytes.count, by: piece) {
            bytes[start..<min(bytes.count, start + piece)].withUnsafeBytes {
                titles += parser.parse($0, into: &out)
            }
        }
        #expect(out == sound)
        #expect(titles == [.init(offset: 1_000, text: "One"), .init(offset: 4_000, text: "It's two")])
    }

    @Test func `titles are decoded as UTF-8, otherwise as Latin-1`() {
        #expect(ICYParser.title(Array("StreamTitle='Café';".utf8)) == "Café")
        #expect(ICYParser.title(Array("StreamTitle='Caf".utf8) + [0xE9] + Array("';".utf8)) == "Café")
        #expect(ICYParser.title(Array("StreamTitle='';".utf8)) == "")
        #expect(ICYParser.title(Array("StreamUrl='x';".utf8)) == nil)
        #expect(ICYParser.title(Array("StreamTitle='cut".utf8)) == "cut")
        #expect(ICYParser.title([]) == nil)
    }
}

@Suite struct ReconnectPolicyTests {
    @Test func `reconnect delays double up to a maximum, and jitter only shortens them`() {
        let policy = ReconnectPolicy()
        let delays = (1...9).map { policy.delay(attempt: $0, hasPlayed: true, chance: 0) }
        #expect(delays == [0.5, 1, 2, 4, 8, 16, 30, 30, 30])
        for attempt in 1...9 {
            let delay = policy.delay(attempt: attempt, hasPlayed: true, chance: 1) ?? 0
            #expect(delay == (delays[attempt - 1] ?? 0) / 2)
        }
    }

    @Test func `reconnecting ends after a limit, which is lower if no sound was ever played`() {
        let policy = ReconnectPolicy()
        #expect(policy.delay(attempt: 3, hasPlayed: false, chance: 0.5) != nil)
        #expect(policy.delay(attempt: 4, hasPlayed: false, chance: 0.5) == nil)
        #expect(policy.delay(attempt: 30, hasPlayed: true, chance: 0.5) != nil)
        #expect(policy.delay(attempt: 31, hasPlayed: true, chance: 0.5) == nil)
    }
}

@Suite struct StreamPlaylistTests {
    private func entries(_ text: String, at address: String = "http://radio.example/a/list.m3u") throws -> [String] {
        try StreamPlaylist.entries(Array(text.utf8), from: try StreamAddress(address)).map(\.text)
    }

    @Test func `M3U and PLS list absolute addresses and ones relative to the playlist`() throws {
        #expect(
            try entries("#EXTM3U\r\n#EXTINF:-1,Radio\r\nhttp://x.example/1\r\n\r\nlow/2.mp3\r\n/3\r\n") == [
                "http://x.example/1", "http://radio.example/a/low/2.mp3", "http://radio.example/3",
            ])
        #expect(
            try entries(
                "[playlist]\nNumberOfEntries=2\nFile1=http://x.example/1\nTitle1=a\nfile2=https://y.example/?a=b\n")
                == ["http://x.example/1", "https://y.example/?a=b"])
    }

    @Test func `a playlist without usable addresses is an error`() {
        for text in [
            "", "#EXTM3U\n", "[playlist]\nTitle1=a\n", "#EXTM3U\n#EXT-X-VERSION:3\nhttp://x/1\n",
            "file:///etc/passwd\n",
        ] {
            #expect(throws: AudioStreamError.self) { try entries(text) }
        }
    }

    @Test func `an address is shown without user, password and query`() throws {
        let address = try StreamAddress("https://me:secret@radio.example:8000/live?token=secret")
        #expect(address.description == "https://radio.example:8000/live")
        #expect(address.isSecure)
        for bad in ["", "radio.example/live", "ftp://x/y", "file:///etc/passwd", "http://", "https:///x"] {
            #expect(throws: AudioStreamError.self) { try StreamAddress(bad) }
        }
        do {
            _ = try StreamAddress("ftp://me:secret@x.example/y")
        } catch {
            #expect(!error.description.contains("secret"))
        }
    }
}
