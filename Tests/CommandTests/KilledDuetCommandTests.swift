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
    private static func tracks(_ folder: String) throws -> [String: [[String: Any]]] {
        let data = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/recording.json"))
        let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        var tracks: [String: [[String: Any]]] = [:]
        for track in try #require(json["tracks"] as? [[String: Any]]) {
            tracks[try #require(track["name"] as? String)] = track["gaps"] as? [[String: Any]]
        }
        return tracks
    }

    @Test func `a guest who is killed in mid-song comes back, and both mixes have both voices and one gap`() throws {
        let scratch = try Scratch()
        try DuetCommandTests.writeSong(scratch("song.wav"), seconds: 7)
        let port = try Earshot.freePort()
        let card = ["--device", "simulated", "--speak", Earshot.speech, "--agree"]
        let host = try Earshot.start(
            ["duet", "host", scratch("song.wav"), "--port", "\(port)", "--accept", "all", "--no-announce"] + card
                + ["--name", "Anna", "--folder", scratch("anna")])
        try #require(host.says("Song: song (0:07)."), "\(host.errors)")
        let home = ["XDG_DATA_HOME": scratch("data"), "XDG_CONFIG_HOME": scratch("config")]
        func join() throws -> ChildProcess {
            try Earshot.start(
                ["duet", "join", "127.0.0.1:\(port)", "--name", "Ben", "--folder", scratch("ben")] + card,
                environment: home)
        }
        let killed = try join()
        try #require(killed.says("Sing."), "\(killed.errors)")
        Thread.sleep(forTimeInterval: 1.5)
        killed.signal(SIGKILL)
        #expect(killed.wait() == .signal(SIGKILL))
        let guest = try join()
        #expect(guest.says("Sing."), "\(guest.errors)")
        #expect(
            guest.says("Saved: ", seconds: 20) && host.says("Saved: ", seconds: 20), "\(guest.errors)\(host.errors)")
        let takes = try [DuetCommandTests.take(scratch("anna")), DuetCommandTests.take(scratch("ben"))]
        for take in takes {
            let tracks = try Self.tracks(take)
            #expect(tracks["Anna"]?.isEmpty == true, "\(tracks)")
            let gaps = try #require(tracks["Ben"])
            #expect(gaps.count == 1 && gaps[0]["reason"] as? String == "away", "\(gaps)")
            let frame = try #require(gaps.first?["frame"] as? Int)
            let count = try #require(gaps.first?["frameCount"] as? Int)
            // At least half a second of the first part and of the last one.
            #expect(frame > 22_050 && frame + count < 7 * 44_100 - 22_050, "\(gaps)")
            #expect(FileManager.default.fileExists(atPath: "\(take)/mix.m4a"))
        }
        #expect(FileManager.default.fileExists(atPath: "\(takes[1]) recording 2/recording.json"))
        guest.signal(SIGINT)
        host.signal(SIGINT)
        #expect(guest.wait() == .exit(130) && host.wait() == .exit(130))
    }

    @Test func `the take of a program that was killed is mixed later`() throws {
        let scratch = try Scratch()
        try DuetCommandTests.writeSong(scratch("song.wav"), seconds: 30)
        let port = try Earshot.freePort()
        let card = ["--device", "simulated", "--speak", Earshot.speech, "--agree"]
        let host = try Earshot.start(
            ["duet", "host", scratch("song.wav"), "--port", "\(port)", "--accept", "all", "--no-announce"] + card
                + ["--name", "Anna", "--folder", scratch("anna")])
        try #require(host.says("Song: song (0:30)."), "\(host.errors)")
        let guest = try Earshot.start(
            ["duet", "join", "127.0.0.1:\(port)", "--name", "Ben", "--folder", scratch("ben")] + card)
        try #require(host.says("Sing.") && guest.says("Sing."), "\(host.errors)\(guest.errors)")
        Thread.sleep(forTimeInterval: 1.5)
        for program in [host, guest] { program.signal(SIGKILL) }
        for (singer, folder) in [("Anna", "anna"), ("Ben", "ben")] {
            let take = try DuetCommandTests.take(scratch(folder))
            let mix = try Earshot.start(["mix", take])
            #expect(mix.wait() == .exit(0), "\(mix.errors)")
            #expect(
                mix.errors.contains("Restored \(singer)'s voice") && mix.errors.contains("Gaps: 0:2"), "\(mix.errors)")
            #expect(mix.output.contains("1 voice, a song"), "\(mix.output)")
            let again = try Earshot.start(["mix", take, "--preset", "dry"])
            #expect(again.wait() == .exit(0) && !again.errors.contains("Restored"), "\(again.errors)")
        }
    }
}
