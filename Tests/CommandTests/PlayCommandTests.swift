import AudioBase
import AudioFiles
import Foundation
import Synchronization
import Testing
import TestSupport
import TestTraits

/// A file with these samples in both channels, or one.
private func write(_ path: String, _ samples: [Float], rate: Double = 48_000, channels: Int = 2) throws {
    let writer = try AudioFileWriter(path: path, format: AudioFormat(sampleRate: rate, channelCount: channels))
    let buffer = AudioBuffer(channelCount: channels, frameCapacity: max(1, samples.count))
    for c in 0..<channels { for (i, sample) in samples.enumerated() { buffer.channels[c][i] = sample } }
    try writer.write(buffer.channels, frameCount: samples.count)
    try writer.close()
}

/// A sample that says which frame it is, exactly.
private func numbered(_ frame: Int) -> Float { Float(frame + 1) * 0x1p-23 }

private func tone(_ seconds: Double, _ frequency: Double = 1_000) -> [Float] {
    (0..<Int(seconds * 48_000)).map { sine($0, frequency: frequency, rate: 48_000, amplitude: 0.25) }
}

private func samples(_ path: String) throws -> [Float] {
    let reader = try AudioFileReader(path: path)
    let buffer = AudioBuffer(
        channelCount: reader.processingFormat.channelCount, frameCapacity: max(1, reader.frameCount))
    let count = try reader.read(into: buffer.channels, frameCount: reader.frameCount)
    return (0..<count).map { buffer.channels[0][$0] }
}

private struct Items: Decodable {
    struct Item: Decodable {
        struct Title: Decodable { var title: String }
        var name: String
        var kind: String
        var plays: Int
        var seconds: Double
        var lostFrames: Int
        var stalls: Int
        var titles: [Title]
        var error: String?
    }
    var items: [Item]
    var failures: [String]
    var effects: [String]
    var ended: String
    var seconds: Double
    var seed: UInt64?
}

private func report(_ program: ChildProcess) throws -> Items {
    try JSONDecoder().decode(Items.self, from: Data(program.output.utf8))
}

/// `earshot play` on real servers: what it plays is captured, and compared to the sample.
@Suite(.serialized, .realTime) struct PlaySoundTests {
    /// What jackd's clients hear of the program for some seconds, from its first connection on.
    private func heard(
        _ arguments: [String], seconds: Int, terminal: PseudoTerminal? = nil,
        _ meanwhile: (ChildProcess) -> Void = { _ in }
    ) throws -> (ChildProcess, [Float]) {
        let scratch = try Scratch()
        let server = try JACKServer(blockFrameCount: 256)
        defer { server.stop() }
        let program = try Earshot.start(["play", "--jack-server", server.name] + arguments, terminal: terminal)
        var shown: String { terminal?.text ?? program.errors }
        for _ in 0..<500 where !shown.contains("playing: ") { usleep(10_000) }
        let recorder = try ChildProcess(
            ["jack_rec", "-f", scratch("heard.wav"), "-d", "\(seconds)", "-b", "32", "earshot:output_1"],
            environment: ["JACK_DEFAULT_SERVER": Optional(server.name)])
        meanwhile(program)
        #expect(recorder.wait(seconds: Double(seconds) + 5) == .exit(0), "\(recorder.errors)")
        program.signal(SIGINT)
        #expect(program.wait(seconds: 5) != nil, "\(shown)")
        return (program, try samples(scratch("heard.wav")))
    }

    /// Frames of numbered sound, each run with where it begins and ends.
    private func runs(_ samples: [Float]) -> [ClosedRange<Int>] {
        var runs: [ClosedRange<Int>] = []
        var before = -2
        for sample in samples {
            let exact = Double(sample) * 0x1p23
            let frame = exact == exact.rounded() && exact > 0 ? Int(exact) - 1 : -2
            if frame >= 0, frame == before + 1, let last = runs.last, last.upperBound == before {
                runs[runs.count - 1] = last.lowerBound...frame
            } else if frame >= 0 {
                runs.append(frame...frame)
            }
            before = frame
        }
        return runs.filter { $0.count > 1_000 }
    }

    @Test func `the files of a list follow each other to the sample`() throws {
        let scratch = try Scratch()
        let ends = [0, 100_000, 147_001, 147_002, 300_000]
        var names: [String] = []
        for (from, to) in zip(ends, ends.dropFirst()) {
            names.append("\(from).wav")
            try write(scratch("\(from).wav"), (from..<to).map(numbered))
        }
        try names.joined(separator: "\n").write(toFile: scratch("list.m3u"), atomically: true, encoding: .utf8)
        let (program, heard) = try heard([scratch("list.m3u"), "--json"], seconds: 5)
        let run = try #require(runs(heard).max { $0.count < $1.count })
        #expect(run.lowerBound < 100_000 && run.upperBound > 160_000, "\(runs(heard))")
        let report = try report(program)
        #expect(report.items.map(\.name).first == scratch("0.wav"))
        #expect(report.items[0].seconds == 100_000 / 48_000.0 && report.items[1].seconds == 47_001 / 48_000.0)
        #expect(report.items.allSatisfy { $0.error == nil && $0.kind == "file" })
    }

    @Test func `keys go about in it, and on to the next`() throws {
        let scratch = try Scratch()
        try write(scratch("a.wav"), (0..<2_000_000).map(numbered))
        try write(scratch("b.wav"), (3_000_000..<3_480_000).map(numbered))
        let terminal = try PseudoTerminal()
        let (program, heard) = try heard(
            [scratch("a.wav"), scratch("b.wav"), "--start", "10", "--json"], seconds: 6, terminal: terminal
        ) { program in
            for key in ["\u{1B}[C", "\u{1B}[D", " ", " ", "?", "n"] {
                usleep(700_000)
                terminal.type(key)
            }
            usleep(700_000)
            #expect(terminal.text.contains("b.wav"), "\(terminal.text)")
            terminal.type("q")
            #expect(program.wait(seconds: 5) == .exit(0), "\(terminal.text)")
        }
        let found = runs(heard)
        // From 10 s on, 5 s further, back again, on after the pause, then the next.
        try #require(found.count == 5, "\(found)")
        #expect(found[0].lowerBound > 480_000 && found[0].upperBound < 620_000, "\(found)")
        let jumps = zip(found, found.dropFirst()).map { Double($1.lowerBound - $0.upperBound) / 48_000 }
        #expect(abs(jumps[0] - 5) < 0.5 && abs(jumps[1] + 5) < 0.5 && abs(jumps[2]) < 0.1, "\(jumps)")
        #expect(found[4].lowerBound == 3_000_000, "\(found)")
        #expect(terminal.text.contains("5 s back, on") && terminal.text.contains("‖") && terminal.text.contains("░"))
        #expect(terminal.isInLineMode)
        #expect(try report(program).ended == "quit" && report(program).items.map(\.plays) == [1, 1])
    }

    @Test func `keys go about in a file over http`() throws {
        let scratch = try Scratch()
        try write(scratch("a.wav"), (0..<2_000_000).map(numbered))
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: scratch("a.wav"))))
        let server = try LoopbackServer { $0.send(file: bytes) }
        let terminal = try PseudoTerminal()
        let (program, heard) = try heard(
            [server.address("/a.wav"), "--start", "20", "--json"], seconds: 8, terminal: terminal
        ) { program in
            for key in ["\u{1B}[D", "\u{1B}[C"] {
                usleep(2_000_000)
                terminal.type(key)
            }
            usleep(2_000_000)
            terminal.type("q")
            #expect(program.wait(seconds: 5) == .exit(0), "\(terminal.text)")
        }
        let found = runs(heard)
        // From 20 s on, 5 s back, 5 s on. A stretch may be in two where the machine stood still.
        try #require(found.count >= 3, "\(found)")
        #expect(found[0].lowerBound >= 960_000 && found[0].lowerBound < 1_100_000, "\(found)")
        let jumps = zip(found, found.dropFirst()).map { Double($1.lowerBound - $0.upperBound) / 48_000 }
        #expect(jumps.contains { abs($0 + 5) < 0.5 } && jumps.contains { abs($0 - 5) < 0.5 }, "\(jumps)")
        #expect(terminal.text.contains("░"))
        let report = try report(program)
        #expect(report.items[0].stalls == 0 && report.items[0].error == nil && report.items[0].lostFrames == 0)
        #expect(server.requests.filter { $0.contains("Range: ") }.count == 3)
    }

    @Test func `another speed has the same pitch`() throws {
        let scratch = try Scratch()
        try write(scratch("tone.wav"), tone(30))
        let (program, heard) = try heard([scratch("tone.wav"), "--rate", "1.5", "--start", "3", "--json"], seconds: 3)
        let sound = heard.suffix(96_000)
        let crossings = sound.indices.dropLast().filter { sound[$0] < 0 && sound[$0 + 1] >= 0 }
        let periods = Double(crossings.count - 1)
        let frequency = periods * 48_000 / Double(try #require(crossings.last) - crossings[0])
        #expect(abs(frequency - 1_000) < 2, "\(frequency) Hz")
        let report = try report(program)
        #expect((1.2...1.55).contains(report.items[0].seconds / report.seconds), "\(program.output)")
    }

    @Test func `on PipeWire it comes out of the sink that is named, softer by the effect and the volume`() throws {
        let scratch = try Scratch()
        try write(scratch("tone.wav"), tone(20))
        try PipeWireServer.running(devices: [.sink("speakers"), .sink("phones")]) { server in
            try server.setDefaultOutput("speakers")
            let environment = server.environment.mapValues(Optional.some)
            let program = try Earshot.start(
                [
                    "play", "--device", "pipewire", "--output", "phones", "--effect", "gain,gain=-6", "--volume", "-4",
                    scratch("tone.wav"),
                ], environment: environment)
            #expect(program.says("effects: Gain"), "\(program.errors)")
            let heard = try ChildProcess(
                [
                    "pw-record", "-P", "{ stream.capture.sink=true }", "--target", "phones", "--rate", "48000",
                    scratch("heard.wav"),
                ], environment: environment)
            usleep(3_000_000)
            heard.signal(SIGINT)
            #expect(heard.wait(seconds: 5) != nil)
            program.signal(SIGINT)
            #expect(program.wait(seconds: 5) == .exit(130), "\(program.errors)")
            let sound = try samples(scratch("heard.wav")).suffix(60_000).prefix(48_000)
            let energy = sound.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(sound.count)
            // A sine of -12.04 dB has -15.05 dB of energy.
            #expect(abs(10 * log10(max(energy, 1e-12)) + 25.05) < 0.3, "\(10 * log10(max(energy, 1e-12))) dB")
        }
    }
}

/// What becomes of it when the sound card changes.
@Suite(.serialized, .realTime) struct PlayRouteTests {
    @Test func `it pauses when headphones are pulled, and a key lets it go on`() throws {
        let scratch = try Scratch()
        try write(scratch("tone.wav"), tone(60))
        try PipeWireServer.running(devices: [.sink("speakers")]) { server in
            try server.add(
                .sink("phones", ["device.form-factor": "headphone", "device.bus": "usb", "priority.session": "3000"]))
            let terminal = try PseudoTerminal()
            func shows(_ words: String) -> Bool {
                for _ in 0..<500 where !terminal.text.contains(words) { usleep(20_000) }
                return terminal.text.contains(words)
            }
            let program = try Earshot.start(
                ["play", "--device", "pipewire", "--output", "phones", scratch("tone.wav"), "--json"],
                environment: server.environment.mapValues(Optional.some), terminal: terminal)
            #expect(shows("playing: "), "\(terminal.text)")
            usleep(500_000)
            try server.remove("phones")
            #expect(shows("paused: ") && shows("‖"), "\(terminal.text)")
            terminal.type(" ")
            #expect(shows("sound moved to speakers"), "\(terminal.text)")
            terminal.type("q")
            #expect(program.wait(seconds: 5) == .exit(0), "\(terminal.text)")
            #expect(try report(program).items[0].seconds > 0.3)
        }
    }
}

/// What it plays, and what it says.
@Suite(.serialized, .realTime) struct PlayCommandTests {
    private func play(_ arguments: [String]) throws -> ChildProcess {
        try Earshot.start(["play", "--device", "simulated"] + arguments)
    }

    @Test func `what is missing or no sound is told and left out, and the status says so`() throws {
        let scratch = try Scratch()
        try write(scratch("good.wav"), tone(0.5))
        try "no sound at all".write(toFile: scratch("bad.wav"), atomically: true, encoding: .utf8)
        let program = try play([scratch("none.wav"), scratch("bad.wav"), scratch("good.wav"), "--json"])
        #expect(program.wait() == .exit(66), "\(program.errors)")
        let told = program.errors.split(separator: "\n").filter { $0.hasPrefix("earshot: ") }
        #expect(told.count == 2 && told[0].contains("none.wav") && told[1].contains("bad.wav"), "\(program.errors)")
        let report = try report(program)
        #expect(report.ended == "finished" && report.items.count == 3)
        #expect(report.items[0].error != nil && report.items[1].error != nil && report.items[0].plays == 0)
        #expect(report.items[2].seconds == 0.5 && report.items[2].lostFrames == 0)
    }

    @Test func `nothing to play is an error`() throws {
        let scratch = try Scratch()
        for (name, status) in [("none.wav", 66), ("none.m3u", 66), ("", 66)] {
            let program = try play([scratch(name)])
            #expect(program.wait() == .exit(Int32(status)), "\(program.errors)")
            #expect(theFailure(program).contains(scratch.path), "\(program.errors)")
        }
        try "#EXTM3U\n#EXT-X-VERSION:3\nx.ts\n".write(toFile: scratch("hls.m3u8"), atomically: true, encoding: .utf8)
        let program = try play([scratch("hls.m3u8")])
        #expect(program.wait() == .exit(65) && theFailure(program).contains("HTTP Live Streaming"))
    }

    @Test func `where all files are missing that is told, before a sound system is asked for`() throws {
        let scratch = try Scratch()
        try write(scratch("good.wav"), tone(0.5))
        func start(_ names: [String]) throws -> ChildProcess {
            try Earshot.start(["play", "--jack-server", "earshot-nobody"] + names.map { scratch($0) })
        }
        let missing = try start(["none.wav"])
        #expect(missing.wait() == .exit(66), "\(missing.errors)")
        #expect(theFailure(missing).contains("none.wav: there is no such file"), "\(missing.errors)")
        let both = try start(["none.wav", "none.mp3"])
        #expect(both.wait() == .exit(66), "\(both.errors)")
        #expect(both.errors.contains("none.wav: there") && both.errors.contains("none.mp3: there"), "\(both.errors)")
        let some = try start(["none.wav", "good.wav"])
        #expect(some.wait() == .exit(69), "\(some.errors)")
        _ = theFailure(some)
    }

    @Test func `folders, playlists and standard input are gone into`() throws {
        let scratch = try Scratch()
        try FileManager.default.createDirectory(atPath: scratch("folder"), withIntermediateDirectories: true)
        for name in ["folder/2.flac", "folder/10.wav", "x=1.wav"] { try write(scratch(name), tone(0.1), channels: 1) }
        try "[playlist]\nFile1=x=1.wav\nTitle1=x\nFile2=\(scratch("folder"))\n".write(
            toFile: scratch("list.pls"), atomically: true, encoding: .utf8)
        let command =
            "cat '\(scratch("x=1.wav"))' | '\(Earshot.program)' play --device simulated --json '\(scratch("list.pls"))' -"
        let program = try ChildProcess(["bash", "-c", command])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        #expect(
            try report(program).items.map(\.name) == [
                scratch("x=1.wav"), scratch("folder/2.flac"), scratch("folder/10.wav"), "standard input",
            ])
        #expect(try report(program).items.allSatisfy { abs($0.seconds - 0.1) < 1e-9 })
        #expect(program.errors.contains("playing: standard input"), "\(program.errors)")
    }

    @Test func `a pipe is heard as it comes, what needs all of it when it is there, and a file may be gone about in`()
        throws
    {
        let scratch = try Scratch()
        try write(scratch("tone.wav"), tone(2))
        try write(scratch("tone.flac"), tone(0.5))
        for (input, options, seconds, ended) in [
            ("< <(cat tone.wav; sleep 4)", "--seconds 1.2", 0.3...1.2, "duration"),
            ("< <(cat tone.flac)", "", 0.5...0.5, "finished"),
            ("< tone.flac", "--start 0.25", 0.24...0.26, "finished"),
        ] {
            let command =
                "cd \(scratch.path); exec '\(Earshot.program)' play --device simulated --json \(options) - \(input)"
            let program = try ChildProcess(["bash", "-c", command])
            #expect(program.wait() == .exit(0), "\(program.errors)")
            let report = try report(program)
            #expect(seconds.contains(report.items[0].seconds) && report.ended == ended, "\(input): \(program.output)")
        }
        let program = try ChildProcess(["bash", "-c", "'\(Earshot.program)' play --device simulated - </dev/null"])
        #expect(program.wait() == .exit(65) && theFailure(program).contains("empty"), "\(program.errors)")
    }

    @Test func `the same seed shuffles alike, each once a round`() throws {
        let scratch = try Scratch()
        for k in 0..<6 { try write(scratch("\(k).wav"), tone(0.15), channels: 1) }
        func order(_ options: [String]) throws -> [Substring] {
            let program = try play([scratch.path, "--shuffle", "--seed", "7"] + options)
            #expect(program.wait() == .exit(0), "\(program.errors)")
            return program.errors.split(separator: "\n").filter { $0.hasPrefix("playing: ") }
        }
        let first = try order([])
        #expect(first.count == 6 && Set(first).count == 6 && first != first.sorted())
        let again = try order(["--loop", "--seconds", "1.6"])
        #expect(Array(again.prefix(6)) == first && again.count > 6, "\(again)")
    }

    @Test func `a station plays with its titles, until Ctrl-C`() throws {
        let scratch = try Scratch()
        try write(scratch("tone.wav"), tone(20))
        let body = LoopbackServer.interleave(
            [UInt8](try Data(contentsOf: URL(fileURLWithPath: scratch("tone.wav")))), interval: 200_000,
            texts: [0: Array("StreamTitle='Somebody - A song\u{1B}[2J';".utf8)])
        let over = Atomic(false)
        let server = try LoopbackServer { connection in
            connection.send("HTTP/1.0 200 OK\r\nicy-name: Radio Test\r\nicy-metaint: 200000\r\n\r\n")
            connection.send(body)
            while !over.load(ordering: .relaxed) { usleep(1_000) }
        }
        defer { over.store(true, ordering: .relaxed) }
        let program = try play([server.address("/live?key=secret"), "--effect", "reverb", "--json"])
        #expect(program.says("title: Radio Test") && program.says("title: Somebody - A song"), "\(program.errors)")
        program.signal(SIGINT)
        #expect(program.wait() == .exit(130), "\(program.errors)")
        #expect(!program.errors.contains("secret") && !program.errors.contains("\u{1B}"), "\(program.errors)")
        let report = try report(program)
        #expect(report.items[0].kind == "stream" && report.items[0].seconds > 0.5 && report.effects == ["Reverb"])
        #expect(report.items[0].titles.count == 2 && !program.output.contains("secret"), "\(program.output)")
    }

    @Test func `an address that was never reached, or is none, is shown without its secrets too`() throws {
        let scratch = try Scratch()
        for name in ["a.wav", "b.wav"] { try write(scratch(name), tone(8), channels: 1) }
        let address = "http://me:secret@radio.example:8000/live?key=secret"
        // Two files of which the second is long: nothing behind it is looked at yet.
        let early = try play([scratch("a.wav"), scratch("b.wav"), address, "--seconds", "0.2", "--json"])
        #expect(early.wait() == .exit(0), "\(early.errors)")
        #expect(try report(early).items[2].name == "http://radio.example:8000/live")
        #expect(!(early.output + early.errors).contains("secret"), "\(early.output) \(early.errors)")
        let refused = try play([scratch("a.wav"), "http://me:secret@/live?key=secret", "--seconds", "0.2", "--json"])
        #expect(refused.wait() == .exit(64), "\(refused.errors)")
        #expect(try report(refused).items[1].error != nil)
        #expect(!(refused.output + refused.errors).contains("secret"), "\(refused.output) \(refused.errors)")
    }

    @Test func `a web page, and an address that is none, are errors that say so`() throws {
        let server = try LoopbackServer { connection in
            guard connection.request.hasPrefix("GET /page ") else {
                connection.send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                return
            }
            connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n")
            connection.send("<!DOCTYPE html>\n<html><head><title>Radio</title></head><body>Listen</body></html>")
        }
        for (address, status, words) in [
            (server.address("/page"), 65, "a web page"), (server.address("/gone"), 66, "404"),
            ("http://", 64, "not an address"),
        ] {
            let program = try play([address])
            #expect(program.wait() == .exit(Int32(status)), "\(program.errors)")
            #expect(theFailure(program).contains(words), "\(program.errors)")
        }
    }

    @Test func `a station that stalls is waited for`() throws {
        let scratch = try Scratch()
        try write(scratch("tone.wav"), tone(4))
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: scratch("tone.wav"))))
        let isOn = Atomic(false)
        let server = try LoopbackServer { connection in
            connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: \(bytes.count)\r\n\r\n")
            connection.send(Array(bytes[..<600_000]))
            while !isOn.load(ordering: .relaxed) { usleep(1_000) }
            connection.send(Array(bytes[600_000...]))
        }
        let program = try play([server.address("/file.wav"), "--json"])
        for _ in 0..<500 where program.errors.components(separatedBy: "waiting for sound").count < 3 { usleep(20_000) }
        isOn.store(true, ordering: .relaxed)
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let report = try report(program)
        #expect(report.items[0].stalls == 1 && report.items[0].seconds == 4 && report.items[0].lostFrames == 0)
    }

    @Test func `a server that knows no parts is told of, and it plays from the beginning`() throws {
        let scratch = try Scratch()
        try write(scratch("tone.wav"), tone(1))
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: scratch("tone.wav"))))
        let server = try LoopbackServer { $0.send(file: bytes, hasRanges: false) }
        let program = try play([server.address("/tone.wav"), "--start", "0.5", "--json"])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        #expect(program.errors.contains("cannot be gone about in"), "\(program.errors)")
        #expect(try report(program).items[0].seconds == 1)
    }

    @Test func `in a loop a stream that failed is tried again`() throws {
        let scratch = try Scratch()
        try write(scratch("tone.wav"), tone(0.5))
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: scratch("tone.wav"))))
        for others in [[], [scratch("tone.wav")]] {
            let server = try LoopbackServer { connection in
                if connection.number < 2 {
                    connection.send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                } else {
                    connection.send(file: bytes)
                }
            }
            let program = try play([server.address("/tone.wav"), "--loop", "--json"] + others)
            #expect(program.says("trying again"), "\(program.errors)")
            for _ in 0..<2_000 where server.requests.count < 5 { usleep(10_000) }
            program.signal(SIGINT)
            #expect(program.wait() == .exit(130), "\(program.errors)")
            let report = try report(program)
            #expect(report.items[0].seconds > 0 && report.items[0].error == nil, "\(program.output)")
        }
    }

    @Test(arguments: [
        (["--volume", "19"], "-60 to 18"), (["--rate", "5"], "0.25 to 4"), (["--seed", "1"], "--shuffle"),
        (["--start", "-1"], "--start"), (["--seconds", "0"], "--seconds"), (["--effect", "revreb"], "'reverb'"),
        (["--block", "3"], "--block"), (["--device-rate", "1"], "--device-rate takes 8000"),
    ]) func `options that make no sense are usage errors that say what does`(options: [String], words: String) throws {
        let program = try play(["x.wav"] + options)
        #expect(program.wait() == .exit(64), "\(program.errors)")
        #expect(theFailure(program).contains(words), "\(program.errors)")
    }
}
