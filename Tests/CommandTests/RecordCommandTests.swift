// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation
import TestSupport
import TestTraits
import Testing

/// `earshot record` on simulated cards and on real servers: the files contain the played sound.
@Suite(.serialized, .realTime, .needs("jackd", "pipewire")) struct RecordCommandTests {
    private func files(_ report: [String: Any]) -> [[String: Any]] { report["files"] as? [[String: Any]] ?? [] }

    @Test func `one recording writes files of every format at once, with the requested duration`() throws {
        let scratch = try Scratch()
        let played = Recorded.noise(4 * 48_000)
        try Recorded.write(played, to: scratch("played.wav"))
        let program = try Recorded.start(
            Recorded.kinds.map { scratch("take.\($0)") } + ["--duration", "1.5", "--json"], hears: scratch("played.wav")
        )
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let report = try theReport(program)
        #expect(report["ended"] as? String == "duration" && report["lostFrames"] as? Int == 0, "\(report)")
        #expect(report["seconds"] as? Double == 1.5 && files(report).count == Recorded.kinds.count)
        var exact: [Float] = []
        for (kind, file) in zip(Recorded.kinds, files(report)) {
            let path = scratch("take.\(kind)")
            #expect(file["frames"] as? Int == 72_000 && file["type"] as? String == kind, "\(file)")
            #expect(file["paths"] as? [String] == [path] && file["bytes"] as? Int ?? 0 > 5_000)
            let heard = try Recorded.read(path)
            #expect(heard.count == 1)
            // ADTS cannot declare the encoder's priming and padding.
            if kind != "aac" { #expect(heard[0].count == 72_000, "\(kind)") }
            switch kind {
            case "wav":
                exact = heard[0]
                #expect(exact.dropFirst(Recorded.fade) == played[0][Recorded.fade..<72_000])
            case "aiff", "caf", "flac": #expect(heard[0] == exact, "\(kind)")
            case "aac": #expect(heard[0].count >= 72_000 && abs(Recorded.toneLevel(heard[0])) < 0.2)
            default: #expect(errorDecibels(exact, heard[0]) < -15, "\(kind): \(errorDecibels(exact, heard[0])) dB")
            }
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600, "\(kind)")
        }
    }

    @Test(arguments: ["wav", "flac", "ogg", "opus", "mp3", "aac", "m4a"])
    func `standard output carries a stream that other programs can read`(_ kind: String) throws {
        let scratch = try Scratch()
        try Recorded.write(Recorded.tone(3 * 48_000), to: scratch("tone.wav"))
        let shell = try ChildProcess([
            "bash", "-c",
            "set -o pipefail; '\(Earshot.program)' record - --to \(kind) --device simulated --speak '\(scratch("tone.wav"))' "
                + "--duration 2 | ffmpeg -v error -i - -f f32le -ar 48000 - > '\(scratch("out.raw"))'",
        ])
        #expect(shell.wait() == .exit(0), "\(shell.errors)")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: scratch("out.raw")))
        let samples = bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        // Without a header the encoder's silence is decoded. ffmpeg drops the contents of the first short block of Vorbis.
        #expect(samples.count >= 96_000 - 128 && samples.count < 96_000 + 4_700, "\(samples.count)")
        #expect(sineDefect(Array(samples[24_000..<72_000]), frequency: 440, rate: 48_000) < -35)
        #expect(!shell.errors.contains("Invalid") && shell.errors.contains("(duration)"))
    }

    @Test func `a stream and a file are recorded together, and --to sets the format of the stream`() throws {
        let scratch = try Scratch()
        try Recorded.write(Recorded.noise(48_000), to: scratch("noise.wav"))
        let program = try Recorded.start(
            ["-", scratch("take.flac"), "--to", "wav", "--duration", "0.5"], hears: scratch("noise.wav"),
            standardOutput: scratch("out.wav"))
        #expect(program.wait() == .exit(0), "\(program.errors)")
        // WAV of unknown length, as sox reads it.
        let sox = try ChildProcess(["sox", scratch("out.wav"), scratch("again.flac")])
        #expect(sox.wait() == .exit(0))
        #expect(try Recorded.read(scratch("again.flac")) == Recorded.read(scratch("take.flac")))
    }

    @Test func `an existing file is kept, overwritten or appended to`() throws {
        let scratch = try Scratch()
        let played = Recorded.noise(48_000)[0]
        try Recorded.write([played], to: scratch("played.wav"))
        func record(_ options: String...) throws -> ChildProcess {
            let program = try Recorded.start(
                [scratch("a.wav"), scratch("a.flac"), "--duration", "0.5"] + options, hears: scratch("played.wav"))
            _ = program.wait()
            return program
        }
        #expect(try record("--title", "One", "--bits", "16").wait() == .exit(0))
        let first = try Recorded.read(scratch("a.wav"))[0]
        let refused = try record()
        #expect(refused.wait() == .exit(73) && theFailure(refused).contains("--overwrite, --append"))
        #expect(try Recorded.read(scratch("a.wav"))[0] == first)
        let longer = try record("--append", "--artist", "Me")
        #expect(longer.wait() == .exit(0), "\(longer.errors)")
        for kind in ["wav", "flac"] {
            #expect(longer.errors.contains("a.\(kind): 0:00.500 appended, now 0:01.000, "), "\(longer.errors)")
            let info = try SoundFiles.info(scratch("a.\(kind)"))
            #expect(info.frameCount == 48_000 && info.bitDepth == 16)
            #expect(info.tags.title == "One" && info.tags.artist == "Me")
            let both = try Recorded.read(scratch("a.\(kind)"))[0]
            #expect(both[..<24_000] == first[...], "\(kind)")
            // The fade's last piece of 64 frames is dithered.
            let exact = Recorded.fade + 64
            #expect(both[(24_000 + exact)...] == played[exact..<24_000], "\(kind)")
        }
        #expect(try record("--overwrite").wait() == .exit(0))
        #expect(try Recorded.read(scratch("a.wav"))[0].count == 24_000)
        // The folder contains no other file.
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).count == 3)
    }

    @Test func `a file that cannot be appended to stays unchanged`() throws {
        let scratch = try Scratch()
        try Recorded.write(Recorded.noise(4_800), to: scratch("noise.wav"))
        let first = try Recorded.start([scratch("a.mp3"), "--duration", "0.2"], hears: scratch("noise.wav"))
        #expect(first.wait() == .exit(0))
        let bytes = FileManager.default.contents(atPath: scratch("a.mp3"))
        for (options, words) in [
            ([scratch("a.mp3")], "cannot append to"), ([scratch("noise.wav"), "--rate", "44100"], "48000 Hz"),
            ([scratch("noise.wav"), "--channels", "2"], "has 1"),
        ] {
            let program = try Recorded.start(["--append", "--duration", "0.2"] + options, hears: scratch("noise.wav"))
            #expect(program.wait() != .exit(0))
            #expect(theFailure(program).contains(words), "\(program.errors)")
        }
        #expect(FileManager.default.contents(atPath: scratch("a.mp3")) == bytes)
    }

    @Test func `split parts join to the frame, are numbered consecutively and are not overwritten`() throws {
        let scratch = try Scratch()
        let played = Recorded.noise(3 * 48_000)[0]
        try Recorded.write([played], to: scratch("played.wav"))
        func record(_ options: String...) throws -> ChildProcess {
            let program = try Recorded.start(
                [scratch("take.wav"), scratch("take.mp3"), "--split", "0.4", "--json"] + options,
                hears: scratch("played.wav"))
            _ = program.wait()
            return program
        }
        let program = try record("--duration", "1", "--title", "Long")
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let paths = (1...3).map { scratch("take-00\($0).wav") }
        let found = try files(theReport(program))
        #expect(found.map { $0["paths"] as? [String] ?? [] } == [paths, (1...3).map { scratch("take-00\($0).mp3") }])
        let parts = try paths.map { try Recorded.read($0)[0] }
        #expect(parts.map(\.count) == [19_200, 19_200, 9_600])
        #expect(parts.flatMap { $0 }.dropFirst(Recorded.fade) == played[Recorded.fade..<48_000])
        let tags = try AudioFileTags(path: scratch("take-002.mp3"))
        #expect(tags.title == "Long" && tags.track?.number == 2)
        let refused = try record("--duration", "1")
        #expect(refused.wait() == .exit(73) && theFailure(refused).contains("take-001.wav already exists"))
        let more = try record("--duration", "0.5", "--append")
        #expect(more.wait() == .exit(0), "\(more.errors)")
        #expect(try Recorded.read(scratch("take-004.wav"))[0].count == 19_200)
        #expect(try Recorded.read(scratch("take-005.mp3"))[0].count == 4_800)
    }

    @Test func `SIGUSR1 starts recording from standby with its pre-roll, pauses and resumes`() throws {
        let scratch = try Scratch()
        let played = Recorded.noise(20 * 48_000)[0]
        try Recorded.write([played], to: scratch("played.wav"))
        let program = try Recorded.start(
            [scratch("take.wav"), "--standby", "--pre-roll", "0.3", "--duration", "1", "--json"],
            hears: scratch("played.wav"))
        #expect(program.says("Standing by. To start: kill -USR1"), "\(program.errors)")
        usleep(800_000)
        #expect(Recorded.grows(scratch("take.wav"), to: 1))
        program.signal(SIGUSR1)
        #expect(Recorded.grows(scratch("take.wav"), to: 3 * 30_000))
        program.signal(SIGUSR1)
        #expect(program.says("paused"), "\(program.errors)")
        usleep(300_000)
        program.signal(SIGUSR1)
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let report = try theReport(program)
        #expect(report["pauses"] as? Int == 1 && report["seconds"] as? Double == 1)
        let recorded = try Recorded.read(scratch("take.wav"))[0]
        #expect(recorded.count == 14_400 + 48_000)  // pauses do not count, nor does the pre-roll
        let runs = Recorded.played(recorded, in: played)
        try #require(runs.count == 2 && runs.map(\.count).reduce(0, +) == recorded.count, "\(runs)")
        #expect(runs[0].place > 0 && runs[1].place > runs[0].place + runs[0].count + 4_800, "\(runs)")
    }

    @Test func `silence is removed`() throws {
        let scratch = try Scratch()
        var played = [Float](repeating: 0, count: 2 * 48_000)
        let noise = Recorded.noise(24_000)[0]
        for i in 0..<24_000 { played[48_000 + i] = noise[i] }
        try Recorded.write([played], to: scratch("played.wav"))
        let program = try Recorded.start(
            [scratch("take.wav"), "--trim-silence", "--keep-silence", "0.1", "--duration", "2", "--json"],
            hears: scratch("played.wav"))
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let recorded = try Recorded.read(scratch("take.wav"))[0]
        // Quiet sound at the ends of the noise counts as silence.
        #expect(abs(recorded.count - (24_000 + 9_600)) < 48, "\(recorded.count)")
        let report = try theReport(program)
        #expect(report["trimmedFrames"] as? Int == 96_000 - recorded.count && report["seconds"] as? Double == 2)
    }

    @Test func `on PipeWire a microphone is recorded sample by sample`() throws {
        let scratch = try Scratch()
        let played = Recorded.noise(4 * 48_000)
        try Recorded.write(played, to: scratch("played.wav"))
        try PipeWireServer.running(devices: [.sink("voice", channelCount: 1), .source("mic"), .source("other")]) {
            server in
            let environment = server.environment.mapValues(Optional.some)
            let program = try Earshot.start(
                [
                    "record", scratch("take.wav"), scratch("take.mp3"), "--device", "pipewire", "--microphone", "mic",
                    "--json",
                ],
                environment: environment)
            #expect(program.says("Recording: "), "\(program.errors)")
            try server.link("voice:monitor_MONO", "earshot:input_1")
            let player = try ChildProcess(
                ["pw-play", "--target", "voice", scratch("played.wav")], environment: environment)
            #expect(player.wait(seconds: 15) == .exit(0), "\(player.errors)")
            program.signal(SIGINT)
            #expect(program.wait(seconds: 5) == .exit(0), "\(program.errors)")
            let report = try theReport(program)
            #expect(report["ended"] as? String == "interrupted" && report["channels"] as? Int == 1, "\(report)")
            let recorded = try Recorded.read(scratch("take.wav"))[0]
            #expect(try Recorded.read(scratch("take.mp3"))[0].count == recorded.count)
            guard let start = recorded.firstIndex(where: { $0 != 0 }) else {
                Issue.record("nothing was recorded")
                return
            }
            // Not to its end: the player may end before its last block is heard.
            let runs = Recorded.played(Array(recorded[start...]), in: played[0])
            let lost = report["lostFrames"] as? Int ?? 0
            #expect(lost > 0 || runs.first.map { $0.place == 0 && $0.count > 3 * 48_000 } ?? false, "\(runs.prefix(4))")
        }
    }

    @Test func `on JACK two channels are recorded at a rate that differs from the server's`() throws {
        let scratch = try Scratch()
        let server = try JACKServer(blockFrameCount: 256)
        defer { server.stop() }
        let environment = ["JACK_DEFAULT_SERVER": Optional(server.name)]
        // Beeps of 100 ms, 600 per minute: always the same loudness, 1 kHz.
        let metronome = try ChildProcess(
            ["jack_metro", "-b", "600", "-D", "99", "-a", "0", "-d", "0", "-f", "1000", "-A", "0.25"],
            environment: environment)
        defer { metronome.stop() }
        let program = try Earshot.start([
            "record", scratch("take.flac"), "--jack-server", server.name, "--channels", "2", "--rate", "44100",
            "--duration", "2", "--json",
        ])
        #expect(program.says("Recording: "), "\(program.errors)")
        for _ in 0..<50 where (try? server.connect("metro:600_bpm", "earshot:input_2")) == nil { usleep(50_000) }
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let info = try SoundFiles.info(scratch("take.flac"))
        #expect(info.format == AudioFormat(sampleRate: 44_100, channelCount: 2) && info.frameCount == 88_200)
        let heard = try Recorded.read(scratch("take.flac"))
        let (left, right) = (heard[0][44_100...].map(abs).max() ?? 1, heard[1][44_100...].map(abs).max() ?? 0)
        #expect(left < 0.01 && right > 0.1, "\(left) \(right)")
        #expect(try theReport(program)["rate"] as? Double == 44_100)
    }

    @Test func `a terminal shows a live line, p pauses, q quits, and the terminal is restored`() throws {
        let scratch = try Scratch()
        let played = Recorded.noise(20 * 48_000)[0]
        try Recorded.write([played], to: scratch("played.wav"))
        let terminal = try PseudoTerminal()
        let program = try Recorded.start(
            [scratch("take.wav")], hears: scratch("played.wav"), terminal: terminal)
        #expect(
            program.says("Keys: p or space pause") && terminal.waits(forLineMode: false), "\(terminal.text)")
        #expect(Recorded.grows(scratch("take.wav"), to: 48_000))
        terminal.type("p")
        #expect(program.says("paused"), "\(terminal.text)")
        usleep(300_000)
        terminal.type(" ")
        usleep(500_000)
        terminal.type("q")
        #expect(program.wait(seconds: 5) == .exit(0), "\(terminal.text)")
        #expect(terminal.waits(forLineMode: true))
        // Red, then yellow; a line that replaces the previous one.
        for words in ["\u{1B}[31m●", "\u{1B}[33m‖", "\r\u{1B}[J", "[#", "dB", "(asked): peak"] {
            #expect(terminal.text.contains(words), "\(words): \(terminal.text)")
        }
        let runs = Recorded.played(try Recorded.read(scratch("take.wav"))[0], in: played)
        #expect(runs.count == 2, "\(runs)")
    }

    @Test(arguments: ["\u{3}", "\u{1C}"])
    func `a signal from the keyboard ends recording and the terminal is restored`(key: String) throws {
        let scratch = try Scratch()
        try Recorded.write(Recorded.noise(48_000), to: scratch("noise.wav"))
        let terminal = try PseudoTerminal()
        let program = try Recorded.start([scratch("take.wav")], hears: scratch("noise.wav"), terminal: terminal)
        #expect(program.says("p or space") && terminal.waits(forLineMode: false), "\(terminal.text)")
        #expect(Recorded.grows(scratch("take.wav"), to: 48_000))
        terminal.type(key)
        let ending = program.wait(seconds: 20)
        #expect(key == "\u{3}" ? ending == .exit(0) : ending == .signal(SIGQUIT), "\(terminal.text)")
        #expect(terminal.waits(forLineMode: true))
        #expect(try playableFrames(scratch("take.wav")) > 8_000)
    }

    @Test func `a suspended job restores the terminal, and takes it over again when resumed`() throws {
        let scratch = try Scratch()
        try Recorded.write(Recorded.noise(48_000), to: scratch("noise.wav"))
        let terminal = try PseudoTerminal()
        let shell = try ChildProcess(
            [
                "bash", "-c",
                "set -m; '\(Earshot.program)' record '\(scratch("take.wav"))' --device simulated --speak '\(scratch("noise.wav"))'; "
                    + "echo >&2 stopped $?; stty -a >&2; sleep 0.5; fg >&2; echo >&2 ended $?",
            ], terminal: terminal)
        #expect(shell.says("p or space") && terminal.waits(forLineMode: false), "\(terminal.text)")
        terminal.type("\u{1A}")
        #expect(shell.says("stopped 148") && shell.says(" icanon"), "\(terminal.text)")
        #expect(terminal.waits(forLineMode: false), "\(terminal.text)")
        terminal.type("q")
        #expect(shell.says("ended 0"), "\(terminal.text)")
        #expect(terminal.waits(forLineMode: true))
    }

    @Test func `without a terminal a plain line is printed every five seconds`() throws {
        let scratch = try Scratch()
        try Recorded.write(Recorded.noise(48_000), to: scratch("noise.wav"))
        let program = try Recorded.start([scratch("take.wav"), "--duration", "5.5"], hears: scratch("noise.wav"))
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let lines = program.errors.split(separator: "\n").filter { $0.contains("[") && $0.contains("dB  ") }
        #expect(lines.count == 1 && !program.errors.contains("\u{1B}"), "\(program.errors)")
        // The line shows the frames in the file, without the last second and a block of 0.2 s.
        let seconds = try #require(lines.first.flatMap { Double($0.prefix(6).dropFirst(2)) }, "\(lines)")
        #expect((3.75...5.5).contains(seconds), "\(lines)")
    }

    @Test(arguments: [
        (["x.mpx"], "Unknown format"), (["x.wav", "--to", "mpx"], "Unknown format '.mpx'"), ([], "file"),
        (["-"], "Unknown format"), (["-", "--to", "aiff"], "cannot be AIFF"),
        (["-", "--to", "wav", "--json"], "--json"),
        (["-", "--to", "wav", "--split", "3"], "--split"), (["a.wav", "./a.wav"], "named twice"),
        (["a.wav", "--duration", "0"], "--duration"), (["a.wav", "--split", "0"], "--split"),
        (["a.wav", "--append", "--overwrite"], "exclude"), (["a.wav", "--pre-roll", "3"], "--standby"),
        (["a.wav", "--standby", "--pre-roll", "9999"], "10m"), (["a.wav", "--trim-silence=7"], "-120"),
        (["a.wav", "--channels", "0"], "--channels"), (["a.wav", "--bitrate", "V12"], "--bitrate"),
        (["a.wav", "--bits", "12"], "--bits"), (["a.wav", "--output", "b.wav"], "--output"),
        (["a.wav", "--rate", "1"], "--rate"),
        (["a.wav", "--device", "pipewire", "--speak", "b.wav"], "simulated"),
    ]) func `invalid arguments are reported in one line, with status 64`(options: [String], words: String) throws {
        let program = try Earshot.start(["record"] + options)
        #expect(program.wait() == .exit(64), "\(program.errors)")
        #expect(theFailure(program).contains(words), "\(program.errors)")
        #expect(!FileManager.default.fileExists(atPath: "a.wav"))
    }
}
