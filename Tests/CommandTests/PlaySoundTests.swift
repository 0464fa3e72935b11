// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTraits
import Testing

/// `earshot play` on real servers: its output is captured and compared to the sample.
@Suite(.serialized, .realTime, .needs("jackd", "pipewire")) struct PlaySoundTests {
    /// Returns the program's sound at jackd's clients for some seconds, from its first connection on.
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
        return (program, try Played.samples(scratch("heard.wav")))
    }

    /// Returns the runs of numbered frames with their beginnings and ends.
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

    @Test func `the files of a playlist play without a gap, to the sample`() throws {
        let scratch = try Scratch()
        let ends = [0, 100_000, 147_001, 147_002, 300_000]
        var names: [String] = []
        for (from, to) in zip(ends, ends.dropFirst()) {
            names.append("\(from).wav")
            try Played.write(scratch("\(from).wav"), (from..<to).map(Played.numbered))
        }
        try names.joined(separator: "\n").write(toFile: scratch("list.m3u"), atomically: true, encoding: .utf8)
        let (program, heard) = try heard([scratch("list.m3u"), "--json"], seconds: 5)
        let run = try #require(runs(heard).max { $0.count < $1.count })
        #expect(run.lowerBound < 100_000 && run.upperBound > 160_000, "\(runs(heard))")
        let report = try Played.report(program)
        #expect(report.items.map(\.name).first == scratch("0.wav"))
        #expect(report.items[0].seconds == 100_000 / 48_000.0 && report.items[1].seconds == 47_001 / 48_000.0)
        #expect(report.items.allSatisfy { $0.error == nil && $0.kind == "file" })
    }

    @Test func `keys seek within a file and skip to the next one`() throws {
        let scratch = try Scratch()
        try Played.write(scratch("a.wav"), (0..<2_000_000).map(Played.numbered))
        try Played.write(scratch("b.wav"), (3_000_000..<3_480_000).map(Played.numbered))
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
        // From 10 s on, 5 s forward, back again, on after the pause, then the next.
        try #require(found.count == 5, "\(found)")
        #expect(found[0].lowerBound > 480_000 && found[0].upperBound < 620_000, "\(found)")
        let jumps = zip(found, found.dropFirst()).map { Double($1.lowerBound - $0.upperBound) / 48_000 }
        #expect(abs(jumps[0] - 5) < 0.5 && abs(jumps[1] + 5) < 0.5 && abs(jumps[2]) < 0.1, "\(jumps)")
        #expect(found[4].lowerBound == 3_000_000, "\(found)")
        #expect(terminal.text.contains("5 s back or on") && terminal.text.contains("‖") && terminal.text.contains("░"))
        #expect(terminal.isInLineMode)
        #expect(try Played.report(program).ended == "quit" && Played.report(program).items.map(\.plays) == [1, 1])
    }

    @Test func `keys seek within a file over HTTP`() throws {
        let scratch = try Scratch()
        try Played.write(scratch("a.wav"), (0..<2_000_000).map(Played.numbered))
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
        // From 20 s on, 5 s back, 5 s forward. A run may be in two parts if the machine paused.
        try #require(found.count >= 3, "\(found)")
        #expect(found[0].lowerBound >= 960_000 && found[0].lowerBound < 1_100_000, "\(found)")
        let jumps = zip(found, found.dropFirst()).map { Double($1.lowerBound - $0.upperBound) / 48_000 }
        #expect(jumps.contains { abs($0 + 5) < 0.5 } && jumps.contains { abs($0 - 5) < 0.5 }, "\(jumps)")
        #expect(terminal.text.contains("░"))
        let report = try Played.report(program)
        #expect(report.items[0].stalls == 0 && report.items[0].error == nil && report.items[0].lostFrames == 0)
        #expect(server.requests.filter { $0.contains("Range: ") }.count == 3)
    }

    @Test func `a different speed keeps the pitch`() throws {
        let scratch = try Scratch()
        try Played.write(scratch("tone.wav"), Played.tone(30))
        let (program, heard) = try heard([scratch("tone.wav"), "--speed", "1.5", "--start", "3", "--json"], seconds: 3)
        let sound = heard.suffix(96_000)
        let crossings = sound.indices.dropLast().filter { sound[$0] < 0 && sound[$0 + 1] >= 0 }
        let periods = Double(crossings.count - 1)
        let frequency = periods * 48_000 / Double(try #require(crossings.last) - crossings[0])
        #expect(abs(frequency - 1_000) < 2, "\(frequency) Hz")
        let report = try Played.report(program)
        #expect((1.2...1.55).contains(report.items[0].seconds / report.seconds), "\(program.output)")
    }

    @Test func `on PipeWire the named sink plays, attenuated by the effect and the volume`() throws {
        let scratch = try Scratch()
        try Played.write(scratch("tone.wav"), Played.tone(20))
        try PipeWireServer.running(devices: [.sink("speakers"), .sink("phones")]) { server in
            try server.setDefaultOutput("speakers")
            let environment = server.environment.mapValues(Optional.some)
            let program = try Earshot.start(
                [
                    "play", "--device", "pipewire", "--speaker", "phones", "--effect", "gain,gain=-6", "--volume", "-4",
                    scratch("tone.wav"),
                ], environment: environment)
            #expect(program.says("Effects: Gain"), "\(program.errors)")
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
            let sound = try Played.samples(scratch("heard.wav")).suffix(60_000).prefix(48_000)
            let energy = sound.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(sound.count)
            // A sine of −12.04 dB has an energy of −15.05 dB.
            #expect(abs(10 * log10(max(energy, 1e-12)) + 25.05) < 0.3, "\(10 * log10(max(energy, 1e-12))) dB")
        }
    }
}

/// Tests it while the sound card changes.
@Suite(.serialized, .realTime, .needs("jackd", "pipewire")) struct PlayRouteTests {
    @Test func `playback pauses when headphones are unplugged, and a key resumes it`() throws {
        let scratch = try Scratch()
        try Played.write(scratch("tone.wav"), Played.tone(60))
        try PipeWireServer.running(devices: [.sink("speakers")]) { server in
            try server.add(
                .sink("phones", ["device.form-factor": "headphone", "device.bus": "usb", "priority.session": "3000"]))
            let terminal = try PseudoTerminal()
            func shows(_ words: String) -> Bool {
                for _ in 0..<500 where !terminal.text.contains(words) { usleep(20_000) }
                return terminal.text.contains(words)
            }
            let program = try Earshot.start(
                ["play", "--device", "pipewire", "--speaker", "phones", scratch("tone.wav"), "--json"],
                environment: server.environment.mapValues(Optional.some), terminal: terminal)
            #expect(shows("playing: "), "\(terminal.text)")
            usleep(500_000)
            try server.remove("phones")
            #expect(shows("paused: ") && shows("‖"), "\(terminal.text)")
            terminal.type(" ")
            #expect(shows("sound moved to speakers"), "\(terminal.text)")
            terminal.type("q")
            #expect(program.wait(seconds: 5) == .exit(0), "\(terminal.text)")
            #expect(try Played.report(program).items[0].seconds > 0.3)
        }
    }
}
