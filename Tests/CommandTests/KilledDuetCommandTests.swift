// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation
import TestSupport
import TestTraits
import Testing

/// A duet with the program as users run it, which is killed in mid-song.
@Suite(.serialized, .realTime) struct KilledDuetCommandTests {
    /// Returns the tracks of a folder's description by their names, each with its gaps.
    static func tracks(_ folder: String) throws -> [String: [[String: Any]]] {
        let data = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/recording.json"))
        let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        var tracks: [String: [[String: Any]]] = [:]
        for track in try #require(json["tracks"] as? [[String: Any]]) {
            tracks[try #require(track["name"] as? String)] = track["gaps"] as? [[String: Any]]
        }
        return tracks
    }

    /// Starts a singer's program, with a folder and a key of its own.
    private static func start(_ scratch: Scratch, _ name: String, _ arguments: [String]) throws -> ChildProcess {
        let card = ["--device", "simulated", "--speak", Earshot.speech, "--agree"]
        return try Earshot.start(
            ["duet"] + arguments + ["--name", name, "--folder", scratch(name)] + card,
            environment: ["XDG_DATA_HOME": scratch("\(name) data"), "XDG_CONFIG_HOME": scratch("\(name) config")])
    }

    @Test func `a singer who is killed while singing to a beat comes back, or the voice is restored later`() throws {
        let scratch = try Scratch()
        let port = try Earshot.freePort()
        let host = try Self.start(
            scratch, "Anna",
            [
                "host", "--beat", "240", "--length", "5s", "--port", "\(port)", "--accept", "all", "--no-announce",
            ])
        try #require(host.says("Beat: 240 a minute"), "\(host.errors)")
        let join = ["join", "127.0.0.1:\(port)"]
        let killed = try Self.start(scratch, "Ben", join)
        try #require(killed.says("Sing."), "\(killed.errors)")
        Thread.sleep(forTimeInterval: 1)
        killed.signal(SIGKILL)
        #expect(killed.wait() == .signal(SIGKILL))
        try FileManager.default.copyItem(atPath: scratch("Ben"), toPath: scratch("abandoned"))
        let guest = try Self.start(scratch, "Ben", join)
        try #require(guest.says("Sing."), "\(guest.errors)")
        let mix = try Earshot.start(["mix", DuetCommandTests.take(scratch("abandoned"))])
        for program in [host, guest] { #expect(program.says("Saved: ", seconds: 20), "\(program.errors)") }
        for program in [host, guest] { program.signal(SIGINT) }
        for name in ["Anna", "Ben"] {
            let tracks = try Self.tracks(DuetCommandTests.take(scratch(name)))
            #expect(tracks.keys.sorted() == ["Anna", "Ben"] && tracks["Anna"]?.isEmpty == true, "\(tracks)")
            let gap = try #require(tracks["Ben"]?.first, "\(tracks)")
            let (frame, count) = (gap["frame"] as? Int ?? 0, gap["frameCount"] as? Int ?? 0)
            #expect(tracks["Ben"]?.count == 1 && gap["reason"] as? String == "away", "\(tracks)")
            #expect(frame > 0 && count > 0 && frame + count < 5 * 48_000, "\(tracks)")
        }
        #expect(mix.wait() == .exit(0) && mix.errors.contains("Restored Ben's voice"), "\(mix.errors)")
        #expect(mix.output.contains("1 voice"), "\(mix.output)")
        _ = (host.wait(seconds: 8), guest.wait(seconds: 8))
    }

    @Test func `singers who are killed in mid-song come back, and both mixes have both voices, each with one gap`()
        throws
    {
        let scratch = try Scratch()
        try DuetCommandTests.writeSong(scratch("song.wav"), seconds: 6)
        let (hostPort, guestPort) = (try Earshot.freePort(), try Earshot.freePort())
        func start(_ name: String, _ arguments: [String]) throws -> ChildProcess {
            try Self.start(scratch, name, arguments)
        }
        let join = ["join", "127.0.0.1:\(hostPort)", "--port", "\(guestPort)"]
        let host = try start(
            "Anna",
            ["host", scratch("song.wav"), "--port", "\(hostPort)", "--accept", "all", "--no-announce"])
        try #require(host.says("Song: song (0:06)."), "\(host.errors)")
        let killed = try start("Ben", join)
        try #require(killed.says("Sing."), "\(killed.errors)")
        Thread.sleep(forTimeInterval: 0.8)
        killed.signal(SIGKILL)
        #expect(killed.wait() == .signal(SIGKILL))
        try FileManager.default.copyItem(atPath: scratch("Ben"), toPath: scratch("abandoned"))
        let guest = try start("Ben", join)
        try #require(guest.says("Sing."), "\(guest.errors)")
        let take = try DuetCommandTests.take(scratch("Ben"))
        #expect(guest.errors.contains("restore its voice: earshot mix '\(take)'"), "\(guest.errors)")
        Thread.sleep(forTimeInterval: 0.3)
        // The guest becomes the host.
        host.signal(SIGKILL)
        try #require(guest.says("You are the host now."), "\(guest.errors)")
        let returned = try start("Anna", ["join", "127.0.0.1:\(guestPort)", "--port", "\(hostPort)"])
        #expect(returned.says("Sing."), "\(returned.errors)")
        // Without a return the voice is restored when the take is mixed.
        let mix = try Earshot.start(["mix", DuetCommandTests.take(scratch("abandoned"))])
        #expect(guest.says("Saved: ", seconds: 20) && returned.says("Saved: ", seconds: 20), "\(returned.errors)")

        let takes = try ["Anna", "Ben"].map { try DuetCommandTests.take(scratch($0)) }
        for take in takes {
            let tracks = try Self.tracks(take)
            for singer in ["Anna", "Ben"] {
                let gaps = try #require(tracks[singer], "\(tracks)")
                print("\(take): \(singer) \(gaps)")
                #expect(gaps.count == 1 && gaps[0]["reason"] as? String == "away", "\(singer): \(gaps)")
                let frame = try #require(gaps.first?["frame"] as? Int)
                let count = try #require(gaps.first?["frameCount"] as? Int)
                // Each part has sound.
                #expect(frame > 0 && frame + count < 6 * 44_100, "\(singer): \(gaps)")
            }
            #expect(FileManager.default.fileExists(atPath: "\(take)/mix.m4a"))
            #expect(FileManager.default.fileExists(atPath: "\(take) recording 2/recording.json"))
        }
        for program in [guest, returned] { program.signal(SIGINT) }
        #expect(mix.wait() == .exit(0), "\(mix.errors)")
        #expect(mix.errors.contains("Restored Ben's voice") && mix.errors.contains("Gaps: 0:0"), "\(mix.errors)")
        #expect(mix.output.contains("1 voice, a song"), "\(mix.output)")
        #expect(guest.wait() == .exit(130) && returned.wait() == .exit(130))
    }
}
