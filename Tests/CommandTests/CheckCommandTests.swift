// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTraits
import Testing

/// `earshot check` with the program as users run it, on a simulated card.
@Suite(.serialized, .realTime) struct CheckCommandTests {
    private let scratch: Scratch
    /// The folder of the user's data.
    private let data: String

    init() throws {
        scratch = try Scratch()
        data = scratch("data")
    }

    /// Returns a file with a voice of 20 s.
    private func voice(gain: Float) throws -> String {
        let path = scratch("voice.wav")
        try Recorded.write([Recorded.noise(20 * 48_000)[0].map { max(-1, min(1, $0 * gain)) }], to: path)
        return path
    }

    private func check(_ more: [String] = [], terminal: PseudoTerminal? = nil) throws -> ChildProcess {
        try Earshot.start(
            ["check", "--device", "simulated"] + more, environment: ["XDG_DATA_HOME": data], terminal: terminal)
    }

    private var storePath: String { "\(data)/earshot/sound-checks.json" }

    @Test func `Enter after the playback accepts the devices, and the answer is stored for its owner only`() throws {
        let terminal = try PseudoTerminal()
        let program = try check(["--speak", try voice(gain: 0.5), "--json"], terminal: terminal)
        for words in [
            "Sound check. Keys: Enter go on, r repeat, q quit", "Microphone: Simulated card (virtual sound card)",
            "Headphones or loudspeaker: Simulated card", "You hear 2 ticks.", "microphone [", "Speak now, for 2 s.",
            "The microphone works: level -", "You sound like this:", "Did you hear the ticks and your voice?",
        ] { #expect(program.says(words), "\(words): \(program.errors)") }
        terminal.type("\n")
        #expect(program.wait() == .exit(0), "\(program.errors)")
        #expect(program.errors.contains("To repeat it: earshot check"), "\(program.errors)")
        #expect(program.errors.contains("of these devices for duets: earshot calibrate"), "\(program.errors)")
        #expect(terminal.isInLineMode)
        let report = try theReport(program)
        #expect(report["finding"] as? String == "fine" && report["decision"] as? String == "accepted", "\(report)")
        let level = try #require(report["levelDb"] as? Double)
        #expect(level > -22 && level < -14, "\(level)")
        #expect((report["device"] as? [String: Any])?["kind"] as? String == "simulated")
        let attributes = try FileManager.default.attributesOfItem(atPath: storePath)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    @Test func `r begins again, and q leaves without an answer`() throws {
        let terminal = try PseudoTerminal()
        let program = try check(terminal: terminal)
        #expect(program.says("Speak now"), "\(program.errors)")
        terminal.type("r")
        #expect(eventually { program.errors.components(separatedBy: "Sound check.").count == 3 }, "\(program.errors)")
        terminal.type("?q")
        #expect(program.wait() == .exit(130), "\(program.errors)")
        #expect(terminal.isInLineMode && !FileManager.default.fileExists(atPath: storePath))
    }

    @Test(arguments: ["\u{3}", "TERM"]) func `Ctrl-C and a signal end the check and restore the terminal`(
        key: String
    ) throws {
        let terminal = try PseudoTerminal()
        let program = try check(["--json"], terminal: terminal)
        #expect(program.says("You hear 2 ticks."), "\(program.errors)")
        if key == "TERM" { program.signal(SIGTERM) } else { terminal.type(key) }
        #expect(program.wait() == .exit(key == "TERM" ? 143 : 130), "\(program.errors)")
        #expect(terminal.isInLineMode && !program.errors.contains("error:"), "\(program.errors)")
        #expect(try theReport(program)["decision"] as? String == "interrupted")
        #expect(!FileManager.default.fileExists(atPath: storePath))
    }

    @Test(arguments: [
        (Float(0), "digitalSilence", "completely silent (all zeros). Unmute it"),
        (0.005, "tooQuiet", "too quiet: level -"), (8, "clipping", "clipping: peak 0 dBFS. Turn it down"),
    ]) func `a faulty microphone is reported with advice, on a terminal and without one`(
        gain: Float, finding: String, words: String
    ) throws {
        let speech = gain > 0 ? ["--speak", try voice(gain: gain)] : []
        let terminal = try PseudoTerminal()
        let program = try check(speech, terminal: terminal)
        #expect(program.says(words) && program.says("To repeat, press r."), "\(program.errors)")
        #expect(program.says("Did you hear the ticks"), "\(program.errors)")
        #expect(program.errors.contains("You sound like this:") == (gain > 0))
        terminal.type("\n")
        #expect(program.wait() == .exit(0), "\(program.errors)")

        let piped = try check(speech + ["--json"])
        #expect(piped.wait() == .exit(69), "\(piped.errors)")
        #expect(theFailure(piped).contains(words) && !piped.errors.contains("press r"), "\(piped.errors)")
        let report = try theReport(piped)
        #expect(report["finding"] as? String == finding && report["decision"] as? String == "undecided", "\(report)")
    }

    @Test func `without a terminal the check ends by itself and stores no answer`() throws {
        let program = try check(["--speak", try voice(gain: 0.5)])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        #expect(program.errors.contains("The microphone works: level -") && program.output.isEmpty)
        #expect(!program.errors.contains("Did you hear") && !FileManager.default.fileExists(atPath: storePath))
    }

    @Test func `plain mode redraws no line and shows no meter`() throws {
        let terminal = try PseudoTerminal()
        let program = try check(["--plain"], terminal: terminal)
        #expect(program.says("Did you hear the ticks"), "\(program.errors)")
        terminal.type("\n")
        #expect(program.wait() == .exit(0), "\(program.errors)")
        #expect(!program.errors.contains("\u{1B}") && !program.errors.contains("["), "\(program.errors)")
    }

    @Test(arguments: [["--check"], ["--no-check"], ["--device", "jack", "--speak", "x.wav"]])
    func `unknown and unsuitable options are refused`(options: [String]) throws {
        let program = try Earshot.start(["check"] + options)
        #expect(program.wait() == .exit(64), "\(program.errors)")
        #expect(theFailure(program).contains(options.last == "x.wav" ? "--speak" : options[0]), "\(program.errors)")
    }
}
