// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import earshot

@Suite struct UsageErrorTests {
    @Test(arguments: [
        (["jion", "127.0.0.1"], "Unknown command 'jion'. Did you mean 'join'?"),
        (["help", "nosuch"], "Unknown command 'nosuch'. List commands: earshot help"),
        (["peers", "forget"], "Missing argument <who>. See: earshot peers forget --help"),
        (["chat", "127.0.0.1", "--json"], "Unknown option '--json'. See: earshot chat --help"),
        (["host", "--pn", "1234"], "Unknown option '--pn'. Did you mean '--pin'?"),
        (["host", "--device", "foo"], "--device cannot be 'foo'. Choose pipewire, jack, alsa or simulated."),
        (
            ["simulate", "--profile", "moon"],
            "--profile cannot be 'moon'. Choose one of: lan, wifi-good, wifi-congested, neteq-burst, iid-2, iid-5, iid-10."
        ),
        (["host", "a", "b"], "Unexpected: 'b'. See: earshot host --help"),
        (["host", "--name"], "--name needs a value. See: earshot host --help"),
        (["join", "--input", "mic"], "--input is now --microphone."),
        (["play", "x.wav", "--device-rate=48000"], "--device-rate is now --rate."),
        (["send", "x.wav", "--to", "Room"], "--to is now --room."),
        (["simulate", "--capacity", "100"], "--capacity is now --link-rate."),
        (["host", "--jack-name", "x"], "--jack-name is now --client-name."),
        (["loopback", "--gain", "-61"], "--gain takes -60 to 24 (dB)."),
    ]) func `a wrong command line is told in one sentence, with what to do`(arguments: [String], line: String) throws {
        let program = try Earshot.start(arguments)
        #expect(program.wait() == .exit(64))
        #expect(program.errors == "error: \(line)\n")
    }

    @Test(arguments: [
        ["--gain", "-6"], ["--gain", "\u{2212}6"], ["--gain=-6"], ["--gain", "-.5"],
    ]) func `a negative number may follow its option, with either minus`(gain: [String]) throws {
        let arguments = ArgumentList(["loopback"] + gain)
        let command = try #require(try EarshotCommand.parseAsRoot(arguments.arguments) as? LoopbackCommand)
        #expect(command.gain < 0)
    }

    @Test func `behind a double dash nothing is an option`() throws {
        let arguments = ArgumentList(["record", "--", "--gain", "-6"]).arguments
        #expect(arguments == ["record", "--", "--gain", "-6"])
        #expect(!ArgumentList(["host", "--", "--plain"]).contains("--plain"))
        #expect(try ArgumentList(["host", "--", "-h"]).helpRequest(in: .program) == nil)
    }
}
