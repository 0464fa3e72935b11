// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import Foundation
import TestSupport
import Testing

@testable import EarshotLiveCall

/// Files of an accompaniment, on virtual time.
@Suite struct AccompanimentPlayerTests {
    @Test func `loaded files wait for play, follow each other without a gap, and end`() throws {
        let rig = try AccompanimentPlayerRig()
        rig.load(try rig.file("a.wav", level: 0.1, seconds: 2), try rig.file("b.wav", level: 0.2, seconds: 1))
        rig.run(0.5)
        let loaded = try #require(rig.reports.last)
        #expect(loaded.item?.title == "a.wav" && loaded.item?.number == 1 && loaded.item?.count == 2)
        #expect(loaded.item?.duration == 2 && !loaded.isMoving && loaded.position == 0)
        #expect(rig.played.allSatisfy { $0 == 0 })
        rig.control(.play)
        rig.run(2.5)
        #expect(rig.reports.last?.item?.title == "b.wav" && rig.reports.last?.isMoving == true)
        rig.run(1)
        #expect(rig.reports.last?.hasEnded == true && rig.reports.last?.isMoving == false)
        #expect(rig.levels == [0, 0.1, 0.2, 0] && rig.failures.isEmpty && rig.song.underrunCount == 0)
        // The files are 144,000 frames; between them there is no other sound.
        let sound = try #require(rig.played.firstIndex { $0 != 0 })
        let last = try #require(rig.played.lastIndex { $0 != 0 })
        #expect((143_500...144_000).contains(last - sound + 1), "\(last - sound + 1)")
        #expect(rig.played[(sound + 480)...(last - 480)].allSatisfy { $0 > 0.09 })
        rig.control(.play)
        rig.run(0.5)
        #expect(rig.reports.last?.item?.title == "a.wav" && rig.levels.last == 0.1, "play begins again after the end")
    }

    @Test func `the position is reported when it changes, and otherwise follows from the time`() throws {
        let rig = try AccompanimentPlayerRig()
        rig.load(try rig.file("a.wav", level: 0.1, seconds: 30))
        rig.control(.play)
        rig.run(1)
        let count = rig.reports.count
        rig.run(10)
        #expect(rig.reports.count == count, "\(rig.reports.count - count) reports of a song that only plays")
        var status = AccompanimentStatus(path: "a.wav")
        let report = try #require(rig.reports.last)
        status.setPosition(report.position, at: report.time, isMoving: report.isMoving)
        #expect(abs(status.position(at: rig.now) - 11) < 0.06, "\(status.position(at: rig.now))")
        rig.control(.seek(to: 20))
        #expect(rig.reports.last?.position == 20)
        rig.run(1)
        let later = try #require(rig.reports.last)
        status.setPosition(later.position, at: later.time, isMoving: later.isMoving)
        #expect(abs(status.position(at: rig.now) - 21) < 0.06, "\(status.position(at: rig.now))")
        rig.control(.pause)
        rig.run(1)
        #expect(rig.reports.last?.isMoving == false && abs((rig.reports.last?.position ?? 0) - 21) < 0.06)
    }

    @Test func `next and previous go to other files, previous first to the beginning`() throws {
        let rig = try AccompanimentPlayerRig()
        let files = try (1...3).map { try rig.file("\($0).wav", level: Float($0) / 10, seconds: 6) }
        rig.load(files[0], files[1], files[2])
        rig.control(.play)
        rig.run(0.5)
        rig.control(.next)
        rig.run(0.5)
        #expect(rig.reports.last?.item?.number == 2)
        rig.run(4)
        rig.control(.previous)
        rig.run(0.5)
        #expect(rig.reports.last?.item?.number == 2 && (rig.reports.last?.position ?? 9) < 1)
        rig.control(.previous)
        rig.run(0.5)
        #expect(rig.reports.last?.item?.number == 1)
        rig.control(.next)
        rig.control(.next)
        rig.run(0.5)
        #expect(rig.reports.last?.item?.number == 3)
        rig.control(.next)
        rig.run(0.5)
        #expect(rig.reports.last?.hasEnded == true)
        #expect(rig.levels == [0.1, 0.2, 0.1, 0.3, 0])
    }

    @Test func `a file at another rate is converted, and a folder is played in order`() throws {
        let rig = try AccompanimentPlayerRig()
        try FileManager.default.createDirectory(atPath: rig.folder + "/songs/10", withIntermediateDirectories: true)
        try rig.file("songs/2.flac", level: 0.2, seconds: 0.5, rate: 44_100)
        try rig.file("songs/10/x.wav", level: 0.3, seconds: 0.5, rate: 96_000)
        try rig.file("songs/1.wav", level: 0.1, seconds: 0.5)
        try rig.text("songs/notes.txt", ["no sound"])
        try rig.file("songs/.0.wav", level: 0.4, seconds: 0.5)
        // A link to a folder may lead back.
        try FileManager.default.createSymbolicLink(
            atPath: rig.folder + "/songs/0", withDestinationPath: rig.folder + "/songs")
        rig.load(rig.folder + "/songs")
        rig.control(.play)
        rig.run(2)
        #expect(rig.levels == [0.1, 0.2, 0.3, 0] && rig.failures.isEmpty, "\(rig.levels)")
        #expect(rig.reports.last?.item?.count == 3)
    }

    @Test(arguments: ["list.m3u", "list.m3u8", "list.pls"])
    func `damaged and missing files of a playlist are named and skipped`(name: String) throws {
        let rig = try AccompanimentPlayerRig()
        try rig.file("a.wav", level: 0.1, seconds: 1)
        try rig.file("c.wav", level: 0.3, seconds: 1)
        try rig.text("bad.wav", ["RIFF, but no sound"])
        let names = ["a.wav", "missing.wav", rig.folder + "/bad.wav", "http://example.org/x.mp3", "c.wav"]
        let lines =
            name.hasSuffix("pls")
            ? ["[playlist]"] + names.enumerated().map { "File\($0 + 1)=\($1)" } : ["#EXTM3U"] + names
        rig.load(try rig.text(name, lines))
        rig.control(.play)
        rig.run(3)
        #expect(rig.levels == [0.1, 0.3, 0], "\(rig.levels)")
        let paths = rig.failures.map { "\($0)".split(separator: ":")[0].split(separator: "/").last.map(String.init) }
        #expect(paths == ["missing.wav", "bad.wav", "http"], "\(rig.failures)")
    }

    @Test func `without a file that plays there is no accompaniment, and the reason is said`() throws {
        let rig = try AccompanimentPlayerRig()
        rig.load(rig.folder + "/missing.wav")
        #expect(rig.failures == [.missing(path: rig.folder + "/missing.wav")])
        #expect(rig.reports.last?.item == nil)
        for (name, lines, reason) in [
            ("empty.m3u", [String](), "the playlist is empty"),
            ("hls.m3u8", ["#EXTM3U", "#EXT-X-VERSION:3"], "a playlist of HTTP Live Streaming, which is not supported"),
            ("self.m3u", ["self.m3u"], "the playlists contain each other"),
            ("large.m3u", [String(repeating: "#", count: 1 << 24 + 1)], "too large for a playlist"),
        ] {
            rig.load(try rig.text(name, lines))
            #expect(rig.failures.last == .unsupportedFormat(path: "\(rig.folder)/\(name)", detail: reason))
            #expect(rig.reports.last?.item == nil)
        }
        rig.load(rig.folder)
        #expect(rig.reports.last?.item == nil, "a folder without sound")
        rig.control(.play)
        rig.control(.next)
        rig.control(.previous)
        rig.control(.seek(to: 3))
        rig.run(0.2)
        #expect(rig.played.allSatisfy { $0 == 0 })
    }

    @Test func `a file that shrinks while it plays is named, and the next one follows`() throws {
        let rig = try AccompanimentPlayerRig()
        let shrinking = try rig.file("a.wav", level: 0.1, seconds: 20)
        rig.load(shrinking, try rig.file("b.wav", level: 0.2, seconds: 1))
        rig.control(.play)
        rig.run(1)
        #expect(truncate(shrinking, 48_000 * 4 * 3) == 0)
        rig.run(5)
        #expect(rig.levels == [0.1, 0.2, 0], "\(rig.levels)")
        guard case .damaged(shrinking, _)? = rig.failures.first else {
            Issue.record("\(rig.failures)")
            return
        }
    }

    @Test func `a playlist with 100,000 entries plays, and of many missing files only the first and last are named`()
        throws
    {
        let rig = try AccompanimentPlayerRig()
        try rig.file("last.wav", level: 0.3, seconds: 3)
        let names = (1..<100_000).map { "\($0).wav" } + ["last.wav", "beyond.wav"]
        rig.load(try rig.text("long.m3u", names))
        rig.control(.play)
        rig.run(0.5)
        #expect(rig.reports.last?.item?.number == 100_000 && rig.reports.last?.item?.count == 100_000)
        #expect(rig.levels == [0.3] && rig.failures.count == 6, "\(rig.failures)")
        #expect("\(rig.failures[5])" == "\(rig.folder)/99999.wav: cannot be played, like 99993 files before it")
    }

    @Test func `gain and audience are applied, and other files keep them`() throws {
        let rig = try AccompanimentPlayerRig()
        rig.load(try rig.file("a.wav", level: 0.4, seconds: 9))
        rig.control(.setGain(0.5))
        rig.control(.setForAll(true))
        rig.control(.play)
        rig.run(0.5)
        #expect(rig.levels == [0.2] && rig.song.isForAll)
        rig.give(.load([], gain: 1, isForAll: false))
        rig.run(0.5)
        #expect(rig.levels == [0.2, 0] && rig.reports.last?.item == nil && !rig.song.isPlaying)
    }
}
