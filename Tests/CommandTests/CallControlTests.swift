// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import Foundation
import TestSupport
import Testing

@testable import EarshotDuet
@testable import EarshotLiveCall
@testable import EarshotRooms
@testable import earshot

/// The commands of `earshot call` without a call: arguments, and the texts for the user.
@Suite struct CallControlTests {
    private static func participant(_ number: UInt64, _ name: String, isHost: Bool = false) throws -> Participant {
        let member = Member(
            id: try #require(MemberID(number)), name: try PeerName(name), key: nil, addresses: [], port: 0)
        return Participant(member, isHost: isHost)
    }

    /// The room of the host Ann with Bob in it, for whom Cleo waits.
    private static func room(isAsked: Bool = true) throws -> LiveCallSnapshot {
        var snapshot = LiveCallSnapshot(admission: .ask, sound: .waiting)
        snapshot.phase = .inRoom
        snapshot.localParticipant = try participant(1, "Ann", isHost: true)
        snapshot.participants = [try participant(2, "Bob")]
        guard isAsked else { return snapshot }
        let guest = AskingGuest(
            name: try PeerName("Cleo"), purpose: nil, key: nil, address: .loopback, isKnown: false)
        snapshot.joinRequests = [JoinRequest(id: JoinRequestID(number: 7), guest: guest)]
        return snapshot
    }

    /// Returns the command that a line gives to a call, as the call reads it.
    private static func typed(_ line: String, _ snapshot: LiveCallSnapshot) throws -> LiveCallCommand {
        let words = ["call"] + line.split(separator: " ").map(String.init)
        let parsed = try EarshotCommand.parseAsRoot(ArgumentList(words).arguments)
        let status = StatusDocument(snapshot, LiveCallLevels(), lastEvent: 0, program: "0", pid: 1)
        let control = try #require(parsed as? any CallControlCommand, "\(line)")
        return try #require(CommandDocument(try control.command(status))).liveCallCommand()
    }

    /// Returns lines that give a command; none for a command with which only the call's own terminal enters a room. The switch
    /// names every command, so that a new one needs a line to compile.
    private static func lines(_ kind: LiveCallCommand.Kind) -> [String] {
        switch kind {
        case .host, .join, .providePIN: []
        case .admit: ["admit", "admit Cleo"]
        case .decline: ["decline", "decline 1"]
        case .blockRequest: ["decline cleo --block"]
        case .remove: ["remove Bob"]
        case .block: ["remove 1 --block"]
        case .setAdmission: ["admission all", "admission known", "admission ask"]
        case .setMuted: ["mute", "unmute"]
        case .rename: ["rename Zoë"]
        case .setVolume: ["volume Bob 50%"]
        case .setHeard: ["hear Bob", "silence Bob"]
        case .setOutputVolume: ["volume all 50%"]
        case .setLatencyProfile: ["dial 0.3"]
        case .setCodec: ["codec opus --frame 5", "codec pcm", "codec auto"]
        case .setDevice: ["device", "device --microphone Mic --speaker Out"]
        case .setEffects: ["effects set reverb:large-hall,mix=20 limiter", "effects none"]
        case .setEffectParameter: ["effects reverb mix 40", "effects 2 gain -6"]
        case .setVoiceProcessing: ["voice-processing auto", "voice-processing on", "voice-processing off"]
        case .setMonitor: ["monitor auto", "monitor on", "monitor off"]
        case .setPushToTalk: ["talk on", "talk off"]
        case .setAccompaniment: ["accompany \(#filePath)", "accompany stop"]
        case .controlAccompaniment:
            [
                "accompany play", "accompany pause", "accompany next", "accompany previous", "accompany seek 1:30",
                "accompany volume -6dB", "accompany for all", "accompany for me",
            ]
        case .startRecording: ["record", "record /tmp/a"]
        case .stopRecording: ["stop-recording"]
        case .allowRecording: ["allow-recording yes", "allow-recording no"]
        case .say: ["say la la"]
        case .sendFile: ["send \(#filePath)"]
        case .leave: ["leave"]
        case .endRoom: ["end"]
        }
    }

    @Test(arguments: LiveCallCommand.Kind.allCases)
    func `each command of a call that has a document is one of another terminal`(kind: LiveCallCommand.Kind) throws {
        let commands = try Self.lines(kind).map { try Self.typed($0, Self.room()) }
        #expect(commands.allSatisfy { $0.kind == kind })
        #expect(commands.isEmpty == (Self.code(kind) == "unknown-command"))
    }

    /// Returns the code with which a call refuses the command without arguments; nil if it does not.
    private static func code(_ kind: LiveCallCommand.Kind) -> String? {
        do throws(CommandDocumentError) {
            _ = try CommandDocument(command: kind.rawValue).liveCallCommand()
            return nil
        } catch {
            return ErrorDocument(error).code
        }
    }

    @Test func `each command of another terminal gives a command to the call, or shows the call`() throws {
        let lines: [String] = LiveCallCommand.Kind.allCases.flatMap { Self.lines($0) }
        let typed = lines.map { String($0.prefix { $0 != " " }) }
        let commands = CallCommand.configuration.subcommands.compactMap { $0.configuration.commandName }
        #expect(Set(typed).union(["status", "watch", "duet"]) == Set(commands))
        #expect(Set(commands).count == CallCommand.configuration.subcommands.count)
    }

    @Test func `each command of another terminal has examples, which are read as this command`() throws {
        for command in CallCommand.configuration.subcommands {
            let name = try #require(command.configuration.commandName)
            let examples = EarshotCommand.helpPage(["call", name]).examples
            #expect(!examples.isEmpty, "\(name)")
            for example in examples {
                let words = Array(HelpTests.words(example.line).dropFirst())
                let parsed = try EarshotCommand.parseAsRoot(ArgumentList(words).arguments)
                #expect(type(of: parsed) == command, "\(example.line)")
            }
        }
    }

    private static func pressed(_ key: Character, _ snapshot: LiveCallSnapshot) -> RoomKeyBindings.Action? {
        var keys = RoomKeyBindings()
        return keys.take(.character(key), snapshot, at: HostTime(nanoseconds: 0))
    }

    @Test func `a key and the command of another terminal give the call the same command`() throws {
        var snapshot = try Self.room()
        let first: [(Character, String)] = [
            ("m", "mute"), ("y", "admit"), ("n", "decline Cleo"), ("r", "record"), ("o", "monitor on"),
            ("t", "talk on"),
        ]
        for (key, line) in first {
            #expect(try Self.pressed(key, snapshot) == .perform(Self.typed(line, snapshot)), "\(line)")
        }
        snapshot.isMuted = true
        snapshot.isPushToTalk = true
        snapshot.monitorMode = .on
        snapshot.recording = CallRecordingStatus(folder: "/x", since: HostTime(nanoseconds: 0))
        snapshot.joinRequests = []
        snapshot.participants[0].isRecording = true
        let lines: [(Character, String)] = [
            ("m", "unmute"), ("r", "stop-recording"), ("y", "allow-recording yes"), ("n", "allow-recording no"),
            ("o", "monitor off"), ("t", "talk off"),
        ]
        for (key, line) in lines {
            #expect(try Self.pressed(key, snapshot) == .perform(Self.typed(line, snapshot)), "\(line)")
        }
    }

    @Test func `arguments name participants, volumes and modes`() throws {
        let snapshot = try Self.room()
        let bob = try #require(MemberID(2))
        #expect(try Self.typed("volume 1 50%", snapshot) == .setVolume(0.5, of: bob))
        #expect(try Self.typed("volume bob 0%", snapshot) == .setVolume(0, of: bob))
        #expect(try Self.typed("volume B 0dB", snapshot) == .setVolume(1, of: bob))
        #expect(try Self.typed("effects 2 gain -6", snapshot) == .setEffectParameter("gain", of: "2", to: "-6"))
        #expect(
            try Self.typed("effects set gain,gain=-6 limiter", snapshot) == .setEffects(["gain,gain=-6", "limiter"]))
        #expect(try Self.typed("effects none", snapshot) == .setEffects([]))
        #expect(try Self.typed("volume all 800%", snapshot) == .setOutputVolume(8))
        guard case .setVolume(let quiet, _) = try Self.typed("volume Bob -6dB", snapshot),
            case .setVolume(let same, _) = try Self.typed("volume Bob \u{2212}6dB --pid 5", snapshot)
        else {
            Issue.record("no volume")
            return
        }
        #expect(abs(quiet - 0.501_187) < 1e-5 && quiet == same)
        #expect(try Self.typed("dial sing", snapshot) == .setLatencyProfile(.sing))
        #expect(try Self.typed("voice-processing off", snapshot) == .setVoiceProcessing(.off))
        #expect(try Self.typed("codec auto", snapshot) == .setCodec(nil))
        #expect(try Self.typed("codec opus --frame 2.5", snapshot) == .setCodec(.opus, frameMilliseconds: 2.5))
        #expect(try Self.typed("device --speaker 2", snapshot) == .setDevice(input: nil, output: "2"))
        #expect(try Self.typed("record /tmp/a", snapshot) == .startRecording(folder: "/tmp/a"))
        #expect(throws: Failure.self) { try Self.typed("send /missing/song.wav", snapshot) }
        let here = FileManager.default.currentDirectoryPath
        #expect(try Self.typed("record a", snapshot) == .startRecording(folder: "\(here == "/" ? "" : here)/a"))
        #expect(try Self.typed("say la la", snapshot) == .say("la la"))
        #expect(throws: Failure.self) { try Self.typed("accompany /missing/song.wav", snapshot) }
        #expect(try Self.typed("leave", snapshot) == .leave)
        #expect(throws: Failure.self) { try Self.typed("volume Dan 50%", snapshot) }
        let empty = try Self.room(isAsked: false)
        #expect(throws: Failure.self) { try Self.typed("admit", empty) }
    }

    @Test func `the words about an accompaniment are controls, positions and files`() throws {
        var snapshot = try Self.room()
        var song = AccompanimentStatus(path: "/a.wav")
        song.setPosition(20, at: HostTime(nanoseconds: 0), isMoving: false)
        snapshot.accompaniment = song
        for (line, control) in [
            ("play", .play), ("pause", .pause), ("next", .next), ("previous", .previous), ("seek 90", .seek(to: 90)),
            ("seek 1:30.5", .seek(to: 90.5)), ("seek 1:00:00", .seek(to: 3_600)), ("seek 1m30s", .seek(to: 90)),
            ("seek +5s", .seek(to: 25)), ("seek -5", .seek(to: 15)), ("seek \u{2212}1:00", .seek(to: 0)),
            ("volume 50%", .setGain(0.5)), ("for all", .setForAll(true)), ("for me", .setForAll(false)),
        ] as [(String, AccompanimentControl)] {
            #expect(try Self.typed("accompany \(line)", snapshot) == .controlAccompaniment(control), "\(line)")
        }
        let file = "\(#filePath)"
        #expect(try Self.typed("accompany \(file) \(file)", snapshot) == .setAccompaniment(files: [file, file]))
        #expect(try Self.typed("accompany stop", snapshot) == .setAccompaniment(files: []))
        #expect(try AccompanimentRequest([]) == .show)
    }

    @Test func `the words for a duet are orders, and those that would do nothing are refused`() throws {
        var duet = DuetStatus<MemberID>()
        duet.song = DuetSong(name: "Blue Moon.ogg", byteCount: 5, hash: "", duration: 192)
        (duet.phase, duet.position) = (.singing, 61)
        duet.singers = [.init(member: MemberID(2)!)]
        var live = LiveDuetStatus(duet: duet)
        let orders: [(String, DuetOrder)] = [
            ("agree", .agree(true)), ("withdraw", .agree(false)), ("pause", .pause), ("resume", .resume),
            ("again", .singAgain), ("listen", .listen(true)), ("stop", .listen(false)), ("seek 1:30", .seek(to: 90)),
            ("mix stage", .mix(MixPreset.all[3])), ("seek -10s", .seek(to: 51)), ("seek +5s", .seek(to: 66)),
            ("seek -90s", .seek(to: 0)), ("seek +900s", .seek(to: 191.9)),
            ("together", .setMode(.together)),
            ("balance Ben -2.5dB", .balance(voice: "Ben", decibels: -2.5)),
            ("balance song 3", .balance(voice: "song", decibels: 3)), ("lead", .setMode(.led(by: MemberID(1)!))),
            ("lead bob", .setMode(.led(by: MemberID(2)!))), ("turn", .setMode(.inTurn(MemberID(1)!))),
            ("turn bob", .setMode(.inTurn(MemberID(2)!))), ("next", .nextTurn),
            ("song moon.ogg", .chooseSong(path: "moon.ogg", beat: nil)), ("guide 20%", .setGuide(gain: 0.2)),
            ("part first", .setPart(1)), ("part second", .setPart(2)),
        ]
        let singing = DuetDocument(live)
        let status = StatusDocument(
            try Self.room(), LiveCallLevels(), duet: live, lastEvent: 0, program: "0", pid: 1)
        for (line, order) in orders {
            let words = ArgumentList(["call", "duet"] + line.split(separator: " ").map(String.init)).arguments
            #expect(try DuetRequest(Array(words.dropFirst(2))).order(for: singing, in: status) == order, "\(line)")
        }
        #expect(try DuetRequest([]) == .show)
        for words in [
            ["balance", "Ben"], ["balance", "Ben", "13dB"], ["balance", "Ben", "loud"], ["guide"], ["guide", "120%"],
            ["part", "3"],
        ] {
            #expect(throws: (any Error).self) { try DuetRequest(words) }
        }
        func refused(_ phase: DuetStatus<MemberID>.Phase) throws -> [String] {
            live.duet.phase = phase
            let document = DuetDocument(live)
            return try ["agree", "lead", "pause", "resume", "seek 5", "stop", "again", "listen", "withdraw", "song x"]
                .filter {
                    let request = try DuetRequest($0.split(separator: " ").map(String.init))
                    return try request.order(for: document, in: status)?.obstacle(document) != nil
                }
        }
        #expect(try refused(.agreeing) == ["pause", "resume", "seek 5", "stop"])
        #expect(try refused(.singing) == ["agree", "lead", "resume", "stop", "song x"])
        #expect(try refused(.paused) == ["agree", "lead", "pause", "stop", "song x"])
        #expect(try refused(.listening) == ["agree", "lead", "pause", "resume", "seek 5"])
        #expect(DuetOrder.setGuide(gain: 0).obstacle(singing) == "The song has no guide vocal.")
        let late = DuetOrder.seek(to: 300).obstacle(singing)
        #expect(late == "The song ends at \(PlayLine.clock(singing.duration ?? 0)).")
        let people = [ParticipantDocument(try Self.participant(2, "Ben"))]
        #expect(
            DuetSentences.done(.singAgain, singing, people)
                == "This take stays as take 1, unfinished. Take 2. You agree. Waiting for Ben.")
        #expect(DuetSentences.done(.agree(true), singing, people) == "You agree. Waiting for Ben.")
    }

    @Test func `the advice for a command that is too long suits the command`() {
        #expect(CallSocketError.advice(forLongCommand: .say("la"))?.contains("earshot call send") == true)
        let files = LiveCallCommand.setAccompaniment(files: ["/a.wav"])
        #expect(CallSocketError.advice(forLongCommand: files) == "Name a folder or a playlist.")
        #expect(CallSocketError.advice(forLongCommand: .setEffects(["gain"])) == nil)
    }

    @Test(arguments: [
        (["volume", "Ann", "5"], "<volume> cannot be '5': use 0% to 800%, or -60dB to 18dB."),
        (["volume", "Ann", "801%"], "<volume> cannot be '801%': use 0% to 800%, or -60dB to 18dB."),
        (["volume", "Ann", "nandB"], "<volume> cannot be 'nandB': use 0% to 800%, or -60dB to 18dB."),
        (["volume", "Ann"], "Missing argument <volume>. See: earshot call volume --help"),
        (["dial", "fast"], "<dial> cannot be 'fast': use sing, talk, listen or a number from 0 to 1."),
        (["codec", "mp3"], "<codec> cannot be 'mp3': use opus, pcm, opus-custom, aac or auto."),
        (["codec", "opus", "--frame", "7"], "--frame must be 2.5, 5, 10 or 20 (ms)."),
        (["codec", "pcm", "--frame", "5"], "--frame needs opus."),
        (["dance"], "Unexpected: 'dance'. See: earshot call --help"),
        (["--pid", "0"], "--pid must be 1 or more."),
        (["status", "--pid", "x"], "--pid cannot be 'x'."),
        (["monitor", "loud"], "<mode> cannot be 'loud'. Choose auto, on, off or equal."),
        (["talk", "maybe"], "<state> cannot be 'maybe'. Choose on or off."),
        (["talk"], "Missing argument <state>. See: earshot call talk --help"),
        (["accompany", "for"], "use: for me, or for all."),
        (["accompany", "seek", "x"], "use: seek 1:30, seek +5s or seek -5s."),
        (["duet", "seek"], "use: seek 1:30, seek +5s or seek -5s."),
        (
            ["duet", "dance"],
            "use one of: agree, withdraw, lead NAME, together, turn NAME, next, pause, resume, seek 1:30, again, listen, stop, mix stage, balance NAME -2dB, song FILE, guide 20%, part first."
        ),
        (["duet", "mix", "hall"], "use a preset: dry, natural, room, stage."),
        (["accompany", "volume", "5"], "use 0% to 800%, or -60dB to 18dB."),
        (["allow-recording", "maybe"], "<answer> cannot be 'maybe'. Choose yes or no."),
        (["say"], "Missing argument <text>. See: earshot call say --help"),
        (["record", "a", "b"], "Unexpected: 'b'. See: earshot call record --help"),
        (["rename", ""], "the name is empty. Use at least one visible character."),
    ]) func `a wrong command line is reported in one sentence with advice`(arguments: [String], line: String) throws {
        let program = try Earshot.start(["call"] + arguments)
        #expect(program.wait() == .exit(64), "\(program.errors)")
        #expect(program.errors == "error: \(line)\n")
    }

    @Test func `a person is found by number, name, other case or the beginning of the name`() throws {
        let names = ["Bob", "bob", "Cleo", "Clemens", "2", "Zoë"]
        func index(_ text: String) throws -> Int { try ListedPerson.index(text, in: names, "Participants") }
        for (text, expected) in [("Bob", 0), ("bob", 1), ("2", 1), ("5", 4), ("CLEO", 2), ("Clem", 3), ("zO", 5)] {
            #expect(try index(text) == expected, "\(text)")
        }
        for text in ["BOB", "cle", "c", "Dan", "0", "7", "-1", ""] {
            #expect(throws: Failure.self, "\(text)") { try index(text) }
        }
        let failure = #expect(throws: Failure.self) { try index("Cloe") }
        #expect(failure?.line.contains("Did you mean 'Cleo'?") == true && failure?.status == Failure.noHost)
    }

    private static func event(_ name: String, _ fields: String = "") throws -> EventDocument {
        let line = #"{"number":1,"time":"","monotonicNanoseconds":0,"event":"\#(name)"\#(fields)}"#
        return try #require(CallJSON.decoded(EventDocument.self, from: Array(line.utf8)))
    }

    @Test(arguments: EventDocument.Name.allCases) func `an event of a faulty program, without its fields, is no danger`(
        name: EventDocument.Name
    ) throws {
        #expect(CallAnswers.text(try Self.event(name.rawValue)) != name.rawValue)
    }

    @Test func `an event of a later version is printed by its name`() throws {
        #expect(CallAnswers.text(try Self.event("encoreRequested", #","song":[1]"#)) == "encoreRequested")
    }

    @Test func `a question is printed with the command that answers`() throws {
        let guest = #","request":{"id":7,"name":"Cleo B","address":"::1","isKnown":false}"#
        #expect(
            CallAnswers.text(try Self.event("joinRequested", guest))
                == "Cleo B (a browser, cannot prove who it is, ::1) asks to join. Admit: earshot call admit 'Cleo B'")
        let others =
            #","participants":[{"id":2,"name":"Ben","isHost":false,"isMuted":false,"isAway":false,"#
            + #""isRecording":true,"volume":1,"isHeard":true}]"#
        #expect(
            CallAnswers.text(try Self.event("recordingConsentRequested", others))
                == "Ben wants to record. Let everyone here record your voice? "
                + "Answer: earshot call allow-recording yes, or no")
    }

    @Test func `the status of the page of the protocol is shown as lines and a table`() throws {
        let blocks = try document("call-events.md").components(separatedBy: "```json\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first.map { Array($0.replacing("\n", with: "").utf8) }
        }
        let status = try #require(blocks.compactMap { CallJSON.decoded(StatusDocument.self, from: $0) }.first)
        let lines = CallStatusText(status: status, hasColour: false).text.split(separator: "\n").map(String.init)
        #expect(lines[0] == "Room: Blue Room (you are the host), 1:01" && lines[1] == "You: Ann")
        #expect(lines[2] == "Audio: Headset, 48 kHz, 256-frame blocks, input 5.3 ms, output 5.3 ms, SCHED_FIFO 70")
        #expect(lines[3].hasPrefix("Dial: talk  Voice processing: off (headset"))
        #expect(
            lines[3].contains("  Monitor: on (headset, round trip 10.6 ms)") && lines[3].hasSuffix("Playback: 0 dB"))
        #expect(lines[4] == "Effects: gain,gain=-6, delay 0.0 ms" && lines[5].hasPrefix("Accompaniment: "))
        #expect(lines[6] == "Duet: Blue Moon, take 2, singing at 1:01 of 3:12, with Ben.")
        var nearby = try #require(status.duet)
        nearby.singers[0].isNearby = true
        let room = DuetSentences.status(nearby, status.participants)
        #expect(room.contains("with Ben. In the same room: Ben."), "\(room)")
        #expect(lines[7].hasPrefix("Recording: /home/ann/Music") && lines[7].hasSuffix("(0:13)"))
        #expect(lines[8] == "Requests: 1 Cleo" && lines[9].hasPrefix("NO  NAME"))
        #expect(
            lines[10].split(separator: " ").map(String.init) == [
                "1", "Ben", "-6", "dB", "33", "ms", "0", "1", "speaking",
            ])
    }
}
