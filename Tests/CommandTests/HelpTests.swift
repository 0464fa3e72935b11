// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite struct HelpTests {
    @Test(arguments: [
        ["--help"], ["host", "--help"], ["join", "--help"], ["devices", "--help"],
        ["loopback", "--help"], ["monitor", "--help"], ["effects", "--help"], ["render", "--help"],
        ["analyze", "--help"], ["process-voice", "--help"], ["record", "--help"],
        ["play", "--help"], ["simulate", "--help"], ["convert", "--help"], ["info", "--help"],
        ["help", "host"], ["peers", "--help"], ["chat", "--help"], ["send", "--help"], ["peers", "forget", "--help"],
        ["forecast", "--help"],
    ])
    func `each command explains itself`(arguments: [String]) throws {
        let program = try Earshot.start(arguments)
        #expect(program.wait() == .exit(0))
        #expect(program.output.contains("USAGE:") && program.errors.isEmpty)
    }

    @Test func `the version is one line`() throws {
        let program = try Earshot.start(["--version"])
        #expect(program.wait() == .exit(0))
        #expect(program.output.split(separator: "\n").count == 1)
    }

    @Test(arguments: ["bash", "zsh", "fish"]) func `completion scripts are made`(shell: String) throws {
        let program = try Earshot.start(["--generate-completion-script", shell])
        #expect(program.wait() == .exit(0))
        for word in [
            "host", "join", "devices", "loopback", "monitor", "effects", "render", "analyze", "process-voice",
            "record", "trim-silence", "play", "shuffle", "convert", "normalize", "info", "peers", "accept",
            "no-announce", "purpose", "watch", "simulate", "wifi-congested", "trace", "chat", "send", "receive", "stay",
            "pipewire",
            "alsa", "simulated", "forecast", "ephemeral", "no-adapt",
        ] {
            #expect(program.output.contains(word))
        }
    }

    @Test func `an unknown command is a usage error`() throws {
        let program = try Earshot.start(["sing"])
        #expect(program.wait() == .exit(64))
        #expect(program.errors.contains("sing"))
    }
}
