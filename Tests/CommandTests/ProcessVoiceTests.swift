// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import TestSupport
import Testing

/// Recordings of a loudspeaker and a microphone beside it, made of real speech.
private struct Recordings {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        let far = try RecordedSpeech.sentences.flatMap { try Self.read($0, rate: 16_000) }
        var heard = [Float](repeating: 0, count: far.count + 8_000)
        // A distance of 20 ms, and three walls.
        for (delay, gain) in [(320, Float(0.4)), (520, -0.2), (900, 0.1), (1_700, 0.05)] {
            for i in far.indices { heard[i + delay] += gain * far[i] }
        }
        try Self.write(far, to: scratch("far.wav"), rate: 16_000)
        try Self.write(heard, to: scratch("mic.wav"), rate: 16_000)
    }

    static func read(_ path: String, rate: Double) throws -> [Float] {
        let reader = try ConvertedFileReader(
            AudioFileReader(path: path), as: AudioFormat(sampleRate: rate, channelCount: 1))
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: reader.frameCount)
        let count = try reader.read(into: buffer.channels, frameCount: reader.frameCount)
        return (0..<count).map { buffer.channels[0][$0] }
    }

    static func write(_ samples: [Float], to path: String, rate: Double) throws {
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: samples.count)
        for i in samples.indices { buffer.channels[0][i] = samples[i] }
        let writer = try AudioFileWriter(path: path, format: AudioFormat(sampleRate: rate, channelCount: 1))
        try writer.write(buffer.channels, frameCount: samples.count)
        try writer.close()
    }
}

private func power(_ samples: some Collection<Float>) -> Double {
    samples.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(max(1, samples.count))
}

@Suite(.serialized) struct ProcessVoiceTests {
    @Test func `echo is removed, and the report states by how much`() throws {
        let files = try Recordings()
        let output = files.scratch("out.wav")
        let program = try Earshot.start([
            "process-voice", "--mic", files.scratch("mic.wav"), "--reference", files.scratch("far.wav"), "--output",
            output, "--json",
        ])
        #expect(program.wait(seconds: 60) == .exit(0), "\(program.errors)")
        let report = try theReport(program)
        let before = try Recordings.read(files.scratch("mic.wav"), rate: 16_000)
        let after = try Recordings.read(output, rate: 16_000)
        #expect(after.count == before.count)
        let lowered = 10 * log10(power(before[32_000...]) / power(after[32_000...]))
        #expect(lowered > 35)
        #expect(abs(try #require(report["enhancementDb"] as? Double) - lowered) < 4)
        #expect(abs(try #require(report["echoDelayMs"] as? Int) - 20) <= 2)
        #expect(abs(try #require(report["referencePaddingSeconds"] as? Double) - 0.5) < 0.001)
        #expect(report["micPaddingSeconds"] as? Double == 0)
        #expect(report["rate"] as? Int == 16_000)
        #expect(program.errors.isEmpty)
    }

    @Test func `without echo cancellation the echo stays and no reference is required`() throws {
        let files = try Recordings()
        let output = files.scratch("out.wav")
        let program = try Earshot.start([
            "process-voice", "--mic", files.scratch("mic.wav"), "--output", output, "--no-echo-cancellation",
            "--noise-suppression", "off", "--no-high-pass",
        ])
        #expect(program.wait(seconds: 60) == .exit(0), "\(program.errors)")
        #expect(program.output.contains("left in"))
        let before = try Recordings.read(files.scratch("mic.wav"), rate: 16_000)
        let after = try Recordings.read(output, rate: 16_000)
        #expect(after.count == before.count)
        #expect(zip(before, after).allSatisfy { abs($0 - $1) < 1e-3 })
    }

    @Test func `other sample rates are converted, and a shorter microphone file is padded`() throws {
        let scratch = try Scratch()
        let far = try Recordings.read(Earshot.speech, rate: 44_100)
        try Recordings.write(Array(far.prefix(30_000)), to: scratch("mic.wav"), rate: 44_100)
        let program = try Earshot.start([
            "process-voice", "--mic", scratch("mic.wav"), "--reference", Earshot.speech, "--output", scratch("out.wav"),
            "--gain-control", "adaptive", "--gain-target", "-6", "--noise-suppression", "very-high",
            "--echo-suppression",
            "low",
        ])
        #expect(program.wait(seconds: 60) == .exit(0), "\(program.errors)")
        #expect(try playableFrames(scratch("out.wav")) == playableFrames(Earshot.speech))
        #expect(program.output.contains("48000 Hz") && program.output.contains("the microphone's file ends"))
    }

    @Test(
        arguments: [
            (
                ["--mic", "/nonexistent/a.wav", "--reference", Earshot.speech, "--output", "/tmp/x.wav"], 66,
                "no such file"
            ),
            (["--mic", Earshot.speech, "--reference", "/etc/passwd", "--output", "/tmp/x.wav"], 65, "/etc/passwd"),
            (["--mic", Earshot.speech, "--reference", Earshot.speech, "--output", "/nonexistent/x.wav"], 73, "folder"),
            (["--mic", Earshot.speech, "--output", "/tmp/x.wav"], 64, "--reference"),
            (
                ["--mic", Earshot.speech, "--no-echo-cancellation", "--output", "/tmp/x.wav", "--gain-target", "3"], 64,
                "-31"
            ),
            (["--mic", Earshot.speech, "--no-echo-cancellation", "--output", "/tmp/x.xyz"], 64, "wav"),
            (
                ["--mic", Earshot.speech, "--no-echo-cancellation", "--output", "/tmp/x.wav", "--gain-target", "-6"],
                64, "--gain-control"
            ),
            (
                [
                    "--mic", Earshot.speech, "--no-echo-cancellation", "--output", "/tmp/x.wav", "--noise-suppression",
                    "x",
                ], 64, "x"
            ),
        ] as [([String], Int32, String)])
    func `invalid input is reported in one line`(arguments: [String], status: Int32, words: String) throws {
        let program = try Earshot.start(["process-voice"] + arguments)
        #expect(program.wait() == .exit(status), "\(program.errors)")
        #expect(theFailure(program).contains(words), "\(program.errors)")
    }

    @Test func `files without audio are rejected, and no output is written`() throws {
        let scratch = try Scratch()
        let format = AudioFormat(sampleRate: 48_000, channelCount: 1)
        try AudioFileWriter(path: scratch("empty.wav"), format: format).close()
        for more in [["--no-echo-cancellation"], ["--reference", scratch("empty.wav")]] {
            let program = try Earshot.start(
                ["process-voice", "--mic", scratch("empty.wav"), "--output", scratch("out.wav")] + more)
            #expect(program.wait() == .exit(65), "\(program.errors)")
            #expect(theFailure(program).contains("contains no audio"))
            #expect(!FileManager.default.fileExists(atPath: scratch("out.wav")))
        }
    }

    @Test func `an input file is never overwritten`() throws {
        let files = try Recordings()
        let path = files.scratch("mic.wav")
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let program = try Earshot.start([
            "process-voice", "--mic", path, "--reference", files.scratch("far.wav"), "--output",
            files.scratch("./mic.wav"),
        ])
        #expect(program.wait() == .exit(64))
        #expect(theFailure(program).contains("is also an input"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }
}
