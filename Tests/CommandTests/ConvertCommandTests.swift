// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioDSP
import EarshotAudioFiles
import Foundation
import TestSupport
import Testing

@Suite struct ConvertCommandTests {
    private static let rate = 48_000.0
    private static let frames = 96_000

    /// Two seconds of stereo noise as 16-bit FLAC with a title and a picture.
    private func song(_ path: String, gain: Float = 0.1) throws {
        let writer = try SoundFiles.create(
            path, format: AudioFormat(sampleRate: Self.rate, channelCount: 2),
            settings: SoundFiles.Settings(sampleFormat: .int16))
        let buffer = AudioBuffer(channelCount: 2, frameCapacity: Self.frames)
        var state: UInt32 = 7
        for i in 0..<Self.frames {
            for c in 0..<2 {
                state = state &* 1_664_525 &+ 1_013_904_223
                buffer.channels[c][i] = Float(Int32(bitPattern: state)) * (gain / 2_147_483_648)
            }
        }
        try writer.write(buffer.channels, frameCount: Self.frames, offset: 0)
        try writer.close()
        var tags = AudioFileTags()
        tags.title = "Ein Lied"
        tags.artist = "Zoë"
        tags.pictures = [AudioFileTags.Picture(mimeType: "image/png", bytes: [0x89, 0x50, 0x4E, 0x47, 1, 2, 3])]
        try tags.write(to: path)
    }

    private func list(_ process: ChildProcess) throws -> [[String: Any]] {
        try #require(try JSONSerialization.jsonObject(with: Data(process.output.utf8)) as? [[String: Any]])
    }

    @Test(arguments: ["wav", "aiff", "caf", "flac", "ogg", "opus", "mp3", "m4a", "aac"])
    func `every file format is written with the length, tags and picture of the input`(_ kind: String) throws {
        let scratch = try Scratch()
        try song(scratch("song.flac"))
        let program = try Earshot.start([
            "convert", scratch("song.flac"), "--to", kind, "--output", scratch("out/"), "--json",
        ])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let output = scratch("out/song.\(kind)")
        let reports = try list(program)
        #expect(reports.count == 1 && reports[0]["output"] as? String == output)
        let info = try SoundFiles.info(output)
        // ADTS cannot declare the encoder's priming and padding.
        if kind != "aac" { #expect(info.frameCount == Self.frames) }
        #expect(reports[0]["frames"] as? Int == Self.frames)
        // CAF and ADTS have no tags, which is reported.
        if ["caf", "aac"].contains(kind) {
            #expect(reports[0]["warning"] is String)
        } else {
            #expect(info.tags.title == "Ein Lied" && info.tags.artist == "Zoë")
            #expect(info.tags.pictures.map(\.bytes) == [[0x89, 0x50, 0x4E, 0x47, 1, 2, 3]])
        }
        if ["wav", "aiff", "caf", "flac"].contains(kind) { #expect(info.bitDepth == 16) }
        let mode = try FileManager.default.attributesOfItem(atPath: output)[.posixPermissions] as? Int
        #expect(mode == 0o666 & ~Int(FileMode.mask))
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch("out")) == ["song.\(kind)"])
    }

    @Test func `a folder keeps its structure, and one bad file does not stop the others`() throws {
        let scratch = try Scratch()
        try FileManager.default.createDirectory(atPath: scratch("in/deep"), withIntermediateDirectories: true)
        try song(scratch("in/a.wav"))
        try song(scratch("in/deep/b.flac"))
        try "no sound".write(toFile: scratch("in/c.mp3"), atomically: true, encoding: .utf8)
        try "a letter".write(toFile: scratch("in/letter.txt"), atomically: true, encoding: .utf8)
        let program = try Earshot.start([
            "convert", scratch("in"), "--to", "mp3", "--output", scratch("out"), "--jobs", "2",
        ])
        #expect(program.wait() == .exit(65), "\(program.errors)")
        #expect(theFailure(program).contains("c.mp3"))
        #expect(program.output.split(separator: "\n").count == 2)
        #expect(try SoundFiles.open(scratch("out/a.mp3")).frameCount == Self.frames)
        #expect(try SoundFiles.open(scratch("out/deep/b.mp3")).frameCount == Self.frames)
        #expect(try Set(FileManager.default.contentsOfDirectory(atPath: scratch("out"))) == ["a.mp3", "deep"])
    }

    @Test func `rate, channels, bit depth and loudness are as requested`() throws {
        let scratch = try Scratch()
        try song(scratch("song.flac"), gain: 0.02)
        let program = try Earshot.start([
            "convert", scratch("song.flac"), "--output", scratch("new.wav"), "--rate", "44100", "--channels", "1",
            "--bits",
            "24", "--normalize", "-20", "--no-tags", "--json",
        ])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let info = try SoundFiles.info(scratch("new.wav"))
        #expect(info.format == AudioFormat(sampleRate: 44_100, channelCount: 1))
        #expect(info.bitDepth == 24 && info.frameCount == 88_200 && info.tags.isEmpty)
        let reader = try AudioFileReader(path: scratch("new.wav"))
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: info.frameCount)
        let count = try reader.read(into: buffer.channels, frameCount: info.frameCount)
        let meter = LoudnessMeter(sampleRate: 44_100, channelCount: 1)
        meter.add(buffer.channels, frameCount: count)
        #expect(abs(meter.measurement.integrated + 20) < 0.1)
        #expect(try list(program)[0]["limited"] as? Bool == false)
        #expect(abs(try #require(list(program)[0]["loudnessLufs"] as? Double) + 20) < 0.1)
    }

    @Test func `a rate that MP3 does not support is reported, and the report has the actual rate`() throws {
        let scratch = try Scratch()
        try song(scratch("song.wav"))
        let program = try Earshot.start([
            "convert", scratch("song.wav"), "--output", scratch("song.mp3"), "--rate", "96000", "--json",
        ])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        #expect(program.errors.contains("song.mp3 has 48 kHz: mp3 does not support 96 kHz."), "\(program.errors)")
        let report = try #require(list(program).first)
        #expect(report["rate"] as? Double == 48_000 && report["seconds"] as? Double == 2)
        #expect(report["frames"] as? Int == Self.frames)
    }

    @Test func `a truncated file is converted as far as possible and has its own exit status`() throws {
        let scratch = try Scratch()
        try song(scratch("song.wav"))
        let bytes = try Data(contentsOf: URL(fileURLWithPath: scratch("song.wav")))
        try bytes.prefix(bytes.count / 2).write(to: URL(fileURLWithPath: scratch("half.wav")))
        let program = try Earshot.start(["convert", scratch("half.wav"), scratch("half.flac"), "--json"])
        #expect(program.wait() == .exit(74), "\(program.errors)")
        let line = "half.wav: damaged (its end is missing). Converted what could be read: 0:0"
        #expect(program.errors.contains(line), "\(program.errors)")
        let report = try #require(list(program).first)
        #expect((report["damage"] as? String)?.contains("half.wav: damaged") == true)
        #expect(report["frames"] as? Int == (try AudioFileReader(path: scratch("half.flac"))).frameCount)
    }

    @Test func `peaks are limited when the target loudness would exceed full scale`() throws {
        let scratch = try Scratch()
        try song(scratch("song.wav"), gain: 0.5)
        let program = try Earshot.start([
            "convert", scratch("song.wav"), "--output", scratch("loud.wav"), "--normalize=-5", "--bits", "float",
        ])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        #expect(program.output.contains(", peaks limited)"), "\(program.output)")
        let reader = try AudioFileReader(path: scratch("loud.wav"))
        #expect(reader.frameCount == Self.frames)
        let buffer = AudioBuffer(channelCount: 2, frameCapacity: Self.frames)
        _ = try reader.read(into: buffer.channels, frameCount: Self.frames)
        let meter = LoudnessMeter(sampleRate: Self.rate, channelCount: 2)
        meter.add(buffer.channels, frameCount: Self.frames)
        #expect(meter.measurement.truePeak <= -0.9 && meter.measurement.integrated > -9)
    }

    @Test func `an existing file is kept, and two inputs never share an output`() throws {
        let scratch = try Scratch()
        try song(scratch("a.wav"))
        try song(scratch("a.flac"))
        try "precious".write(toFile: scratch("a.mp3"), atomically: true, encoding: .utf8)
        let careful = try Earshot.start(["convert", scratch("a.wav"), "--to", "mp3"])
        #expect(careful.wait() == .exit(73))
        #expect(theFailure(careful).contains("--overwrite"))
        #expect(try String(contentsOfFile: scratch("a.mp3"), encoding: .utf8) == "precious")
        let both = try Earshot.start(["convert", scratch("a.wav"), scratch("a.flac"), "--to", "mp3", "--overwrite"])
        #expect(both.wait() == .exit(73))
        #expect(theFailure(both).contains("a.wav") && theFailure(both).contains("a.flac"))
        let itself = try Earshot.start(["convert", scratch("a.wav"), "--to", "wav", "--overwrite"])
        #expect(itself.wait() == .exit(64))
        let replaced = try Earshot.start(["convert", scratch("a.wav"), "--to", "mp3", "--overwrite"])
        #expect(replaced.wait() == .exit(0), "\(replaced.errors)")
        #expect(try SoundFiles.info(scratch("a.mp3")).codec == "MP3")
    }

    @Test func `only a regular file is overwritten`() throws {
        let scratch = try Scratch()
        try song(scratch("a.wav"))
        #expect(mkfifo(scratch("pipe.flac"), 0o600) == 0)
        let program = try Earshot.start([
            "convert", scratch("a.wav"), "--output", scratch("pipe.flac"), "--overwrite",
        ])
        #expect(program.wait() == .exit(73), "\(program.errors)")
        #expect(theFailure(program).contains("pipe.flac: is a pipe"), "\(program.errors)")
        var status = stat()
        lstat(scratch("pipe.flac"), &status)
        #expect(status.st_mode & S_IFMT == S_IFIFO)
    }

    @Test func `two inputs with the same output are detected, even by different paths`() throws {
        let scratch = try Scratch()
        try song(scratch("a.wav"))
        try song(scratch("a.flac"))
        try FileManager.default.createSymbolicLink(atPath: scratch("link"), withDestinationPath: scratch.path)
        for other in ["./a.flac", "link/a.flac", "link/../\((scratch.path as NSString).lastPathComponent)/a.flac"] {
            let program = try Earshot.start(["convert", scratch("a.wav"), scratch(other), "--to", "mp3"])
            #expect(program.wait() == .exit(73), "\(other): \(program.errors)")
            #expect(theFailure(program).contains("was not converted"), "\(program.errors)")
            unlink(scratch("a.mp3"))
        }
        // The outputs themselves may be links to one file.
        try song(scratch("b.wav"))
        try "old".write(toFile: scratch("a.mp3"), atomically: true, encoding: .utf8)
        try FileManager.default.createSymbolicLink(atPath: scratch("b.mp3"), withDestinationPath: "a.mp3")
        let program = try Earshot.start(["convert", scratch("a.wav"), scratch("b.wav"), "--to", "mp3", "--overwrite"])
        #expect(program.wait() == .exit(73), "\(program.errors)")
        #expect(theFailure(program).contains("was not converted"), "\(program.errors)")
        #expect(try playableFrames(scratch("a.mp3")) > 0)
    }

    @Test func `no input is replaced, not even with --overwrite`() throws {
        let scratch = try Scratch()
        try FileManager.default.createDirectory(atPath: scratch("in"), withIntermediateDirectories: true)
        try song(scratch("in/a.flac"))
        try song(scratch("in/a.mp3"), gain: 0.02)
        try song(scratch("in/b.flac"))
        let before = try Data(contentsOf: URL(fileURLWithPath: scratch("in/a.mp3")))
        let program = try Earshot.start(["convert", scratch("in"), "--to", "mp3", "--overwrite"])
        #expect(program.wait() == .exit(73), "\(program.errors)")
        #expect(program.errors.contains("a.flac was not converted: its output"), "\(program.errors)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch("in/a.mp3"))) == before)
        #expect(try playableFrames(scratch("in/b.mp3")) > 0)
    }

    @Test func `convert and info work with pipes as standard input and output`() throws {
        let scratch = try Scratch()
        try song(scratch("song.wav"))
        let shell = try ChildProcess.run([
            "/bin/sh", "-c", "cat \"$1\" | \"$0\" convert - --to flac --output - | \"$0\" info - --json > \"$2\"",
            Earshot.program, scratch("song.wav"), scratch("info.json"),
        ])
        #expect(shell.status == 0)
        let reports =
            try JSONSerialization.jsonObject(
                with: Data(contentsOf: URL(fileURLWithPath: scratch("info.json")))) as? [[String: Any]]
        let report = try #require(reports?.first)
        #expect(report["file"] as? String == "-" && report["frames"] as? Int == Self.frames)
        #expect(report["codec"] as? String == "FLAC, 16-bit")
    }

    @Test func `no audio is written to a terminal`() throws {
        let scratch = try Scratch()
        try song(scratch("song.wav"))
        let terminal = try PseudoTerminal()
        let program = try Earshot.start(
            ["convert", scratch("song.wav"), "--to", "flac", "--output", "-"], standardOutput: terminal.path)
        #expect(program.wait() == .exit(64), "\(program.errors)")
        #expect(theFailure(program).contains("Standard output is a terminal"), "\(program.errors)")
        #expect(terminal.text.isEmpty)
    }

    @Test(arguments: [
        ["convert", "x.wav", "--to", "mpx"], ["convert", "x.wav", "--to", "mp3", "--bitrate", "V12"],
        ["convert", "x.wav", "--to", "mp3", "--rate", "7"], ["convert", "x.wav", "--to", "mp3", "--normalize", "3"],
        ["convert", "x.wav", "--to", "mp3", "--jobs", "0"], ["convert", "x.wav"], ["convert"], ["info"],
    ])
    func `invalid arguments are reported in one line, with status 64`(_ arguments: [String]) throws {
        let program = try Earshot.start(arguments)
        #expect(program.wait() == .exit(64))
        _ = theFailure(program)
    }

    @Test func `a problem with a file is reported with its name`() throws {
        let scratch = try Scratch()
        try "<html>".write(toFile: scratch("page.m4a"), atomically: true, encoding: .utf8)
        try Data().write(to: URL(fileURLWithPath: scratch("empty.wav")))
        for (name, status) in [("none.wav", Int32(66)), ("page.m4a", 65), ("empty.wav", 65)] {
            for command in [["info"], ["convert", "--to", "mp3"]] {
                let program = try Earshot.start(command + [scratch(name)])
                #expect(program.wait() == .exit(status), "\(name)")
                #expect(theFailure(program).contains(name))
            }
        }
        let folder = try Earshot.start(["info", scratch("")])
        #expect(folder.wait() == .exit(65))  // its files are no sound
        let device = try Earshot.start(["convert", "/dev/zero", "--to", "mp3", "--output", scratch("z.mp3")])
        #expect(device.wait() == .exit(66))
    }

    @Test func `names that are not UTF-8 are converted, alone and in a folder`() throws {
        let scratch = try Scratch()
        try FileManager.default.createDirectory(atPath: scratch("in"), withIntermediateDirectories: true)
        try song(scratch("plain.flac"))
        // Latin-1: "Café.flac" in the folder "Été".
        let script = """
            cd "$1" && d=$(printf 'in/\\311t\\351') && f=$(printf 'Caf\\351') && mkdir "$d" && cp plain.flac "$d/$f.flac" &&
            "$2" convert "$d/$f.flac" --to mp3 && test -s "$d/$f.mp3" && ! "$2" convert "$d/$f.flac" --to mp3 &&
            "$2" info "$d/$f.mp3" && rm "$d/$f.mp3" && "$2" convert in --to wav --output out &&
            test -s "out/$(printf '\\311t\\351')/$f.wav" && ls "$d" | wc -l
            """
        let result = try ChildProcess.run(["bash", "-c", script, "-", scratch.path, Earshot.program])
        #expect(result.status == 0, "\(result.output) \(result.errors)")
        #expect(result.output.hasSuffix("1\n") && result.output.contains("Caf?.flac"), "\(result.output)")
        #expect(result.errors.contains("already exists"), "\(result.errors)")
    }

    @Test func `a warning and the report name content that was not copied`() throws {
        let scratch = try Scratch()
        try song(scratch("song.mp3"))
        let chapters = ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=500\ntitle=One\n"
        try chapters.write(toFile: scratch("chapters.txt"), atomically: true, encoding: .utf8)
        let maker = try ChildProcess.run([
            "ffmpeg", "-nostdin", "-v", "error", "-i", scratch("song.mp3"), "-i", scratch("chapters.txt"),
            "-map", "0:a", "-map_metadata",
            "1", "-c", "copy", scratch("book.mp3"),
        ])
        #expect(maker.status == 0, "\(maker.errors)")
        let program = try Earshot.start(["convert", scratch("book.mp3"), "--to", "flac", "--json"])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        #expect(program.errors.contains("book.mp3: not copied: chapters."), "\(program.errors)")
        #expect(try list(program).first?["notCopied"] as? [String] == ["chapters"])
    }

    /// Checks and writes must see one file: otherwise an existing one looks missing and is replaced.
    @Test func `an existing file whose name is not UTF-8 is neither replaced nor removed`() throws {
        let scratch = try Scratch()
        try song(scratch("x.wav"))
        let script = """
            cd "$1" && x=$(printf 'x\\351') && cp x.wav "$x.wav" && cp x.wav "$x-001.wav" && cp x.wav plain.wav &&
            ! "$2" process-voice --no-echo-cancellation --mic "$x.wav" --output "$x.wav" --overwrite &&
            ! "$2" record --split 1s --duration 1s --device simulated "$x.wav" &&
            printf 'no sound' >bad.wav && ! "$2" record --append --duration 1s --device simulated "$x.wav" bad.wav &&
            cmp "$x.wav" x.wav && cmp "$x-001.wav" x.wav &&
            "$2" record --append --duration 1s --device simulated "$x.wav" && ls -A | wc -l
            """
        let result = try ChildProcess.run(["bash", "-c", script, "-", scratch.path, Earshot.program])
        #expect(result.status == 0 && result.output.hasSuffix("5\n"), "\(result.output) \(result.errors)")
    }
}
