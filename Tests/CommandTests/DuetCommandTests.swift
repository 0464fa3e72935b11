// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation
import TestSupport
import TestTraits
import Testing

/// A duet with the program as users run it, on simulated cards.
@Suite(.serialized, .realTime) struct DuetCommandTests {
    /// Writes a stereo song.
    static func writeSong(_ path: String, seconds: Int = 2, frames: Int? = nil) throws {
        let buffer = AudioBuffer(channelCount: 2, frameCapacity: frames ?? seconds * 44_100)
        for i in 0..<buffer.frameCapacity {
            for c in 0..<2 { buffer.channels[c][i] = sine(i, frequency: 330, rate: 44_100, amplitude: 0.2) }
        }
        let file = try SoundFiles.create(path, format: AudioFormat(sampleRate: 44_100, channelCount: 2))
        try file.write(buffer.channels, frameCount: buffer.frameCapacity)
        try file.close()
    }

    /// The frames of a count-in of four beats.
    private static let countIn = 88_200

    /// Writes a voice that waits for the count-in and lasts as long as the song. Returns its samples.
    static func writeVoice(_ path: String, seed: Int) throws -> [Float] {
        var random = SeededRandom(seed: UInt64(seed))
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: 2 * countIn)
        for i in countIn..<2 * countIn { buffer.channels[0][i] = Float(0.4 * random.unit() - 0.2) }
        let file = try SoundFiles.create(path, format: AudioFormat(sampleRate: 44_100, channelCount: 1))
        try file.write(buffer.channels, frameCount: buffer.frameCapacity)
        try file.close()
        return (countIn..<2 * countIn).map { buffer.channels[0][$0] }
    }

    /// Returns the frame of a stem at which a voice begins, and the correlation there.
    static func start(of voice: [Float], in stem: String) throws -> (frame: Int, correlation: Float) {
        let file = try SoundFiles.open(stem)
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: countIn)
        _ = try file.read(into: buffer.channels, frameCount: buffer.frameCapacity)
        let part = 2_000..<8_000
        let energy = part.reduce(0) { $0 + voice[$1] * voice[$1] }
        func correlation(_ lag: Int) -> Float {
            part.reduce(0) { $0 + voice[$1] * buffer.channels[0][$1 + lag] } / energy
        }
        let frame = (-1_000...1_000).max { correlation($0) < correlation($1) } ?? 0
        return (frame, correlation(frame))
    }

    /// Returns the folder of the first take in a singer's folder.
    static func take(_ folder: String) throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0 != "Songs" }
        return "\(folder)/\(try #require(names.first))/take 1"
    }

    @Test func `two people sing a song by keys, and both have both voices and a mix`() throws {
        let scratch = try Scratch()
        try Self.writeSong(scratch("Blue Moon.wav"))
        let (port, keys, guestKeys) = (try Earshot.freePort(), try PseudoTerminal(), try PseudoTerminal())
        // Each begins to sing when it hears the song.
        let voices = try [1, 2].map { try Self.writeVoice(scratch("voice \($0).wav"), seed: $0) }
        func card(_ singer: Int, block: Int, drift: Int) -> [String] {
            ["--device", "simulated", "--speak", scratch("voice \(singer).wav"), "--sing"]
                + ["--block", "\(block)", "--drift", "\(drift)"]
        }
        let host = try Earshot.start(
            ["duet", "host", scratch("Blue Moon.wav"), "--port", "\(port)", "--accept", "all", "--no-announce"]
                + card(1, block: 128, drift: 100) + ["--name", "Anna", "--folder", scratch("anna")], terminal: keys)
        try #require(host.says("Song: Blue Moon (0:02)."), "\(host.errors)")
        let guest = try Earshot.start(
            ["duet", "join", "127.0.0.1:\(port)", "--name", "Ben", "--folder", scratch("ben")]
                + card(2, block: 256, drift: -100),
            terminal: guestKeys)
        try #require(guest.says("Song received."), "\(guest.errors)")
        try #require(guest.says(" ms. Your voices will be recorded. Press Enter"), "\(guest.errors)")
        // On a fast network all sing together.
        #expect(!guest.errors.contains("too long") && !guest.errors.contains("lead"), "\(guest.errors)")
        guestKeys.type("m\r")
        #expect(guest.says("You are muted, so the take lacks your voice."), "\(guest.errors)")
        guestKeys.type("m")
        #expect(host.says("Ben agrees."), "\(host.errors)")
        keys.type("\r")
        #expect(guest.says("All agree.") && guest.says("Sing."), "\(guest.errors)")
        #expect(host.says("Saved: ") && guest.says("Saved: "), "\(host.errors)\n\(guest.errors)")
        keys.type("e")
        #expect(host.says("Your mix is 'room' now: even voices in a large room."), "\(host.errors)")
        guestKeys.type("\u{1B}[C\u{1B}[C")
        #expect(guest.says("Your mix has Ben +2 dB now."), "\(guest.errors)")
        guestKeys.type("\r")
        #expect(host.says("The mix plays for all."), "\(host.errors)\n\(guest.errors)")
        keys.type("q")
        #expect(host.says("p play the mix"), "\(host.errors)")
        keys.type("x")
        #expect(host.wait() == .exit(0), "\(host.errors)")
        // The guest stays, and can still listen to the mix.
        #expect(guest.says("Nobody else is here now. Keys: Enter listen to the mix, q leave"), "\(guest.errors)")
        #expect(guest.says(" join with: earshot duet join"), "\(guest.errors)")
        let seen = guest.errors.count
        guestKeys.type("\r")
        #expect(guest.says("Enter stops it for all.", after: seen), "\(guest.errors)")
        guestKeys.type("q")
        #expect(guest.says("p play the mix"), "\(guest.errors)")
        guestKeys.type("x")
        #expect(guest.wait() == .exit(0), "\(guest.errors)")

        let folders = try [Self.take(scratch("anna")), Self.take(scratch("ben"))]
        for name in ["Anna.flac", "Ben.flac", "mix.m4a", "recording.json"] {
            for folder in folders {
                let mode = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")[.posixPermissions]
                #expect(mode as? Int == 0o600, "\(folder)/\(name)")
            }
        }
        for name in ["Anna.flac", "Ben.flac"] {
            let files = folders.map { FileManager.default.contents(atPath: "\($0)/\(name)") }
            #expect(files[0] != nil && files[0] == files[1], "\(name)")
            let stem = try SoundFiles.open("\(folders[0])/\(name)")
            #expect(stem.frameCount == 88_200 && stem.processingFormat.sampleRate == 44_100)
        }
        // Both voices begin with the song, as the singers heard it, to the frame.
        let starts = try zip(["Anna", "Ben"], voices).map { try Self.start(of: $1, in: "\(folders[0])/\($0).flac") }
        print("the voices begin at \(starts)")
        // Since the first click, a card that is 100 ppm fast has come 9 frames ahead.
        let frames = [starts[0].frame + 9, starts[1].frame - 9]
        #expect(abs(frames[0] - frames[1]) <= 2 && frames.allSatisfy { (-10...10).contains($0) }, "\(starts)")
        #expect(starts.allSatisfy { $0.correlation > 0.5 }, "\(starts)")
        #expect(FileManager.default.fileExists(atPath: scratch("ben") + "/Songs/Blue Moon.wav"))
        let mix = try Earshot.start(["mix", folders[1], "--preset", "stage", "--json"])
        #expect(mix.wait() == .exit(0) && mix.output.contains("mix-stage.m4a"), "\(mix.output)\(mix.errors)")
    }

    @Test func `two people take turns, and the last take has both voices`() throws {
        let scratch = try Scratch()
        try Self.writeSong(scratch("song.wav"), seconds: 1)
        let (port, keys, guestKeys) = (try Earshot.freePort(), try PseudoTerminal(), try PseudoTerminal())
        let card = ["--device", "simulated", "--speak", Earshot.speech]
        let host = try Earshot.start(
            ["duet", "host", scratch("song.wav"), "--tempo", "240", "--port", "\(port)", "--accept", "all"]
                + ["--no-announce", "--name", "Anna", "--folder", scratch("anna")] + card, terminal: keys)
        try #require(host.says("Song: song (0:01)."), "\(host.errors)")
        let guest = try Earshot.start(
            ["duet", "join", "127.0.0.1:\(port)", "--name", "Ben", "--folder", scratch("ben")] + card,
            terminal: guestKeys)
        try #require(host.says("Press Enter when you are ready."), "\(host.errors)")
        keys.type("\t\t\t")
        try #require(host.says("You sing now, and the others listen."), "\(host.errors)")
        try #require(guest.says("Anna sings now, and you listen."), "\(guest.errors)")
        for key in [keys, guestKeys] { key.type("\r") }
        #expect(guest.says("Anna sings.") && guest.says("Received Anna's voice."), "\(guest.errors)")
        try #require(host.says("Saved: ") && guest.says("Saved: "), "\(host.errors)\n\(guest.errors)")
        guestKeys.type("\t")
        #expect(host.says("Ben begins the next turn."), "\(host.errors)")
        try #require(host.says("Take 2. Ben sings now, and you listen."), "\(host.errors)")
        keys.type("\r")
        #expect(host.says("Received Ben's voice."), "\(host.errors)")
        for program in [host, guest] { #expect(program.says("take 2/mix.m4a"), "\(program.errors)") }
        for key in [keys, guestKeys] { key.type("q") }
        for program in [host, guest] { #expect(program.says("p play the mix"), "\(program.errors)") }
        for key in [keys, guestKeys] { key.type("x") }
        for program in [host, guest] { #expect(program.wait() == .exit(0), "\(program.errors)") }

        let first = try [Self.take(scratch("anna")), Self.take(scratch("ben"))]
        let last = first.map { String($0.dropLast()) + "2" }
        func names(_ folder: String) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        }
        for folder in first { #expect(try names(folder) == ["Anna.flac", "mix.m4a", "recording.json", "song.wav"]) }
        for folder in last {
            #expect(try names(folder) == ["Anna.flac", "Ben.flac", "mix.m4a", "recording.json", "song.wav"])
        }
        let voices = (first + last).map { FileManager.default.contents(atPath: "\($0)/Anna.flac") }
        #expect(voices[0] != nil && voices.allSatisfy { $0 == voices[0] })
        // Only the singer of a turn has a recording.
        let recordings = (first + last).map { FileManager.default.fileExists(atPath: "\($0) recording") }
        #expect(recordings == [true, false, false, true])
    }

    @Test func `two people sing to a beat, and the mix has their voices alone`() throws {
        let scratch = try Scratch()
        let port = try Earshot.freePort()
        let card = ["--device", "simulated", "--speak", Earshot.speech, "--agree", "--json"]
        let host = try Earshot.start(
            [
                "duet", "host", "--beat", "240", "--length", "1s", "--port", "\(port)", "--accept", "all",
                "--no-announce",
            ]
                + card + ["--name", "Anna", "--folder", scratch("anna")])
        try #require(host.says("Beat: 240 a minute, 4 in a bar (0:01)."), "\(host.errors)")
        let guest = try Earshot.start(
            ["duet", "join", "127.0.0.1:\(port)", "--name", "Ben", "--folder", scratch("ben")] + card)
        try #require(guest.says("Beat: 240 a minute"), "\(guest.errors)")
        for program in [host, guest] {
            #expect(program.says("mix.m4a  The mix has the voices without the beat.", seconds: 20), "\(program.errors)")
        }
        guest.signal(SIGINT)
        host.signal(SIGINT)
        _ = (guest.wait(seconds: 8), host.wait(seconds: 8))
        #expect(!guest.errors.contains("Receiving the song"))
        for (program, name) in [(host, "anna"), (guest, "ben")] {
            let takes = try #require(try theReport(program)["takes"] as? [[String: Any]])
            let take = try Self.take(scratch(name))
            #expect(takes.count == 1 && takes[0]["song"] as? String == "Beat 240" && takes[0]["take"] as? Int == 1)
            #expect(takes[0]["mix"] as? String == "\(take)/mix.m4a" && takes[0]["folder"] as? String == take)
            #expect(takes[0]["missing"] as? [String] == [])
            let voices = try #require(takes[0]["voices"] as? [[String: Any]])
            #expect(voices.compactMap { $0["name"] as? String }.sorted() == ["Anna", "Ben"])
            #expect(voices.filter { $0["isLocal"] as? Bool == true }.count == 1)
            #expect(voices.allSatisfy { $0["gaps"] as? Int != nil && $0["gapSeconds"] as? Double != nil })
            #expect(try SoundFiles.info("\(take)/mix.m4a").tags.title == "Beat 240")
        }
        for name in ["anna", "ben"] {
            let take = try Self.take(scratch(name))
            #expect(take.contains("Beat 240"))
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: take).sorted() == [
                    "Anna.flac", "Ben.flac", "mix.m4a", "recording.json",
                ])
            #expect(try SoundFiles.open("\(take)/Ben.flac").frameCount == 48_000)
        }
    }

    @Test func `a singer who leaves in mid-song, and the one who stays, both keep their voices and a mix`() throws {
        let scratch = try Scratch()
        try Self.writeSong(scratch("song.wav"), seconds: 30)
        let (port, keys) = (try Earshot.freePort(), try PseudoTerminal())
        let card = ["--device", "simulated", "--speak", Earshot.speech, "--agree"]
        let host = try Earshot.start(
            ["duet", "host", scratch("song.wav"), "--port", "\(port)", "--accept", "all", "--no-announce"] + card
                + ["--name", "Anna", "--folder", scratch("anna")], terminal: keys)
        try #require(host.says("Song: song (0:30)."), "\(host.errors)")
        let guest = try Earshot.start(
            ["duet", "join", "127.0.0.1:\(port)", "--name", "Ben", "--folder", scratch("ben")] + card)
        try #require(host.says("Sing."), "\(host.errors)")
        Thread.sleep(forTimeInterval: 1)
        keys.type("q")
        #expect(host.says("Leave in mid-song? This take stays as take 1, unfinished."), "\(host.errors)")
        keys.type("y")
        #expect(guest.says("Anna has left this take."), "\(guest.errors)")
        #expect(host.says("Finishing the takes."), "\(host.errors)")
        #expect(guest.wait(seconds: 20) == .exit(0), "\(guest.errors)")
        #expect(host.says("p play the mix", seconds: 20), "\(host.errors)")
        keys.type("x")
        #expect(host.wait() == .exit(0), "\(host.errors)")
        for (folder, stem) in [
            (try Self.take(scratch("anna")), "Anna.flac"), (try Self.take(scratch("ben")), "Ben.flac"),
        ] {
            #expect(FileManager.default.fileExists(atPath: "\(folder)/mix.m4a"), "\(guest.errors)")
            #expect(try SoundFiles.open("\(folder)/\(stem)").frameCount == 30 * 44_100)
        }
        #expect(guest.errors.contains("Saved: "), "\(guest.errors)")
    }

    @Test func `another terminal shows and controls the duet`() throws {
        let scratch = try Scratch()
        try Self.writeSong(scratch("song.wav"), seconds: 60)
        let port = try Earshot.freePort()
        try FileManager.default.createDirectory(atPath: scratch("run"), withIntermediateDirectories: true)
        let environment: [String: String?] = ["XDG_RUNTIME_DIR": scratch("run")]
        let card = ["--device", "simulated", "--speak", Earshot.speech]
        let host = try Earshot.start(
            ["duet", "host", scratch("song.wav"), "--port", "\(port)", "--accept", "all", "--no-announce"] + card
                + ["--name", "Anna", "--folder", scratch("anna")], environment: environment)
        try #require(host.says("Song: song (1:00)."), "\(host.errors)")
        let guest = try Earshot.start(
            ["duet", "join", "127.0.0.1:\(port)", "--agree", "--name", "Ben", "--folder", scratch("ben")] + card)
        try #require(host.says("Ben agrees."), "\(guest.errors)")
        func call(_ words: String...) throws -> ChildProcess {
            let program = try Earshot.start(["call"] + words, environment: environment)
            #expect(program.wait() != nil, "\(words)")
            return program
        }
        func expect(_ words: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
            let program = try call("duet")
            let all = program.output + program.errors
            #expect(program.output.contains(words), "\(all)", sourceLocation: sourceLocation)
        }
        try expect("Duet: song, take 1, you have not agreed, with Ben.")
        let early = try call("duet", "pause")
        #expect(early.wait() == .exit(69) && early.errors.contains("The song does not play."), "\(early.errors)")
        #expect(try call("duet", "agree").errors.contains("You agree."))
        #expect(host.says("Sing."), "\(host.errors)")
        #expect(try call("duet", "pause").errors.contains("The song is paused."))
        #expect(guest.says(" has paused the song."), "\(guest.errors)")
        #expect(try call("duet", "seek", "0:30").errors.contains("The song is at 0:30 now, for all."))
        #expect(host.says("The song is paused."), "\(host.errors)")
        try expect("paused at 0:30 of 1:00, with Ben.")
        let status = try theReport(try call("status", "--json"))
        let duet = try #require(status["duet"] as? [String: Any])
        #expect(duet["phase"] as? String == "paused" && duet["song"] as? String == "song", "\(duet)")
        #expect(duet["seconds"] as? Double == 30 && duet["take"] as? Int == 1, "\(duet)")
        #expect((duet["singers"] as? [[String: Any]])?.first?["hasAgreed"] as? Bool == true, "\(duet)")
        #expect(try call("duet", "resume").wait() == .exit(0))
        #expect(guest.says(" has resumed the song."), "\(guest.errors)")
        #expect(try call("duet", "seek", "+100s").wait() == .exit(0))
        #expect(host.says("Saved: ", seconds: 20), "\(host.errors)")
        #expect(try call("duet", "listen").errors.contains("The mix plays for all."))
        #expect(guest.says("The mix plays for all."), "\(guest.errors)")
        #expect(try call("duet", "stop").errors.contains("The mix has stopped for all."))
        #expect(try call("duet", "again").errors.contains("Take 2. You agree."))
        #expect(guest.says("Anna begins the song again."), "\(guest.errors)")
        for program in [host, guest] { program.signal(SIGTERM) }
        for program in [host, guest] { _ = program.wait(seconds: 20) }
    }

    @Test func `one who joins a call without a duet is told so`() throws {
        let scratch = try Scratch()
        let port = try Earshot.freePort()
        let host = try Earshot.start(Earshot.host(port) + ["Blue Room", "--device", "simulated"])
        try #require(host.says("Waiting for guests."), "\(host.errors)")
        let guest = try Earshot.start(
            ["duet", "join", "127.0.0.1:\(port)", "--device", "simulated", "--folder", scratch("ben")])
        #expect(guest.says("No song here yet: 'Blue Room' is a call without a duet."), "\(guest.errors)")
        for program in [host, guest] { program.signal(SIGTERM) }
        for program in [host, guest] { _ = program.wait(seconds: 8) }
    }

    @Test func `one who joins in mid-song is told where the others are, and sings after Enter`() throws {
        let scratch = try Scratch()
        try Self.writeSong(scratch("song.wav"), seconds: 60)
        let (port, keys) = (try Earshot.freePort(), try PseudoTerminal())
        let card = ["--device", "simulated", "--speak", Earshot.speech]
        let host = try Earshot.start(
            ["duet", "host", scratch("song.wav"), "--port", "\(port)", "--accept", "all", "--no-announce", "--agree"]
                + card + ["--name", "Anna", "--folder", scratch("anna")])
        try #require(host.says("Song: song (1:00)."), "\(host.errors)")
        let join = ["duet", "join", "127.0.0.1:\(port)"] + card
        let guest = try Earshot.start(join + ["--agree", "--name", "Ben", "--folder", scratch("ben")])
        try #require(guest.says("Sing."), "\(guest.errors)")
        let late = try Earshot.start(join + ["--name", "Cleo", "--folder", scratch("cleo")], terminal: keys)
        try #require(late.says("Anna and Ben are singing song, 0:"), "\(late.errors)")
        #expect(late.says("Press Enter to join in."), "\(late.errors)")
        #expect(!late.errors.contains("Sing.") && !late.errors.contains("All agree"), "\(late.errors)")
        keys.type("\r")
        #expect(late.says("Sing."), "\(late.errors)")
        keys.type("r")
        #expect(late.says("Sing again from the beginning? This take stays as take 1, unfinished."), "\(late.errors)")
        keys.type("n")
        #expect(late.says("The song goes on."), "\(late.errors)")
        keys.type("ry")
        for program in [host, guest] {
            let words = "Cleo begins the song again. This take stays as take 1, unfinished."
            #expect(program.says(words), "\(program.errors)")
            // The answer n has begun nothing.
            #expect(program.errors.ranges(of: "begins the song again").count == 1, "\(program.errors)")
        }
        for program in [host, guest, late] { program.signal(SIGTERM) }
        for program in [host, guest, late] { _ = program.wait(seconds: 8) }
    }

    @Test
    func
        `the first Ctrl-C in mid-song sends the own voice and does not wait for the song, and the second leaves at once`()
        throws
    {
        let scratch = try Scratch()
        try Self.writeSong(scratch("song.wav"), seconds: 3)
        let card = ["--device", "simulated", "--speak", Earshot.speech, "--agree"]
        for isImpatient in [false, true] {
            let port = try Earshot.freePort()
            let folders = ["anna", "ben"].map { scratch("\($0) \(isImpatient)") }
            let host = try Earshot.start(
                ["duet", "host", scratch("song.wav"), "--port", "\(port)", "--accept", "all", "--no-announce"] + card
                    + ["--name", "Anna", "--folder", folders[0]])
            try #require(host.says("Song: song (0:03)."), "\(host.errors)")
            let guest = try Earshot.start(
                ["duet", "join", "127.0.0.1:\(port)", "--name", "Ben", "--folder", folders[1]] + card)
            try #require(host.says("Sing."), "\(host.errors)")
            host.signal(SIGINT)
            #expect(host.says("Finishing the takes. Another Ctrl-C leaves at once."), "\(host.errors)")
            if isImpatient { host.signal(SIGINT) }
            #expect(host.wait(seconds: 20) == .exit(130), "\(host.errors)")
            if !isImpatient {
                #expect(host.errors.contains("mix.m4a (without Ben, whose voice did not arrive)"), "\(host.errors)")
                #expect(guest.says("Anna has left this take."), "\(guest.errors)")
                #expect(guest.says("Received Anna's voice.", seconds: 8), "\(guest.errors)")
            }
            guest.signal(SIGTERM)
            _ = guest.wait(seconds: 8)
        }
    }

    @Test func `without arguments a room or a song is chosen`() throws {
        let scratch = try Scratch()
        for name in ["Blue Moon.wav", "Greensleeves.wav"] { try Self.writeSong(scratch(name)) }
        let keys = try PseudoTerminal()
        let port = try Earshot.freePort()
        let program = try Earshot.start(
            ["duet", "--port", "\(port)", "--no-announce", "--device", "simulated", "--folder", scratch("anna")],
            terminal: keys, through: ["env", "-C", scratch.path])
        try #require(program.says("n to begin a new one"), "\(program.errors)")
        keys.type("n")
        #expect(program.says("Song: ▏ Blue Moon.wav  1 of 2"), "\(program.errors)")
        #expect(program.says("Ctrl-U clear, Esc leave"), "\(program.errors)")
        keys.type("blue\u{15}gree\r")
        #expect(program.says("Waiting for guests.") && program.says("Song: Greensleeves (0:02)."), "\(program.errors)")
        keys.type("q")
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let leaver = try PseudoTerminal()
        let left = try Earshot.start(
            ["duet", "--device", "simulated", "--folder", scratch("anna")], terminal: leaver,
            through: ["env", "-C", scratch.path])
        try #require(left.says("n to begin a new one"), "\(left.errors)")
        leaver.type("n")
        try #require(left.says("Song: ▏ Blue Moon.wav"), "\(left.errors)")
        leaver.type("\u{1B}")
        #expect(left.wait() == .exit(130), "\(left.errors)")
        let empty = try PseudoTerminal()
        try FileManager.default.createDirectory(atPath: scratch("empty"), withIntermediateDirectories: true)
        let without = try Earshot.start(
            ["duet", "--port", "\(port)", "--no-announce", "--device", "simulated", "--folder", scratch("anna")],
            environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(scratch("none"))"], terminal: empty,
            through: ["env", "-C", scratch("empty")])
        #expect(without.says("room discovery is off: D-Bus is not running."), "\(without.errors)")
        #expect(without.says("earshot duet join ADDRESS"), "\(without.errors)")
        empty.type("n")
        #expect(without.wait() == .exit(66), "\(without.errors)")
        #expect(
            without.errors.contains(".flac and .wav") && without.errors.contains("earshot duet host --beat 96"),
            "\(without.errors)")
        let other = try Earshot.start(["duet"])
        #expect(other.wait() == .exit(64) && other.errors.contains("earshot duet host SONG"), "\(other.errors)")
    }

    @Test func `a song that is missing or no sound is named, and without a terminal nobody agrees`() throws {
        let scratch = try Scratch()
        let missing = try Earshot.start(["duet", "host", "/none.ogg"])
        #expect(missing.wait() == .exit(66) && missing.errors.contains("/none.ogg: no such file"), "\(missing.errors)")
        try "no sound".write(toFile: scratch("bad.wav"), atomically: true, encoding: .utf8)
        let port = try Earshot.freePort()
        let common = ["--port", "\(port)", "--accept", "all", "--no-announce", "--device", "simulated"]
        let bad = try Earshot.start(["duet", "host", scratch("bad.wav"), "--folder", scratch("anna")] + common)
        #expect(bad.wait() == .exit(65) && bad.errors.contains("bad.wav: not an audio file"), "\(bad.errors)")
        try Self.writeSong(scratch("short.wav"), frames: 1)
        let short = try Earshot.start(["duet", "host", scratch("short.wav"), "--folder", scratch("anna")] + common)
        #expect(short.wait() == .exit(65) && short.errors.contains("short.wav is shorter than 1 s"), "\(short.errors)")
        let recording = try Earshot.start(["duet", "host", scratch("bad.wav"), "--record", scratch("own")] + common)
        #expect(recording.wait() == .exit(64) && recording.errors.contains("Omit --record"), "\(recording.errors)")
        try Self.writeSong(scratch("song.wav"))
        for command in [["duet", "host", scratch("song.wav")], ["duet", "join", "127.0.0.1:\(port)"]] {
            let file = try Earshot.start(command + ["--folder", scratch("song.wav"), "--device", "simulated"])
            #expect(file.wait() == .exit(73), "\(file.errors)")
            #expect(file.errors.contains("song.wav: Not a directory. Choose another with --folder."), "\(file.errors)")
        }
        let second = try Earshot.start(
            ["duet", "host", scratch("song.wav"), "--folder", scratch("anna"), "--agree"] + common)
        try #require(second.says("Song: song"), "\(second.errors)")
        let taken = try Earshot.start(
            ["duet", "join", "127.0.0.1:\(port)", "--device", "simulated", "--port", "\(port)"])
        #expect(taken.wait() == .exit(69) && taken.errors.contains("--port"), "\(taken.errors)")
        let guest = try Earshot.start(
            ["duet", "join", "127.0.0.1:\(port)", "--device", "simulated", "--folder", scratch("ben")])
        #expect(guest.says("No terminal to agree on, so the song cannot start. Use --agree."), "\(guest.errors)")
        // Without --speak the simulated microphone is silent.
        #expect(second.says("Your microphone is silent, so the take lacks your voice."), "\(second.errors)")
        #expect(!second.errors.contains("All agree"))
        guest.signal(SIGINT)
        second.signal(SIGINT)
        #expect(guest.wait(seconds: 8) == .exit(130) && second.wait(seconds: 8) == .exit(130))
    }
}
