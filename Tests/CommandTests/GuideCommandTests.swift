// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation
import TestSupport
import TestTraits
import Testing

/// A guide vocal with the program as users run it.
@Suite(.serialized, .realTime) struct GuideCommandTests {
    /// Writes a tone.
    private static func writeTone(_ path: String, _ frequency: Double, seconds: Double) throws {
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: Int(seconds * 48_000))
        for i in 0..<buffer.frameCapacity {
            buffer.channels[0][i] = sine(i, frequency: frequency, rate: 48_000, amplitude: 0.2)
        }
        let file = try SoundFiles.create(path, format: AudioFormat(sampleRate: 48_000, channelCount: 1))
        try file.write(buffer.channels, frameCount: buffer.frameCapacity)
        try file.close()
    }

    /// Returns the amplitude of a tone in the loudest tenth of a second of a file.
    private static func amplitude(of frequency: Double, in path: String) throws -> Double {
        let file = try SoundFiles.open(path)
        let (rate, channelCount) = (file.processingFormat.sampleRate, file.processingFormat.channelCount)
        let length = Int(rate / 10)
        let block = AudioBuffer(channelCount: channelCount, frameCapacity: length)
        var loudest = 0.0
        while try file.read(into: block.channels, frameCount: length) == length {
            var (real, imaginary) = (0.0, 0.0)
            for i in 0..<length {
                let (phase, sample) = (2 * .pi * frequency * Double(i) / rate, Double(block.channels[0][i]))
                (real, imaginary) = (real + sample * cos(phase), imaginary + sample * sin(phase))
            }
            loudest = max(loudest, 2 * (real * real + imaginary * imaginary).squareRoot() / Double(length))
        }
        return loudest
    }

    @Test func `each singer hears the guide vocal at a level of one's own, and no take has it`() throws {
        let scratch = try Scratch()
        try Self.writeTone(scratch("song.wav"), 500, seconds: 4)
        try Self.writeTone(scratch("vocal.wav"), 2_000, seconds: 4.5)
        try FileManager.default.createDirectory(atPath: scratch("run"), withIntermediateDirectories: true)
        let environment: [String: String?] = ["XDG_RUNTIME_DIR": scratch("run")]
        let (port, keys, guestKeys) = (try Earshot.freePort(), try PseudoTerminal(), try PseudoTerminal())
        // The microphones are silent.
        func card(_ name: String) -> [String] {
            ["--device", "simulated", "--hear", scratch("\(name).wav"), "--name", name, "--folder", scratch(name)]
        }
        let host = try Earshot.start(
            ["duet", "host", scratch("song.wav"), "--guide", scratch("vocal.wav"), "--tempo", "240"]
                + ["--port", "\(port)", "--accept", "all", "--no-announce"] + card("Anna"),
            environment: environment, terminal: keys)
        try #require(host.says("Song: song (0:04). It has a guide vocal."), "\(host.errors)")
        let guest = try Earshot.start(["duet", "join", "127.0.0.1:\(port)"] + card("Ben"), terminal: guestKeys)
        try #require(guest.says("Guide vocal received."), "\(guest.errors)")
        guestKeys.type("g")
        #expect(guest.says("Guide vocal: 20 %, for you alone."), "\(guest.errors)")
        guestKeys.type("g")
        #expect(guest.says("Guide vocal: 0 %, for you alone."), "\(guest.errors)")
        let order = try Earshot.start(["call", "duet", "guide", "50%"], environment: environment)
        #expect(order.wait() == .exit(0) && order.errors.contains("Guide vocal: 50 %"), "\(order.errors)")
        #expect(host.says("Guide vocal: 50 %, for you alone."), "\(host.errors)")
        for key in [keys, guestKeys] { key.type("\r") }
        for program in [host, guest] { #expect(program.says("Saved: ", seconds: 20), "\(program.errors)") }
        #expect(host.errors.contains("guide 50 %") && !host.errors.contains("guide 0 %"), "\(host.errors)")
        for program in [host, guest] { program.signal(SIGINT) }
        for program in [host, guest] { _ = program.wait(seconds: 20) }

        let heard = try ["Anna", "Ben"].map { name in
            try [500.0, 2_000].map { try Self.amplitude(of: $0, in: scratch("\(name).wav")) }
        }
        print("figure: guide vocal in its song, heard at 50 % and 0 %: \(heard)")
        // The level of the song on the loudspeaker is that of the call.
        #expect(abs(heard[0][1] / heard[0][0] - 0.5) < 0.05 && heard[1][0] > 0.05)
        #expect(heard[1][1] / heard[1][0] < 0.01)
        for name in ["Anna", "Ben"] {
            let take = try DuetCommandTests.take(scratch(name))
            let mixed = try [500.0, 2_000].map { try Self.amplitude(of: $0, in: "\(take)/mix.m4a") }
            #expect(mixed[0] > 0.05 && mixed[1] / mixed[0] < 0.01, "\(mixed)")
        }
        #expect(FileManager.default.fileExists(atPath: scratch("Ben") + "/Songs/vocal.wav"))
    }

    @Test func `a guide vocal of another length, without a song, or that is the song, is refused`() throws {
        let scratch = try Scratch()
        try Self.writeTone(scratch("song.wav"), 500, seconds: 3)
        try Self.writeTone(scratch("long.wav"), 500, seconds: 65)
        let files = ["--device", "simulated", "--folder", scratch("anna")]
        func host(_ words: [String]) throws -> (ChildProcess.Ending?, String) {
            let program = try Earshot.start(["duet", "host"] + words + files)
            return (program.wait(), program.errors)
        }
        let (length, words) = try host([scratch("song.wav"), "--guide", scratch("long.wav")])
        #expect(length == .exit(65) && words.contains("long.wav lasts 1:05, but the song 0:03."), "\(words)")
        let (same, sameWords) = try host([scratch("song.wav"), "--guide", scratch("song.wav")])
        #expect(same == .exit(65) && sameWords.contains("is the song itself"), "\(sameWords)")
        let (missing, missingWords) = try host([scratch("song.wav"), "--guide", scratch("none.wav")])
        #expect(missing == .exit(66) && missingWords.contains("none.wav: no such file"), "\(missingWords)")
        let (beat, beatWords) = try host(["--beat", "96", "--guide", scratch("song.wav")])
        #expect(beat == .exit(64) && beatWords.contains("--guide needs a song"), "\(beatWords)")
        let (two, twoWords) = try host([scratch("song.wav"), scratch("long.wav"), "--guide", scratch("song.wav")])
        #expect(two == .exit(64) && twoWords.contains("--guide is for one song"), "\(twoWords)")
    }
}
