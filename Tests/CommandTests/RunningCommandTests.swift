// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTraits
import Testing

/// Commands that run until the user ends them: the same keys in each, and the plain mode for screen readers.
@Suite(.serialized, .realTime) struct RunningCommandTests {
    static let commands = [
        ["monitor", "--device", "simulated"], ["loopback", "--device", "simulated"],
        ["record", "@/take.wav", "--device", "simulated"], ["play", Earshot.speech, "--loop", "--device", "simulated"],
        ["host", "--no-announce", "--device", "simulated"],
    ]

    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func start(_ command: [String], _ more: [String], _ terminal: PseudoTerminal) throws -> ChildProcess {
        let port = command[0] == "host" ? ["--port", "\(try Earshot.freePort())"] : []
        let arguments = command.map { $0.replacing("@", with: scratch.path) }
        return try Earshot.start(arguments + port + more, terminal: terminal)
    }

    @Test(arguments: commands) func `q quits and the question mark key lists the keys`(command: [String]) throws {
        let terminal = try PseudoTerminal()
        let program = try start(command, [], terminal)
        try #require(program.says("Keys: ") && terminal.waits(forLineMode: false), "\(terminal.text)")
        #expect(eventually { terminal.text.contains("\u{1B}[J") }, "\(terminal.text)")
        let before = terminal.text.count
        terminal.type("?")
        #expect(
            eventually { terminal.text.dropFirst(before).contains(command[0] == "record" ? "q stop" : "this help") })
        terminal.type("q")
        #expect(program.wait(seconds: 10) == .exit(0), "\(terminal.text)")
        #expect(terminal.waits(forLineMode: true))
    }

    @Test(arguments: commands) func `plain mode redraws no line, shows no meters, and s prints the status`(
        command: [String]
    ) throws {
        let terminal = try PseudoTerminal()
        let program = try start(command, ["--plain"], terminal)
        try #require(program.says("Keys: ") && terminal.waits(forLineMode: false), "\(terminal.text)")
        usleep(1_000_000)
        let before = terminal.text
        terminal.type("s")
        #expect(eventually { terminal.text.count > before.count }, "\(terminal.text)")
        terminal.type("q")
        #expect(program.wait(seconds: 10) == .exit(0), "\(terminal.text)")
        #expect(!terminal.text.contains("\u{1B}") && !terminal.text.contains("[#") && !terminal.text.contains("[--"))
        let lines = before.split(whereSeparator: \.isNewline)
        #expect(Set(lines).count == lines.count, "\(before)")
    }
}
