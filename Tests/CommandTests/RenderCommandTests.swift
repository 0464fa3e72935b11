// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import TestSupport
import TestTraits
import Testing

@Suite(.optimized) struct RenderCommandTests {
    private static let examples = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Examples/graphs").path

    /// A sine of 1 kHz.
    private func tone(_ path: String, rate: Double = 48_000, channels: Int = 1, seconds: Double, peak: Float = 0.5)
        throws
    {
        let writer = try AudioFileWriter(path: path, format: AudioFormat(sampleRate: rate, channelCount: channels))
        let count = Int(seconds * rate)
        let buffer = AudioBuffer(channelCount: channels, frameCapacity: count)
        for c in 0..<channels {
            for i in 0..<count { buffer.channels[c][i] = peak * Float(sin(2 * .pi * 1_000 * Double(i) / rate)) }
        }
        try writer.write(buffer.channels, frameCount: count)
        try writer.close()
    }

    private func samples(_ path: String) throws -> (format: AudioFormat, channels: [[Float]]) {
        let reader = try AudioFileReader(path: path)
        let buffer = AudioBuffer(channelCount: reader.processingFormat.channelCount, frameCapacity: reader.frameCount)
        let count = try reader.read(into: buffer.channels, frameCount: reader.frameCount)
        return (
            reader.processingFormat,
            (0..<buffer.channels.count).map { Array(UnsafeBufferPointer(start: buffer.channels[$0], count: count)) }
        )
    }

    private func write(_ text: String, _ path: String) throws {
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    private static let plain = """
        [nodes.a]
        type = "player"
        input = 1
        [[connections]]
        from = "a"
        to = "main mixer"
        """

    @Test(arguments: ["voice", "duet", "around"]) func `every example renders identically with any block size`(
        name: String
    )
        throws
    {
        let folder = try Scratch()
        let inputs = name == "duet" ? [Earshot.speech, "/usr/share/sounds/alsa/Front_Left.wav"] : [Earshot.speech]
        var files: [Data] = []
        for block in ["4096", "61"] {
            let output = folder("\(block).wav")
            let program = try Earshot.start(
                ["render", "--graph", "\(Self.examples)/\(name).toml", "--output", output, "--json", "--block", block]
                    + inputs.flatMap { ["--input", $0] })
            #expect(program.wait(seconds: 120) == .exit(0), "\(program.errors)")
            let report = try theReport(program)
            #expect(report["frames"] as? Int == (try playableFrames(output)))
            #expect(report["clippedSamples"] as? Int == 0)
            #expect((report["peakDb"] as? Double ?? -200) > -40)
            #expect((report["inputs"] as? [[String: Any]])?.count == inputs.count)
            files.append(try Data(contentsOf: URL(fileURLWithPath: output)))
        }
        #expect(files[0] == files[1])
    }

    @Test func `inputs of different rates and lengths are converted and mixed`() throws {
        let folder = try Scratch()
        try tone(folder("a.wav"), rate: 44_100, seconds: 0.5)
        try tone(folder("b.wav"), rate: 48_000, channels: 2, seconds: 1)
        try write(
            Self.plain
                + "\nvolume = 0.5\n[nodes.b]\ntype = \"player\"\ninput = 2\n[[connections]]\nfrom = \"b\"\nto = \"main mixer\"\nvolume = 0.5\n",
            folder("g.toml"))
        let program = try Earshot.start([
            "render", "--graph", folder("g.toml"), "--input", folder("a.wav"), folder("b.wav"), "--output",
            folder("o.wav"),
        ])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        #expect(program.output.contains("44.1 kHz, 1 channel, 0.50 s, converted to 48 kHz"))
        let (format, channels) = try samples(folder("o.wav"))
        #expect(format.sampleRate == 48_000 && channels.count == 2)
        #expect(abs(channels[0].count - 48_000) < 100)
        // Both sound in the first half, one in the second.
        let early = channels[0][4_800..<19_200].map(abs).max() ?? 0
        let late = channels[0][33_600..<43_200].map(abs).max() ?? 0
        #expect(early > 0.3 && abs(late - 0.25) < 0.001, "\(early) \(late)")
    }

    @Test func `a change takes effect at its frame`() throws {
        let folder = try Scratch()
        try tone(folder("a.wav"), seconds: 1)
        try write(
            Self.plain
                + "\n[[automation]]\nnode = \"main mixer\"\ninput = \"a\"\nparameter = \"volume\"\ntime = 0.5\nvalue = 0\nramp = 0.01\n",
            folder("g.toml"))
        let program = try Earshot.start([
            "render", "--graph", folder("g.toml"), "--input", folder("a.wav"), "--output", folder("o.wav"), "--tail",
            "0",
        ])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let (_, channels) = try samples(folder("o.wav"))
        let whole = try samples(folder("a.wav")).channels[0]
        #expect(channels[0].count == 48_000)
        #expect(zip(channels[0][..<24_000], whole).allSatisfy { abs($0 - $1) < 1e-6 })
        #expect(channels[0][24_600...].allSatisfy { $0 == 0 })
    }

    @Test func `a render accepts more changes than a unit queues at once`() throws {
        let folder = try Scratch()
        try tone(folder("a.wav"), seconds: 0.5)
        var text = Self.plain
        for i in 0..<1_000 {
            text +=
                "\n[[automation]]\nnode = \"main mixer\"\nparameter = \"volume\"\ntime = \(Double(i) / 10_000)\nvalue = \(i % 2)\nramp = 0"
        }
        try write(text + "\n", folder("g.toml"))
        let program = try Earshot.start([
            "render", "--graph", folder("g.toml"), "--input", folder("a.wav"), "--output", folder("o.wav"), "--tail",
            "0",
        ])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let (_, channels) = try samples(folder("o.wav"))
        let whole = try samples(folder("a.wav")).channels[0]
        #expect(zip(channels[0][5_000...], whole[5_000...]).allSatisfy { abs($0 - $1) < 1e-6 })
        #expect(zip(channels[0][..<4_800], whole).contains { abs($0 - $1) > 0.1 })
    }

    private func render(_ folder: Scratch, _ output: String, _ more: [String] = []) throws -> ChildProcess {
        try Earshot.start(
            [
                "render", "--graph", folder("g.toml"), "--input", folder("a.wav"), "--output", folder(output),
                "--overwrite",
            ] + more)
    }

    @Test func `too many changes at one time leave the existing file untouched`() throws {
        let folder = try Scratch()
        try tone(folder("a.wav"), seconds: 0.5)
        let change = "\n[[automation]]\nnode = \"main mixer\"\nparameter = \"volume\"\ntime = 0.3\nvalue = 1"
        try write(Self.plain + String(repeating: change, count: 300) + "\n", folder("g.toml"))
        try write("kept", folder("o.wav"))
        let program = try render(folder, "o.wav")
        #expect(program.wait() == .exit(65), "\(program.errors)")
        #expect(theFailure(program).contains("g.toml:"), "\(program.errors)")
        #expect(try String(contentsOfFile: folder("o.wav"), encoding: .utf8) == "kept")
    }

    @Test func `many changes within a few frames at two nodes all take effect`() throws {
        let folder = try Scratch()
        try tone(folder("a.wav"), seconds: 0.5)
        var text = Self.plain
        for i in 0..<1_024 {
            let time = 0.1 + Double(i / 512) / 48_000 * 60
            text +=
                "\n[[automation]]\nnode = \"main mixer\"\nparameter = \"volume\"\ntime = \(time)\nvalue = 0.5\nramp = 0"
            if i % 2 == 0 { text += "\ninput = \"a\"" }
        }
        try write(text + "\n", folder("g.toml"))
        let program = try render(folder, "o.wav", ["--tail", "0"])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let heard = try samples(folder("o.wav")).channels[0]
        let whole = try samples(folder("a.wav")).channels[0]
        #expect(zip(heard[12_000...], whole[12_000...]).allSatisfy { abs($0 - $1 / 4) < 1e-6 })
    }

    @Test func `a graph with many branches has a report of limited length`() throws {
        let folder = try Scratch()
        try tone(folder("a.wav"), seconds: 0.1)
        var text = "[nodes.a]\ntype = \"player\"\ninput = 1\n"
        for i in 0..<40 { text += "[nodes.m\(i)]\ntype = \"mixer\"\nvolume = 0.5\n" }
        for i in 0..<40 {
            let connection = "[[connections]]\nfrom = \"\(i == 0 ? "a" : "m\(i - 1)")\"\nto = \"m\(i)\"\n"
            text += connection + connection
        }
        try write(text + "[[connections]]\nfrom = \"m39\"\nto = \"main mixer\"\n", folder("g.toml"))
        let program = try render(folder, "o.wav", ["--json"])
        #expect(program.wait(seconds: 60) == .exit(0), "\(program.errors)")
        let paths = try #require(try theReport(program)["paths"] as? [[String: Any]])
        #expect(paths.count == 1_000)
        let inWords = try render(folder, "o.wav")
        #expect(inWords.wait(seconds: 60) == .exit(0), "\(inWords.errors)")
        #expect(inWords.output.split(separator: "\n").count < 40 && inWords.output.contains("other paths"))
    }

    @Test func `NaN and infinite samples are replaced by silence and counted`() throws {
        let folder = try Scratch()
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: 4_800)
        for i in 0..<4_800 { buffer.channels[0][i] = i % 100 == 7 ? .nan : i % 100 == 8 ? .infinity : 0.25 }
        let writer = try AudioFileWriter(
            path: folder("a.wav"), format: AudioFormat(sampleRate: 48_000, channelCount: 1))
        try writer.write(buffer.channels, frameCount: 4_800)
        try writer.close()
        // The writer itself replaces them by silence.
        var bytes = try Data(contentsOf: URL(filePath: folder("a.wav")))
        let samples = try #require(bytes.range(of: Data("data".utf8))).upperBound + 4
        let raw = Data(bytes: buffer.channels[0], count: 4 * 4_800)
        bytes.replaceSubrange(samples..<samples + raw.count, with: raw)
        try bytes.write(to: URL(filePath: folder("a.wav")))
        let read = try AudioFileReader(path: folder("a.wav"))
        _ = try read.read(into: buffer.channels, frameCount: 4_800)
        try #require(read.faultCount == 96)
        try write(Self.plain, folder("g.toml"))
        let program = try render(folder, "o.wav", ["--json"])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let faults = try #require(try theReport(program)["faults"] as? [String: Any])
        #expect(faults["inputSamples"] as? Int == 96 && faults["samples"] as? Int == 0)
        let inWords = try render(folder, "o.wav")
        #expect(inWords.wait() == .exit(0))
        #expect(inWords.output.contains("96 invalid input samples"))
        let voice = [
            "process-voice", "--mic", folder("a.wav"), "--no-echo-cancellation", "--output", folder("v.wav"),
            "--overwrite",
        ]
        let processed = try Earshot.start(voice + ["--json"])
        #expect(processed.wait() == .exit(0), "\(processed.errors)")
        #expect(try theReport(processed)["faultSamples"] as? Int == 96)
        let told = try Earshot.start(voice)
        #expect(told.wait() == .exit(0), "\(told.errors)")
        #expect(told.output.contains("96 invalid input samples"))
    }

    @Test func `changes after the end are reported`() throws {
        let folder = try Scratch()
        try tone(folder("a.wav"), seconds: 0.5)
        func change(_ time: Double) -> String {
            "\n[[automation]]\nnode = \"main mixer\"\nparameter = \"volume\"\ntime = \(time)\nvalue = 1\n"
        }
        try write(Self.plain + change(600) + change(0.1) + change(60), folder("g.toml"))
        let program = try render(folder, "o.wav", ["--tail", "0"])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        #expect(program.errors.contains("g.toml:19:3: this change and 1 more are after the end"), "\(program.errors)")
        try write(Self.plain + change(0.1), folder("g.toml"))
        let inTime = try render(folder, "o.wav", ["--tail", "0"])
        #expect(inTime.wait() == .exit(0) && !inTime.errors.contains("after the end"), "\(inTime.errors)")
    }

    @Test(arguments: ["m4a", "aac", "flac", "opus", "mp3"])
    func `a graph reads and writes files of every format`(kind: String) throws {
        let folder = try Scratch()
        try tone(folder("a.wav"), seconds: 0.5)
        try write(Self.plain, folder("g.toml"))
        let first = try render(folder, "o.\(kind)", ["--tail", "0"])
        #expect(first.wait() == .exit(0), "\(first.errors)")
        #expect(try AudioFileType(contentsOf: folder("o.\(kind)")) == AudioFileType(fileName: "o.\(kind)"))
        let second = try Earshot.start([
            "render", "--graph", folder("g.toml"), "--input", folder("o.\(kind)"), "--output", folder("back.wav"),
            "--tail", "0",
        ])
        #expect(second.wait() == .exit(0), "\(second.errors)")
        let reader = try AudioFileReader(path: folder("back.wav"))
        #expect((24_000...26_112).contains(reader.frameCount), "ADTS cannot say where the sound ends")
        let block = AudioBuffer(channelCount: 2, frameCapacity: 26_112)
        let count = try reader.read(into: block.channels, frameCount: 26_112, offset: 0)
        let peak = (0..<count).reduce(Float(0)) { max($0, abs(block.channels[0][$1])) }
        #expect((0.4...0.6).contains(peak), "\(peak)")
    }

    @Test func `the report has the actual sample rate of an MP3 file`() throws {
        let folder = try Scratch()
        try tone(folder("a.wav"), seconds: 0.5)
        try write(Self.plain, folder("g.toml"))
        let program = try render(folder, "o.mp3", ["--rate", "384000", "--tail", "0", "--json"])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let report = try theReport(program)
        #expect(report["rate"] as? Double == 48_000 && report["frames"] as? Int == 24_000)
        #expect(abs(try #require(report["seconds"] as? Double) - 0.5) < 1e-9)
        #expect(try AudioFileReader(path: folder("o.mp3")).processingFormat.sampleRate == 48_000)
        let fraction = try render(folder, "o.mp3", ["--rate", "44100.4"])
        #expect(fraction.wait() == .exit(64))
        #expect(theFailure(fraction).contains("whole number"))
    }

    @Test func `the tail lasts until the sound ends, or as long as requested`() throws {
        let folder = try Scratch()
        try tone(folder("a.wav"), seconds: 0.5)
        try write(
            "[nodes.a]\ntype = \"player\"\ninput = 1\n[nodes.d]\ntype = \"delay\"\nparameters = { time = 1, feedback = 0, mix = 50 }\n"
                + "[[connections]]\nfrom = \"a\"\nto = \"d\"\n[[connections]]\nfrom = \"d\"\nto = \"main mixer\"\n",
            folder("g.toml"))
        for (tail, seconds) in [([], 1.5), (["--tail", "0.25"], 0.75), (["--tail", "2"], 2.5)] {
            let program = try Earshot.start(
                [
                    "render", "--graph", folder("g.toml"), "--input", folder("a.wav"), "--output", folder("o.wav"),
                    "--overwrite",
                ] + tail)
            #expect(program.wait() == .exit(0), "\(program.errors)")
            let frames = try playableFrames(folder("o.wav"))
            #expect(abs(Double(frames) / 48_000 - seconds) < 0.02, "\(frames)")
        }
    }

    @Test func `a generator is rendered to MP3`() throws {
        let folder = try Scratch()
        try write(
            "[nodes.g]\ntype = \"generator\"\n[[connections]]\nfrom = \"g\"\nto = \"main mixer\"\n", folder("g.toml"))
        let program = try Earshot.start([
            "render", "--graph", folder("g.toml"), "--output", folder("o.mp3"), "--tail", "1", "--json",
        ])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        #expect(try playableFrames(folder("o.mp3")) == 48_000)
        let report = try theReport(program)
        #expect(abs((report["peakDb"] as? Double ?? 0) + 20) < 0.1)
    }

    @Test func `samples beyond full scale are counted and reported`() throws {
        let folder = try Scratch()
        try tone(folder("a.wav"), seconds: 0.1)
        try write(Self.plain + "\nvolume = 4\n", folder("g.toml"))
        let program = try Earshot.start([
            "render", "--graph", folder("g.toml"), "--input", folder("a.wav"), "--output", folder("o.wav"), "--json",
        ])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let clipped = try samples(folder("o.wav")).channels.reduce(0) { $0 + $1.filter { abs($0) > 1 }.count }
        #expect(clipped > 1_000)
        #expect(try theReport(program)["clippedSamples"] as? Int == clipped)
        #expect(program.errors.contains("exceed full scale"))
    }

    @Test func `a graph with inputs is exported for Graphviz`() throws {
        let program = try Earshot.start([
            "render", "--graph", "\(Self.examples)/voice.toml", "--input", Earshot.speech, "--dot",
        ])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        #expect(program.output.hasPrefix("digraph") && program.output.contains("limiter"))
    }

    @Test func `a graph is exported for Graphviz without its inputs`() throws {
        let program = try Earshot.start(["render", "--graph", "\(Self.examples)/voice.toml", "--dot"])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        #expect(program.output.hasPrefix("digraph") && program.output.contains("limiter"))
    }

    @Test func `Ctrl-C leaves a playable file`() throws {
        let folder = try Scratch()
        try write(
            "[nodes.g]\ntype = \"generator\"\n[[connections]]\nfrom = \"g\"\nto = \"main mixer\"\n", folder("g.toml"))
        let program = try Earshot.start([
            "render", "--graph", folder("g.toml"), "--output", folder("o.wav"), "--tail", "7200", "--block", "1",
        ])
        while (try? FileManager.default.attributesOfItem(atPath: folder("o.wav"))[.size] as? Int) ?? 0 < 10_000 {
            usleep(10_000)
        }
        program.signal(SIGINT)
        #expect(program.wait() == .exit(130), "\(program.errors)")
        #expect(try playableFrames(folder("o.wav")) > 1_000)
    }

    struct Wrong: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// `G`, `A` and `O` stand for a sound graph, a tone and the output; other capitals get a folder.
        var arguments: [String]
        var status: Int32
        var words: [String]
    }

    static let wrong = [
        Wrong(
            testDescription: "no graph", arguments: ["--graph", "@/none.toml", "--output", "@/o.wav"], status: 66,
            words: ["none.toml", "no such file"]),
        Wrong(
            testDescription: "a folder as graph", arguments: ["--graph", "/usr", "--output", "@/o.wav"], status: 66,
            words: ["/usr"]),
        Wrong(
            testDescription: "sound as graph", arguments: ["--graph", "@/a.wav", "--output", "@/o.wav"], status: 65,
            words: ["a.wav"]),
        Wrong(
            testDescription: "no input", arguments: ["--graph", "@/g.toml", "--output", "@/o.wav"], status: 65,
            words: ["g.toml:3:9", "--input"]),
        Wrong(
            testDescription: "an input too many",
            arguments: ["--graph", "@/g.toml", "--input", "@/a.wav", "--input", "@/a.wav", "--output", "@/o.wav"],
            status: 64, words: ["input = 2"]),
        Wrong(
            testDescription: "a missing input",
            arguments: ["--graph", "@/g.toml", "--input", "@/none.wav", "--output", "@/o.wav"], status: 66,
            words: ["none.wav"]),
        Wrong(
            testDescription: "an input that is no audio",
            arguments: ["--graph", "@/g.toml", "--input", "/etc/passwd", "--output", "@/o.wav"], status: 65,
            words: ["/etc/passwd"]),
        Wrong(
            testDescription: "the input as output",
            arguments: ["--graph", "@/g.toml", "--input", "@/a.wav", "--output", "@/b/../a.wav"], status: 64,
            words: ["is also an input"]),
        Wrong(
            testDescription: "a folder that is not there",
            arguments: ["--graph", "@/g.toml", "--input", "@/a.wav", "--output", "@/none/o.wav"], status: 73,
            words: ["none/o.wav"]),
        Wrong(
            testDescription: "a full disk",
            arguments: ["--graph", "@/g.toml", "--input", "@/a.wav", "--output", "/dev/full"], status: 73,
            words: ["disk is full"]),
        Wrong(
            testDescription: "no kind of file",
            arguments: ["--graph", "@/g.toml", "--input", "@/a.wav", "--output", "@/o.xyz"], status: 64,
            words: ["Unknown format '.xyz'", "wav"]),
        Wrong(
            testDescription: "no output", arguments: ["--graph", "@/g.toml", "--input", "@/a.wav"], status: 64,
            words: ["--output"]),
        Wrong(
            testDescription: "a graph without end", arguments: ["--graph", "@/endless.toml", "--output", "@/o.wav"],
            status: 64, words: ["--tail"]),
        Wrong(
            testDescription: "no such block",
            arguments: ["--graph", "@/g.toml", "--input", "@/a.wav", "--output", "@/o.wav", "--block", "0"], status: 64,
            words: ["1 to 4096"]),
        Wrong(
            testDescription: "a rate that cannot be",
            arguments: ["--graph", "@/g.toml", "--input", "@/a.wav", "--output", "@/o.wav", "--rate", "nan"],
            status: 64,
            words: ["8000 to 384000"]),
        Wrong(
            testDescription: "a plug-in that is not there",
            arguments: ["--graph", "@/plugin.toml", "--input", "@/a.wav", "--output", "@/o.wav"], status: 65,
            words: ["plugin.toml:3:7", "no-such-plugin"]),
    ]

    @Test(arguments: wrong) func `every error is reported in one line with the right status`(wrong: Wrong) throws {
        let folder = try Scratch()
        try tone(folder("a.wav"), seconds: 0.1)
        try FileManager.default.createDirectory(atPath: folder("b"), withIntermediateDirectories: false)
        try write(Self.plain, folder("g.toml"))
        try write(
            "[nodes.g]\ntype = \"generator\"\n[[connections]]\nfrom = \"g\"\nto = \"main mixer\"\n",
            folder("endless.toml"))
        try write(
            "[nodes.p]\ntype = \"plugin\"\nuri = \"urn:no-such-plugin\"\n", folder("plugin.toml"))
        let before = try Data(contentsOf: URL(fileURLWithPath: folder("a.wav")))
        let program = try Earshot.start(
            ["render"] + wrong.arguments.map { $0.replacingOccurrences(of: "@", with: folder.path) })
        #expect(program.wait(seconds: 30) == .exit(wrong.status), "\(program.errors)")
        let line = theFailure(program)
        for word in wrong.words { #expect(line.contains(word), "\(line)") }
        #expect(program.output.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: folder("o.wav")))
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder("a.wav"))) == before)
    }
}
