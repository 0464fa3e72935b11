// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import TestSupport
import TestTraits
import Testing

@Suite(.optimized) struct SimulateCommandTests {
    private func simulate(_ arguments: String...) throws -> ChildProcess {
        let program = try Earshot.start(["simulate"] + arguments)
        _ = program.wait(seconds: 60)
        return program
    }

    /// Returns a call's streams: one from each peer to each other peer.
    private func streams(_ program: ChildProcess, peers: Int = 2) throws -> [[String: Any]] {
        let streams = try #require(try theReport(program)["streams"] as? [[String: Any]])
        try #require(streams.count == peers * (peers - 1))
        return streams
    }

    @Test func `the summary of a simulated call is the same for the same seed`() throws {
        let first = try simulate("--codec", "pcm", "--profile", "iid-5", "--drift", "50", "--duration", "0.2m")
        let second = try simulate("--codec", "pcm", "--profile", "iid-5", "--drift", "50", "--duration", "0.2m")
        #expect(first.wait() == .exit(0) && first.output == second.output)
        for words in [
            "2 peers, iid-5, 12 s, seed 1", "+50 ppm", "-50 ppm", "1 to 2", "mouth to ear", "glitches a minute",
        ] {
            #expect(first.output.contains(words), "\(first.output)")
        }
        #expect(first.errors.contains("times real time"))
        let other = try simulate(
            "--codec", "pcm", "--profile", "iid-5", "--drift", "50", "--duration", "0.2m", "--seed", "2")
        #expect(other.output != first.output)
    }

    @Test func `the JSON report is reproducible and matches the requested options`() throws {
        let arguments = [
            "simulate", "--peers", "3", "--codec", "opus", "--frame", "5", "--rate", "44100,48000,48000", "--block",
            "441,128,64", "--profile", "wifi-congested", "--duration", "0.25m", "--from", "5", "--json", "--encrypt",
        ]
        let (first, second) = (try Earshot.start(arguments), try Earshot.start(arguments))
        #expect(first.wait(seconds: 60) == .exit(0) && second.wait(seconds: 60) == .exit(0), "\(first.errors)")
        #expect(first.output == second.output)
        let report = try theReport(first)
        #expect(report["network"] as? String == "wifi-congested" && report["ended"] as? String == "over")
        #expect(report["seconds"] as? Double == 15 && report["measuredFromSeconds"] as? Double == 5)
        #expect(report["isEncrypted"] as? Bool == true)
        let peers = try #require(report["peers"] as? [[String: Any]])
        #expect(peers.map { $0["block"] as? Int } == [441, 128, 64])
        for stream in try streams(first, peers: 3) {
            #expect(stream["codec"] as? String == "opus" && stream["packetFrames"] as? Int == 240)
            let delay = try #require(stream["mouthToEarMs"] as? [String: Double])
            #expect(try #require(delay["least"]) > 20)
            #expect(try #require(stream["packetsLost"] as? Int) > 10)
            let series = try #require(stream["series"] as? [[String: Double]])
            #expect(series.count > 50 && series.count <= 240 && series.first?["seconds"] == 5)
        }
    }

    @Test func `microphone and loudspeaker audio are written, shifted by the reported delay`() throws {
        let scratch = try Scratch()
        let program = try simulate(
            "--codec", "pcm", "--input", Earshot.speech, "--output", scratch("heard"), "--duration", "0.1m", "--json")
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let report = try theReport(program)
        #expect(report["inputs"] as? [String] == [Earshot.speech])
        func read(_ name: String) throws -> [Float] {
            let reader = try AudioFileReader(path: scratch("heard/\(name).wav"))
            let buffer = AudioBuffer(channelCount: 1, frameCapacity: reader.frameCount)
            let count = try reader.read(into: buffer.channels, frameCount: reader.frameCount, offset: 0)
            return Array(UnsafeBufferPointer(start: buffer.channels[0], count: count))
        }
        let (said, heard) = (try read("peer-1-mic"), try read("peer-2-heard"))
        let delay = try #require(try streams(program)[0]["mouthToEarMs"] as? [String: Double])
        let peers = try #require(report["peers"] as? [[String: Any]])
        let start = try #require(peers[1]["loudspeakerStartSeconds"] as? Double)
        let shift = Int(((try #require(delay["p50"]) * 1e-3 - start) * 48_000).rounded())
        // Near the end the delay is that of the middle, within some frames; it must be the best of all.
        func error(_ shift: Int) -> Float {
            (192_000..<240_000).reduce(0) { $0 + (said[$1] - heard[$1 + shift]) * (said[$1] - heard[$1 + shift]) }
        }
        let best = (shift - 40...shift + 40).min { error($0) < error($1) } ?? 0
        #expect(abs(best - shift) <= 24, "\(best) instead of \(shift)")
    }

    @Test func `a packet trace is followed, and the reported loss and delay match it`() throws {
        let scratch = try Scratch()
        try Data("# two of three\n5\n5\nlost\n".utf8).write(to: URL(fileURLWithPath: scratch("trace")))
        let program = try simulate(
            "--trace", scratch("trace"), "--codec", "opus", "--frame", "20", "--json", "--duration", "0.5m")
        for stream in try streams(program) {
            let (sent, lost) = (stream["packetsSent"] as? Int ?? 0, stream["packetsLost"] as? Int ?? 0)
            #expect(sent > 1_400 && lost == sent / 3)
            #expect((stream["networkMs"] as? [String: Double])?["p50"] == 5)
        }
    }

    @Test func `a narrow link and an outage lose packets only during the given seconds`() throws {
        let program = try simulate(
            "--codec", "pcm", "--no-adapt", "--repair", "none", "--duration", "0.2m", "--link-rate", "400@4",
            "--link-rate",
            "unlimited@6", "--queue", "4000", "--outage", "8-8.5", "--stall", "9-9.2", "--json")
        for stream in try streams(program) {
            let overflowed = try #require(stream["packetsOverflowed"] as? Int)
            #expect((380...440).contains(overflowed), "\(overflowed)")
            #expect(abs(try #require(stream["packetsLost"] as? Int) - overflowed - 187) <= 2)
            #expect(try #require((stream["networkMs"] as? [String: Double])?["max"]) > 195)
        }
    }

    @Test func `rate adaptation avoids most losses on a narrow link`() throws {
        let program = try simulate(
            "--codec", "pcm", "--repair", "none", "--duration", "0.2m", "--link-rate", "400@4", "--link-rate",
            "unlimited@6", "--queue", "4000", "--json")
        for stream in try streams(program) {
            let overflowed = try #require(stream["packetsOverflowed"] as? Int)
            #expect((1...120).contains(overflowed), "\(overflowed), some 410 without")
        }
    }

    @Test func `Ctrl-C ends a simulation with a report of what was simulated so far`() throws {
        let program = try Earshot.start([
            "simulate", "--duration", "500000m", "--json", "--codec", "opus", "--frame", "20",
        ])
        #expect(program.catches(SIGINT), "\(program.errors)")
        program.signal(SIGINT)
        #expect(program.wait() == .exit(130), "\(program.errors)")
        let report = try theReport(program)
        #expect(report["ended"] as? String == "interrupted")
        #expect((0..<500_000 * 60).contains(try #require(report["seconds"] as? Double)))
    }

    @Test(arguments: [
        (["--peers", "1"], "--peers must be 2 to 8"), (["--peers", "9"], "--peers must be 2 to 8"),
        (["--profile", "moon"], "lan"), (["--profile", "lan", "--trace", "x"], "use one of them"),
        (["--duration", "0m"], "--duration"), (["--duration", "nan"], "--duration"),
        (["--minutes", "1"], "--minutes is now --duration."), (["--from", "60"], "--from"),
        (["--rate", "48000,44100,8000"], "--rate must be one number, or 2"), (["--rate", "7"], "8000 to 384000"),
        (["--rate", "48000.5"], "a whole number"), (["--block", "0"], "1 to 4096"), (["--block", "x"], "--block"),
        (["--drift", "20000"], "-10000 to 10000"), (["--link-rate", "0"], "1 to 10000000 kb/s"),
        (["--link-rate", "5", "--link-rate", "6"], "twice"), (["--queue", "9"], "needs --link-rate"),
        (["--outage", "5-4"], "the earlier first"), (["--stall", "5"], "earlier first: 10-12.5"),
        (["--dial", "fast"], "talk, listen or a number"), (["--dial", "2"], "--dial cannot be '2'"),
        (["--seed", "-1"], "--seed"), (["--frame", "7"], "2.5, 5, 10 or 20"),
        (["--input", "a", "b", "c"], "3 files for 2 peers"),
        (["--repair", "codec", "--codec", "pcm"], "needs --codec opus"),
    ]) func `invalid arguments are reported in one line that names valid ones`(arguments: [String], words: String)
        throws
    {
        let program = try Earshot.start(["simulate"] + arguments)
        #expect(program.wait() == .exit(64), "\(program.output)")
        #expect(theFailure(program).contains(words), "\(program.errors)")
    }

    @Test func `files that are missing, empty, invalid or in the way are named`() throws {
        let scratch = try Scratch()
        try Data("5\nfive\n".utf8).write(to: URL(fileURLWithPath: scratch("bad")))
        try Data().write(to: URL(fileURLWithPath: scratch("empty")))
        try AudioFileWriter(
            path: scratch("silent.wav"), format: AudioFormat(sampleRate: 48_000, channelCount: 1)
        ).close()
        let cases: [([String], CInt, String)] = [
            (["--trace", scratch("none")], 66, "Name a trace"), (["--trace", scratch.path], 66, "not a regular file"),
            (["--trace", scratch("bad")], 65, "line 2 says 'five'"), (["--trace", scratch("empty")], 65, "no packet"),
            (["--input", scratch("none")], 66, "none"), (["--input", scratch("bad")], 65, "bad"),
            (["--input", scratch("silent.wav")], 65, "contains no audio"),
            (["--output", scratch("bad")], 73, "--output"),
        ]
        for (arguments, status, words) in cases {
            let program = try Earshot.start(["simulate"] + arguments)
            #expect(program.wait() == .exit(status), "\(arguments): \(program.errors)")
            #expect(theFailure(program).contains(words), "\(program.errors)")
        }
        let heard = try simulate("--output", scratch.path, "--duration", "0.01m")
        #expect(heard.wait() == .exit(0))
        let again = try simulate("--output", scratch.path, "--input", scratch("peer-1-mic.wav"))
        #expect(again.wait() == .exit(64))
        #expect(theFailure(again).contains("is also an input"))
    }
}
