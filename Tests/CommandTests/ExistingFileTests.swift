// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import earshot

/// The one rule for existing files, and the modes of new ones.
@Suite(.realTime) struct ExistingFileTests {
    /// A command, its options, and the option that names its output; @ is the scratch folder.
    static let writers: [(command: [String], output: [String], isShared: Bool)] = [
        (["convert", Earshot.speech], ["--output", "@/out.wav"], true),
        (["render", "--graph", "@/g.toml", "--input", Earshot.speech], ["--output", "@/out.wav"], true),
        (["process-voice", "--mic", Earshot.speech, "--no-echo-cancellation"], ["--output", "@/out.wav"], false),
        (["record", "--device", "simulated", "--duration", "0.1"], ["@/out.wav"], false),
        (["monitor", "--device", "simulated", "--duration", "0.1"], ["--record", "@/out.wav"], false),
    ]

    @Test(arguments: writers.indices)
    func `an existing file is kept without --overwrite, and a new one has the right permissions`(index: Int) throws {
        let (command, output, isShared) = Self.writers[index]
        let scratch = try Scratch()
        let graph = """
            [nodes.voice]
            type = "player"
            input = 1
            [[connections]]
            from = "voice"
            to = "main mixer"
            """
        try Data(graph.utf8).write(to: URL(fileURLWithPath: scratch("g.toml")))
        let old = Data("the last one".utf8)
        let arguments = (command + output).map { $0.replacing("@", with: scratch.path) }
        let new = try Earshot.start(arguments)
        #expect(new.wait() == .exit(0), "\(new.errors)")
        let mode = try FileManager.default.attributesOfItem(atPath: scratch("out.wav"))[.posixPermissions] as? Int
        #expect(mode == (isShared ? 0o666 & ~Int(FileMode.mask) : 0o600))
        try old.write(to: URL(fileURLWithPath: scratch("out.wav")))
        let refused = try Earshot.start(arguments)
        #expect(refused.wait() == .exit(73), "\(refused.errors)")
        #expect(theFailure(refused).contains("out.wav already exists. Use --overwrite"), "\(refused.errors)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch("out.wav"))) == old)
        let replacing = try Earshot.start(arguments + ["--overwrite"])
        #expect(replacing.wait() == .exit(0), "\(replacing.errors)")
        #expect(try playableFrames(scratch("out.wav")) > 0)
    }

    @Test func `files written by a simulation follow the umask`() throws {
        let scratch = try Scratch()
        let program = try Earshot.start(["simulate", "--duration", "0.1", "-o", scratch.path])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        for name in ["peer-1-mic.wav", "peer-2-heard.wav"] {
            let mode = try FileManager.default.attributesOfItem(atPath: scratch(name))[.posixPermissions] as? Int
            #expect(mode == 0o666 & ~Int(FileMode.mask), "\(name)")
        }
    }

    @Test(arguments: [
        (["host", "--no-announce", "--hear", "@/out.wav", "--device", "simulated"], "out.wav"),
        (["simulate", "--duration", "0.1", "--output", "@"], "peer-1-mic.wav"),
    ]) func `a call never overwrites an existing file by default`(command: [String], name: String) throws {
        let scratch = try Scratch()
        let old = Data("the last one".utf8)
        try old.write(to: URL(fileURLWithPath: scratch(name)))
        let port = command[0] == "host" ? ["--port", "\(try Earshot.freePort())"] : []
        let program = try Earshot.start(command.map { $0.replacing("@", with: scratch.path) } + port)
        #expect(program.wait() == .exit(73), "\(program.errors)")
        #expect(theFailure(program).contains("\(name) already exists. Use --overwrite"), "\(program.errors)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch(name))) == old)
    }

    @Test func `a monitor recording is as long as --duration`() throws {
        let scratch = try Scratch()
        let program = try Earshot.start([
            "monitor", "--device", "simulated", "--duration", "0.5", "--record", scratch("take.wav"), "--rate", "48000",
        ])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        #expect(try playableFrames(scratch("take.wav")) == 24_000)
    }

    @Test func `a second argument with a known file extension is the output`() throws {
        let scratch = try Scratch()
        let first = try Earshot.start(["convert", Earshot.speech, scratch("front.mp3")])
        #expect(first.wait() == .exit(0), "\(first.errors)")
        #expect(try playableFrames(scratch("front.mp3")) > 0)
        let again = try Earshot.start(["convert", Earshot.speech, scratch("front.mp3")])
        #expect(again.wait() == .exit(73))
        #expect(theFailure(again).contains("front.mp3 already exists"), "\(again.errors)")
    }

    @Test func `conflicting outputs in a folder are reported, and the other files are converted`() throws {
        let scratch = try Scratch()
        for name in ["a.wav", "b.wav", "c.wav"] {
            try FileManager.default.copyItem(atPath: Earshot.speech, toPath: scratch(name))
        }
        try FileManager.default.copyItem(atPath: Earshot.speech, toPath: scratch("a.flac"))
        try Data("mine".utf8).write(to: URL(fileURLWithPath: scratch("b.mp3")))
        let program = try Earshot.start(["convert", scratch.path, "--to", "mp3"])
        #expect(program.wait() == .exit(73), "\(program.errors)")
        #expect(program.errors.contains("a.wav was not converted"))
        #expect(program.errors.contains("b.wav was not converted: its output"))
        #expect(try playableFrames(scratch("a.mp3")) > 0 && playableFrames(scratch("c.mp3")) > 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch("b.mp3"))) == Data("mine".utf8))
    }

    @Test func `a closed output pipe ends the program without an error message`() throws {
        let program = try ChildProcess(
            ["/bin/bash", "-c", "'\(Earshot.program)' info /usr/share/sounds/alsa | head -n 1; echo ${PIPESTATUS[0]}"])
        #expect(program.wait() == .exit(0))
        #expect(program.errors.isEmpty, "\(program.errors)")
        #expect(["0", "141"].contains(program.output.split(separator: "\n").last))
    }

    @Test(
        arguments: [
            ("64", 64), ("64k", 64), ("64K", 64), ("64000", 64_000), ("k", nil), ("64kb", nil), ("6.5", nil), ("", nil),
        ] as [(String, Int?)]) func `a bit rate is given in kilobits per second`(text: String, kilobits: Int?)
    {
        #expect(BitRateArgument.kilobits(text) == kilobits)
    }

    @Test(arguments: [
        (["convert", Earshot.speech, "-o", "out.xyz"], "Unknown format '.xyz'. Formats: aac, aiff, caf"),
        (["record", "take.wma"], "Unknown format '.wma'."),
        (["convert", Earshot.speech, "--to", "wma"], "Unknown format '.wma'."),
        (["convert", Earshot.speech], "No output format. Use --to mp3, or name the output: -o FILE.mp3"),
        (["join", "x", "--bitrate", "64000"], "--bitrate cannot be '64000': use 6 to 510 kb/s."),
        (["record", "x.mp3", "--bitrate", "64000"], "--bitrate must be 8 to 512 kb/s"),
    ]) func `wrong formats and bit rates are reported in the same wording by all commands`(
        arguments: [String], words: String
    ) throws {
        let program = try Earshot.start(arguments)
        #expect(program.wait() == .exit(64))
        #expect(theFailure(program).contains(words), "\(program.errors)")
    }
}
