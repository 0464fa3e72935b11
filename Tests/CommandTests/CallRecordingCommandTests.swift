// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import Foundation
import TestSupport
import TestTraits
import Testing

/// Recording a call with the program as users run it: on one machine, each process with its own identity.
@Suite(.serialized, .realTime) struct CallRecordingCommandTests {
    private static let card = ["--device", "simulated", "--speak", Earshot.speech]

    private func join(
        _ port: Int, as name: String, _ more: [String], terminal: PseudoTerminal? = nil
    ) throws -> ChildProcess {
        try Earshot.start(
            ["join", "127.0.0.1:\(port)", "--name", name] + Self.card + more, terminal: terminal)
    }

    private func peak(_ path: String) throws -> Float {
        try Recorded.read(path)[0].reduce(0) { max($0, abs($1)) }
    }

    @Test func `a recording has the voice of a guest who allows it, and silence for one who does not`() throws {
        let scratch = try Scratch()
        let port = try Earshot.freePort()
        let host = try Earshot.start(
            Earshot.host(port) + Self.card
                + [
                    "--name", "Ann", "--record", scratch("take"), "--record-format", "flac", "--duration", "4",
                    "--json",
                ])
        #expect(host.says("The recording begins when another participant joins."), "\(host.errors)")
        let bob = try join(port, as: "Bob", ["--allow-recording", "yes"])
        #expect(host.says("Recording to \(scratch("take"))"), "\(host.errors)")
        #expect(bob.says("Ann records the call with your voice."), "\(bob.errors)")
        let cleo = try join(port, as: "Cleo", [])
        #expect(cleo.says("without your voice. To allow it: --allow-recording yes"), "\(cleo.errors)")
        #expect(host.says("Cleo declined"), "\(host.errors)")
        #expect(host.wait() == .exit(0), "\(host.errors)")
        let files = try FileManager.default.contentsOfDirectory(atPath: scratch("take")).sorted()
        #expect(files == ["Ann.flac", "Bob.flac", "Cleo.flac", "mix.flac", "recording.json"])
        #expect(try peak(scratch("take/Ann.flac")) > 0.05 && peak(scratch("take/Bob.flac")) > 0.05)
        #expect(try peak(scratch("take/Cleo.flac")) == 0)
        let recording = try #require(try theReport(host)["recording"] as? [String: Any])
        let seconds = try #require(recording["seconds"] as? Double)
        #expect(seconds > 3 && seconds < 4.5 && recording["folder"] as? String == scratch("take"), "\(recording)")
        let lengths = try files.dropLast().map { try Recorded.read(scratch("take/\($0)"))[0].count }
        #expect(Set(lengths).count == 1 && abs(Double(lengths[0]) / 48_000 - seconds) < 0.001, "\(lengths)")
    }

    @Test func `r records, the guest answers y, r ends, and any key after the call ends the program`() throws {
        let scratch = try Scratch()
        let port = try Earshot.freePort()
        let (hostKeys, guestKeys) = (try PseudoTerminal(), try PseudoTerminal())
        let host = try Earshot.start(
            Earshot.host(port) + Self.card + ["--name", "Ann"], environment: ["HOME": scratch.path],
            terminal: hostKeys)
        #expect(host.says("Waiting for guests"), "\(host.errors)")
        let guest = try join(port, as: "Bob", [], terminal: guestKeys)
        #expect(host.says("In a call with Bob") && guest.says("In a call with Ann"), "\(host.errors) \(guest.errors)")
        hostKeys.type("r")
        #expect(host.says("Recording to \(scratch("Music/Earshot/"))"), "\(host.errors)")
        #expect(host.says("Bob has not answered yet"), "\(host.errors)")
        #expect(guest.says("May Ann record your voice?"), "\(guest.errors)")
        guestKeys.type("y")
        #expect(host.says("Bob allows recording."), "\(host.errors)")
        hostKeys.type("r")
        #expect(host.says("Recorded 0:0"), "\(host.errors)")
        #expect(guest.says("Ann ended the recording."), "\(guest.errors)")
        hostKeys.type("q")
        #expect(host.says("p plays the mix"), "\(host.errors)")
        hostKeys.type("x")
        #expect(host.wait() == .exit(0), "\(host.errors)")
    }

    @Test func `a full disk ends the recording with a message, and the call goes on`() throws {
        let scratch = try Scratch()
        let port = try Earshot.freePort()
        // 100 KiB per file, which WAV of 24 bits reaches after 0.7 s.
        let options = (Earshot.host(port) + Self.card + ["--record", scratch("take"), "--duration", "3", "--json"])
            .map { "'\($0)'" }.joined(separator: " ")
        let host = try ChildProcess(["bash", "-c", "ulimit -f 100; exec '\(Earshot.program)' \(options)"])
        #expect(host.says("Waiting for guests"), "\(host.errors)")
        let guest = try join(port, as: "Bob", ["--allow-recording", "yes", "--json"])
        #expect(host.says("the disk is full"), "\(host.errors)")
        #expect(host.wait() == .exit(0) && guest.wait() == .exit(0), "\(host.errors) \(guest.errors)")
        let peers = try theReport(host)["peers"] as? [[String: Any]] ?? []
        #expect(
            peers.count == 1 && peers[0]["sent"].flatMap { ($0 as? [String: Any])?["packets"] as? Int } ?? 0 > 200,
            "\(peers)")
        #expect(try Recorded.read(scratch("take/mix.wav"))[0].count > 30_000)
    }
}
