// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTraits
import Testing

/// A duet of several songs with the program as users run it.
@Suite(.serialized, .realTime) struct NextSongCommandTests {
    @Test func `two people sing one song after the other in one room`() throws {
        let scratch = try Scratch()
        for (name, seconds) in [("first", 1), ("second", 1), ("third", 30)] {
            try DuetCommandTests.writeSong(scratch("\(name).wav"), seconds: seconds)
        }
        try FileManager.default.createDirectory(atPath: scratch("run"), withIntermediateDirectories: true)
        let environment: [String: String?] = ["XDG_RUNTIME_DIR": scratch("run")]
        let (port, keys, guestKeys) = (try Earshot.freePort(), try PseudoTerminal(), try PseudoTerminal())
        let card = ["--device", "simulated", "--speak", Earshot.speech]
        let host = try Earshot.start(
            ["duet", "host", "first.wav", "second.wav", "--tempo", "240", "--port", "\(port)", "--accept", "ask"]
                + ["--no-announce", "--name", "Anna", "--folder", scratch("anna")] + card,
            environment: environment, terminal: keys, through: ["env", "-C", scratch.path])
        try #require(host.says("Song: first (0:01)."), "\(host.errors)")
        let join = ["duet", "join", "127.0.0.1:\(port)"] + card
        let guest = try Earshot.start(
            join + ["--name", "Ben", "--folder", scratch("ben"), "--agree"], terminal: guestKeys)
        try #require(host.says("Keys: y admit, n decline, b block"), "\(host.errors)")
        keys.type("y")
        try #require(host.says("You: first part. Ben: second part."), "\(host.errors)")
        try #require(host.says("Press Enter when you are ready."), "\(host.errors)")
        guestKeys.type("w")
        for (program, words) in [
            (host, "You: second part. Ben: first part."), (guest, "You: first part. Anna: second part."),
        ] {
            #expect(program.says(words), "\(program.errors)")
        }
        keys.type("\r")
        try #require(host.says("r sing again, n next song, q leave", seconds: 20), "\(host.errors)")
        #expect(guest.says("r sing again, q leave"), "\(guest.errors)")
        guestKeys.type("n")
        #expect(guest.says("The host chooses the next song."), "\(guest.errors)")

        // The next song of the command line comes first. A guest who asks meanwhile is answered after the choice.
        keys.type("n")
        #expect(host.says("Song: ▏ second.wav  1 of "), "\(host.errors)")
        let late = try Earshot.start(join + ["--name", "Cleo", "--folder", scratch("cleo"), "--ephemeral"])
        #expect(host.says("end the choice of a song first: Esc"), "\(host.errors)")
        keys.type("\r")
        #expect(host.says("Song: second (0:01).") && guest.says("Song: second (0:01)."), "\(guest.errors)")
        keys.type("n")
        #expect(late.wait(seconds: 20) == .exit(77) && late.errors.contains("declined"), "\(late.errors)")
        #expect(host.errors.ranges(of: "Type letters of the next song's name.").count == 1, "\(host.errors)")
        keys.type("\r")
        for program in [host, guest] {
            #expect(program.says("second/take 1/mix.m4a", seconds: 20), "\(program.errors)")
        }
        #expect(!host.errors.contains("Take 2."), "\(host.errors)")

        // Another terminal chooses the last one. In mid-song nobody does.
        func call(_ words: String...) throws -> ChildProcess {
            let program = try Earshot.start(
                ["call", "duet"] + words, environment: environment, through: ["env", "-C", scratch.path])
            #expect(program.wait() != nil, "\(words)")
            return program
        }
        let missing = try call("song", "none.wav")
        #expect(missing.wait() == .exit(66) && missing.errors.contains("none.wav: no such file"), "\(missing.errors)")
        #expect(try call("song", "third.wav").errors.contains("Song: third.wav. All must agree to sing it."))
        #expect(host.says("Song: third (0:30).") && guest.says("Song: third (0:30)."), "\(guest.errors)")
        let seen = host.errors.count
        keys.type("\r")
        #expect(host.says("Sing.", after: seen), "\(host.errors)")
        keys.type("n")
        #expect(host.says("The next song can be chosen after this one.", after: seen), "\(host.errors)")
        let refused = try call("song", "first.wav")
        #expect(refused.wait() == .exit(69) && refused.errors.contains("after this one"), "\(refused.errors)")
        for program in [host, guest] { program.signal(SIGTERM) }
        for program in [host, guest] { _ = program.wait(seconds: 20) }
        let list = try #require(host.errors.components(separatedBy: "Mixes of this duet:").last)
        #expect(list.contains("first/take 1/mix.m4a") && list.contains("second/take 1/mix.m4a"), "\(host.errors)")
        for name in ["anna", "ben"] {
            let folders = try FileManager.default.contentsOfDirectory(atPath: scratch(name)).sorted()
            for song in ["first", "second"] {
                let folder = try #require(folders.first { $0.hasSuffix(" \(song)") }, "\(folders)")
                let take = "\(scratch(name))/\(folder)/take 1"
                let mix = try Earshot.start(["mix", take, "--json", "--overwrite"])
                #expect(mix.wait() == .exit(0), "\(mix.errors)")
                let voices = try #require(try theReport(mix)["voices"] as? [[String: Any]])
                let parts = voices.compactMap { voice in (voice["part"] as? Int).map { "\(voice["name"] ?? "") \($0)" }
                }
                #expect(Set(parts) == ["Anna 2", "Ben 1"], "\(voices)")
                for file in ["Anna.flac", "Ben.flac", "mix.m4a", "song.wav"] {
                    #expect(FileManager.default.fileExists(atPath: "\(take)/\(file)"), "\(take)/\(file)")
                }
            }
        }
    }
}
