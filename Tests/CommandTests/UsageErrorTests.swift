// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import earshot

@Suite struct UsageErrorTests {
    @Test(arguments: [
        (["jion", "127.0.0.1"], "Unknown command 'jion'. Did you mean 'join'?"),
        (["help", "nosuch"], "Unknown command 'nosuch'. List commands: earshot help"),
        (["peers", "block"], "Missing argument <who>. See: earshot peers block --help"),
        (["peers", "forget"], "Name a peer, or use --seen."),
        (["chat", "127.0.0.1", "--json"], "Unknown option '--json'. See: earshot chat --help"),
        (["host", "--pn", "1234"], "Unknown option '--pn'. Did you mean '--pin'?"),
        (["host", "--device", "foo"], "--device cannot be 'foo'. Choose pipewire, jack, alsa or simulated."),
        (
            ["simulate", "--profile", "moon"],
            "--profile cannot be 'moon'. Choose one of: lan, wifi-good, wifi-congested, neteq-burst, iid-2, iid-5, iid-10."
        ),
        (["join", "x", "--codec", "pcm", "--frame", "5"], "--frame needs --codec opus."),
        (["host", "a", "b"], "Unexpected: 'b'. See: earshot host --help"),
        (["duet", "Blue Moon.mp3"], "Unexpected: 'Blue Moon.mp3'. Sing it: earshot duet host 'Blue Moon.mp3'"),
        (
            ["duet", "Studio", "x"],
            "Unexpected: 'Studio'. Begin a duet: earshot duet host SONG. Join one: earshot duet join Studio"
        ),
        (["host", "--name"], "--name needs a value. See: earshot host --help"),
        (["join", "--input", "mic"], "--input is now --microphone."),
        (["play", "x.wav", "--device-rate=48000"], "--device-rate is now --rate."),
        (["send", "x.wav", "--to", "Room"], "--to is now --room."),
        (["simulate", "--capacity", "100"], "--capacity is now --link-rate."),
        (["host", "--jack-name", "x"], "--jack-name is now --client-name."),
        (["loopback", "--gain", "-61"], "--gain must be -60 to 24 (dB)."),
        (["analyze", "a.json", "b.json", "--picture", "call.jpg"], "--picture must end in .png."),
        (["host", "--port", "80000"], "--port cannot be '80000': use 1 to 65535."),
        (["join", "--port", "0"], "--port cannot be '0': use 1 to 65535."),
    ]) func `a wrong command line is reported in one sentence with advice`(arguments: [String], line: String) throws {
        let program = try Earshot.start(arguments)
        #expect(program.wait() == .exit(64))
        #expect(program.errors == "error: \(line)\n")
    }

    @Test(arguments: [
        ["--gain", "-6"], ["--gain", "\u{2212}6"], ["--gain=-6"], ["--gain", "-.5"],
    ]) func `a negative number can follow its option, with a hyphen or a minus sign`(gain: [String]) throws {
        let arguments = ArgumentList(["loopback"] + gain)
        let command = try #require(try EarshotCommand.parseAsRoot(arguments.arguments) as? LoopbackCommand)
        #expect(command.gain < 0)
    }

    @Test func `arguments after a double dash are not options`() throws {
        let arguments = ArgumentList(["record", "--", "--gain", "-6"]).arguments
        #expect(arguments == ["record", "--", "--gain", "-6"])
        #expect(!ArgumentList(["host", "--", "--plain"]).contains("--plain"))
        #expect(try ArgumentList(["host", "--", "-h"]).helpRequest(in: .program) == nil)
    }
}

@Suite struct TimeArgumentTests {
    @Test(
        arguments: [
            ("1.5", 1.5), ("30s", 30), ("2m", 120), ("1h", 3_600), ("200ms", 0.2), ("1h2m3.5s", 3_723.5), ("0", 0),
        ] as [(String, Double)]) func `a time is a number of seconds, or numbers with units`(
            text: String, seconds: Double
        ) throws
    {
        #expect(abs(try #require(TimeArgument.seconds(text)) - seconds) < 1e-9)
    }

    @Test(arguments: ["", "s", "1x", "1m2", "m1", "--json", "nan", "inf", "1 s", "٣s"])
    func `any other text is not a valid time`(text: String) {
        #expect(TimeArgument.seconds(text) == nil)
    }

    @Test(arguments: [["record", "x.wav"], ["host"], ["loopback"], ["forecast", "x"], ["simulate"], ["play", "x"]])
    func `a duration of zero or less is rejected by every command`(command: [String]) throws {
        for time in ["-1", "0", "0ms", "9000h", "never"] {
            let program = try Earshot.start(command + ["--duration", time])
            #expect(program.wait() == .exit(64))
            #expect(
                program.errors
                    == "error: --duration cannot be '\(time)': use a time longer than 0, up to one year, such as 30s, 2m or 1h.\n"
            )
        }
    }
}
