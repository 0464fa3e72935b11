// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import Foundation
import TestSupport
import TestTraits
import Testing

/// The accompaniment of a call with the program as users run it, on simulated cards.
@Suite(.serialized, .realTime) struct AccompanimentCommandTests {
    /// A short path, as the path of a socket is limited.
    private final class Folder {
        let path = "/tmp/earshot-songs-\(getpid())-\(UInt32.random(in: 0 ... .max))"

        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func start(_ arguments: [String], terminal: PseudoTerminal? = nil) throws -> ChildProcess {
            try Earshot.start(arguments, environment: ["XDG_RUNTIME_DIR": path], terminal: terminal)
        }

        /// Runs `earshot call accompany` to its end.
        func accompany(_ arguments: String...) throws -> ChildProcess {
            let program = try start(["call", "accompany"] + arguments)
            #expect(program.wait() != nil, "\(arguments)")
            return program
        }

        /// Returns the position of the playing song in whole seconds; nil without one.
        func position() throws -> Int? {
            let match = try accompany().output.firstMatch(of: #/playing at (\d+):(\d+) of/#)
            return match.flatMap { match in Int(match.1).flatMap { m in Int(match.2).map { 60 * m + $0 } } }
        }

        /// Writes a tone.
        func tone(_ name: String, seconds: Int, amplitude: Double) throws -> String {
            let buffer = AudioBuffer(channelCount: 1, frameCapacity: seconds * 44_100)
            for i in 0..<buffer.frameCapacity {
                buffer.channels[0][i] = sine(i, frequency: 440, rate: 44_100, amplitude: amplitude)
            }
            let file = try SoundFiles.create(
                "\(path)/\(name)", format: AudioFormat(sampleRate: 44_100, channelCount: 1))
            try file.write(buffer.channels, frameCount: buffer.frameCapacity)
            try file.close()
            return "\(path)/\(name)"
        }
    }

    private static func peak(_ path: String) throws -> Float {
        let reader = try SoundFiles.open(path)
        let block = AudioBuffer(channelCount: reader.processingFormat.channelCount, frameCapacity: 4_096)
        var peak: Float = 0
        while true {
            let count = try reader.read(into: block.channels, frameCount: 4_096)
            for i in 0..<count { peak = max(peak, abs(block.channels[0][i])) }
            if count < 4_096 { return peak }
        }
    }

    @Test func `a song is played by a key, heard by all on request, and controlled from another terminal`() throws {
        let folder = try Folder()
        let song = try folder.tone("song.wav", seconds: 60, amplitude: 0.3)
        let heard = "\(folder.path)/heard.wav"
        let (port, keys) = (try Earshot.freePort(), try PseudoTerminal())
        let card = ["--device", "simulated", "--codec", "pcm"]
        let host = try folder.start(
            Earshot.host(port) + ["--name", "Ann"] + card + ["--accompany", song], terminal: keys)
        try #require(host.says("Waiting for guests"), "\(host.errors)")
        let guest = try Earshot.start(["join", "127.0.0.1:\(port)", "--name", "Bob", "--hear", heard] + card)
        try #require(host.says("In a call with Bob"), "\(host.errors)")
        keys.type("a")
        #expect(host.says("♪ song.wav"), "\(host.errors)")
        let quieter = try folder.accompany("volume", "50%")
        #expect(quieter.errors.contains("song.wav, playing at") && quieter.errors.contains("only for you, -6 dB"))
        keys.type("l")
        #expect(host.says("for all"), "\(host.errors)")
        let start = try #require(try folder.position())
        #expect(eventually { (try? folder.position()).flatMap(\.self).map { $0 >= start + 2 } ?? false })
        #expect(try folder.accompany("seek", "0:20").errors.contains("at 0:20 of 1:00, for all"))
        #expect(try folder.accompany("pause").errors.contains("paused at 0:2"))
        #expect(try folder.accompany().output.hasPrefix("Accompaniment: song.wav, paused at 0:2"))
        #expect(try folder.accompany("stop").errors == "The accompaniment is off.\n")
        #expect(
            try folder.accompany().output == "No accompaniment. Load one: earshot call accompany FILE\n")
        let late = try folder.accompany("play")
        #expect(late.wait() != .exit(0) && late.errors.contains("There is no accompaniment"), "\(late.errors)")
        keys.type("q")
        #expect(host.wait() == .exit(0), "\(host.errors)")
        #expect(guest.wait() == .exit(0), "\(guest.errors)")
        let peak = try Self.peak(heard)
        #expect(peak > 0.12 && peak < 0.2, "the guest heard \(peak)")
    }

    @Test func `files that cannot be played are refused by name, and the call goes on`() throws {
        let folder = try Folder()
        let bad = "\(folder.path)/bad.wav"
        try "no sound".write(toFile: bad, atomically: true, encoding: .utf8)
        let missing = try folder.start(Earshot.host(try Earshot.freePort()) + ["--accompany", "/missing.wav"])
        #expect(missing.wait() == .exit(66) && missing.errors.contains("/missing.wav: No such file"))
        let host = try folder.start(
            Earshot.host(try Earshot.freePort()) + ["--device", "simulated", "--accompany", bad])
        #expect(host.says("bad.wav: not an audio file"), "\(host.errors)")
        let other = try folder.accompany("/missing.wav")
        #expect(other.wait() == .exit(66) && other.errors.contains("/missing.wav: No such file"), "\(other.errors)")
        let refused = try folder.accompany(bad)
        #expect(refused.wait() == .exit(65) && refused.errors.contains("None of the files can be played"))
        let loaded = try folder.accompany(bad, try folder.tone("song.wav", seconds: 5, amplitude: 0.1))
        #expect(
            loaded.errors.contains("bad.wav") && loaded.errors.contains("song.wav (2 of 2), paused at 0:00 of 0:05"))
        #expect(loaded.errors.contains("Play it: earshot call accompany play"), "\(loaded.errors)")
        host.signal(SIGINT)
        #expect(host.wait(seconds: 8) == .exit(130), "\(host.errors)")
    }
}
