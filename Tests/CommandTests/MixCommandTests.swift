// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import EarshotLiveCall
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import earshot

@Suite struct MixCommandTests {
    /// Writes a recording of two voices of one second.
    private func recording(_ folder: String, second: Double = 660) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, frequency) in [("Ann", 440.0), ("Ben", second)] {
            let writer = try SoundFiles.create(
                "\(folder)/\(name).wav", format: AudioFormat(sampleRate: 48_000, channelCount: 1))
            let block = AudioBuffer(channelCount: 1, frameCapacity: 48_000)
            for n in 0..<48_000 { block.channels[0][n] = sine(n, frequency: frequency, rate: 48_000, amplitude: 0.2) }
            try writer.write(block.channels, frameCount: 48_000)
            try writer.close()
        }
        let tracks = ["Ann", "Ben"].map { name in
            """
            {"file": "\(name).wav", "parts": 1, "name": "\(name)", "names": ["\(name)"], "isLocal": \(name == "Ann"),
             "kind": "voice", "frameCount": 48000, "gaps": [], "volumes": [{"frame": 0, "gain": 1}]}
            """
        }
        try """
        {"version": 1, "earshot": "0.1.0", "room": "Blue Room", "started": "2026-11-28T14:05:12.310Z", "zero": 0,
         "sampleRate": 48000, "channelCount": 1, "recordedBy": "Ann", "clock": "playback",
         "tracks": [\(tracks.joined(separator: ","))]}
        """.write(toFile: "\(folder)/recording.json", atomically: true, encoding: .utf8)
    }

    @Test func `a recording is mixed to an M4A beside its voices, and reported`() throws {
        let scratch = try Scratch()
        try recording(scratch("room"))
        let program = try Earshot.start([
            "mix", scratch("room"), "--preset", "room", "--balance", "ben=-3dB", "--pan", "Ann=-0.5", "--nudge",
            "Ann=-10", "--json",
        ])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let report = try theReport(program)
        let output = scratch("room/mix-room.m4a")
        #expect(report["output"] as? String == output && report["preset"] as? String == "room")
        #expect(abs(try #require(report["loudnessLufs"] as? Double) + 14) < 0.5)
        #expect(try #require(report["truePeakDbtp"] as? Double) <= -1)
        let voices = try #require(report["voices"] as? [[String: Any]])
        #expect(voices.map { $0["name"] as? String } == ["Ann", "Ben"])
        #expect(voices.map { $0["balanceDb"] as? Double } == [0, -3] && voices[0]["nudgeMs"] as? Double == -10)
        #expect(voices[0]["pan"] as? Double == -0.5)
        let info = try SoundFiles.info(output)
        #expect(info.type == .m4a && info.format.channelCount == 2 && info.tags.album == "Blue Room")
        #expect(info.frameCount == report["frames"] as? Int)
    }

    @Test func `a duet's folder is mixed with its song`() throws {
        let scratch = try Scratch()
        func write(_ path: String, _ channelCount: Int, _ frequency: Double) throws {
            let writer = try SoundFiles.create(
                path, format: AudioFormat(sampleRate: 44_100, channelCount: channelCount))
            let block = AudioBuffer(channelCount: channelCount, frameCapacity: 44_100)
            for c in 0..<channelCount {
                for n in 0..<44_100 {
                    block.channels[c][n] = sine(n, frequency: frequency, rate: 44_100, amplitude: 0.2)
                }
            }
            try writer.write(block.channels, frameCount: 44_100)
            try writer.close()
        }
        try write(scratch("Blue Song.ogg"), 2, 440)
        var duet = try DuetFolder(
            creating: scratch("duet"), name: "Anna & Ben", recordedBy: "Anna", song: .file(scratch("Blue Song.ogg")),
            program: "test")
        for (name, frequency) in [("Anna", 600.0), ("Ben", 800)] {
            try write(scratch("stem.flac"), 1, frequency)
            try duet.addStem(path: scratch("stem.flac"), singer: name, key: nil, isLocal: name == "Anna")
        }
        func run(_ arguments: [String]) throws -> ChildProcess {
            let program = try Earshot.start(["mix", scratch("duet")] + arguments)
            #expect(program.wait() == .exit(0), "\(program.errors)")
            return program
        }
        let report = try theReport(try run(["--preset", "stage", "--balance", "song=-3", "--json"]))
        let voices = try #require(report["voices"] as? [[String: Any]])
        #expect(voices.map { $0["name"] as? String } == ["Blue Song", "Anna", "Ben"])
        #expect(voices.map { $0["kind"] as? String } == ["song", "voice", "voice"])
        #expect(voices.map { $0["balanceDb"] as? Double } == [-3, 0, 0])
        #expect(voices.allSatisfy { ($0["problems"] as? [String])?.isEmpty == true })
        #expect(abs(try #require(report["loudnessLufs"] as? Double) + 14) < 0.5)
        let text = try run([
            "--output", scratch("mix.flac"), "--stems", scratch("stems"), "--session", "reaper", "--picture",
            scratch("mix.png"),
        ])
        #expect(text.output.contains("2 voices, a song, 0:0"), "\(text.output)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch("mix.png"))).starts(with: [0x89, 0x50, 0x4E, 0x47]))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: scratch("stems")).sorted() == [
                "Anna.wav", "Ben.wav", "Reverb.wav", "session.rpp", "song.wav",
            ])
    }

    @Test func `existing files and the recording's own are kept`() throws {
        let scratch = try Scratch()
        try recording(scratch("room"))
        let voice = try Data(contentsOf: URL(fileURLWithPath: scratch("room/Ann.wav")))
        func run(_ more: [String]) throws -> (ChildProcess.Ending?, String) {
            let program = try Earshot.start(["mix", scratch("room"), "--output"] + more)
            return (program.wait(), program.errors)
        }
        #expect(try run([scratch("a.wav")]).0 == .exit(0))
        let (again, words) = try run([scratch("a.wav")])
        #expect(again == .exit(73) && words.contains("Use --overwrite"))
        #expect(try run([scratch("a.wav"), "--overwrite"]).0 == .exit(0))
        let (own, ownWords) = try run([scratch("room/Ann.wav"), "--overwrite"])
        #expect(own == .exit(73) && ownWords.contains("Choose another file"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch("room/Ann.wav"))) == voice)
    }

    @Test func `a missing voice is reported, and the mix is made of the others`() throws {
        let scratch = try Scratch()
        try recording(scratch("room"))
        try FileManager.default.removeItem(atPath: scratch("room/Ben.wav"))
        let program = try Earshot.start(["mix", scratch("room"), "--json"])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        #expect(program.errors.contains("Ben's voice is incomplete: "))
        let voices = try #require(try theReport(program)["voices"] as? [[String: Any]])
        #expect(voices.map { ($0["problems"] as? [String])?.count } == [0, 1])
    }

    @Test(arguments: [
        (["--balance", "Anna=1"], 64, "Did you mean 'Ann'?"), (["--balance", "Ann"], 64, "--balance Ann=-3"),
        (["--pan", "Ann=2"], 64, "-1 to 1"), (["--nudge", "Ann=x"], 64, "-10000 to 10000"),
        (["--preset", "loud"], 64, "dry, natural, room or stage"), (["--session", "reaper"], 64, "--stems"),
        (["--picture", "x.svg"], 64, ".png"), (["--picture", "/nowhere/x.png"], 73, "x.png"),
        (["--output", "x.wma"], 64, "Unknown format"), (["--output", "-", "--to", "wav"], 64, "Name a file"),
        (["--output", "/nowhere/x.wav"], 73, "folder does not exist"),
    ]) func `wrong arguments are explained`(arguments: [String], status: Int, words: String) throws {
        let scratch = try Scratch()
        try recording(scratch("room"))
        let program = try Earshot.start(["mix", scratch("room")] + arguments)
        #expect(program.wait() == .exit(Int32(status)), "\(program.errors)")
        #expect(theFailure(program).contains(words), "\(program.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch("room")).count == 3)
    }

    @Test func `a folder without a recording, a damaged one and a full disk are explained`() throws {
        let scratch = try Scratch()
        let none = try Earshot.start(["mix", scratch.path])
        #expect(none.wait() == .exit(66) && theFailure(none).contains("recording.json"))
        try recording(scratch("room"))
        let full = try Earshot.start(
            ["mix", scratch("room"), "--output", scratch("x.wav")], through: Earshot.fileLimit)
        #expect(full.wait() == .exit(73), "\(full.errors)")
        #expect(theFailure(full).contains("x.wav"))
        #expect(!FileManager.default.fileExists(atPath: scratch("x.wav")))
        try "{".write(toFile: scratch("room/recording.json"), atomically: true, encoding: .utf8)
        let damaged = try Earshot.start(["mix", scratch("room")])
        #expect(damaged.wait() == .exit(65) && theFailure(damaged).contains("Restore the file"))
    }

    @Test func `stems and a session are written to a folder`() throws {
        let scratch = try Scratch()
        try recording(scratch("room"))
        let program = try Earshot.start([
            "mix", scratch("room"), "--stems", scratch("stems"), "--session", "dawproject", "--output",
            scratch("mix.flac"),
        ])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: scratch("stems")).sorted() == [
                "Ann.wav", "Ben.wav", "Reverb.wav", "session.dawproject",
            ])
        let unzip = try ChildProcess([
            "python3", "-c",
            "import sys, zipfile, xml.dom.minidom as x\nz = zipfile.ZipFile(sys.argv[1])\nassert z.testzip() is None\n"
                + "d = x.parseString(z.read('project.xml'))\nx.parseString(z.read('metadata.xml'))\n"
                + "print(','.join(f.getAttribute('path') for f in d.getElementsByTagName('File')))",
            scratch("stems/session.dawproject"),
        ])
        #expect(unzip.wait() == .exit(0), "\(unzip.errors)")
        #expect(unzip.output == "Ann.wav,Ben.wav,Reverb.wav\n")
    }
}
