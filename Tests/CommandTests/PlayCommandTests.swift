// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestSupport
import TestTraits
import Testing

/// Plays and returns the output.
@Suite(.serialized, .realTime) struct PlayCommandTests {
    private func play(_ arguments: [String]) throws -> ChildProcess {
        try Earshot.start(["play", "--device", "simulated"] + arguments)
    }

    @Test func `missing and invalid files are reported and skipped, and the exit status shows it`() throws {
        let scratch = try Scratch()
        try Played.write(scratch("good.wav"), Played.tone(0.5))
        try "no sound at all".write(toFile: scratch("bad.wav"), atomically: true, encoding: .utf8)
        let program = try play([scratch("none.wav"), scratch("bad.wav"), scratch("good.wav"), "--json"])
        #expect(program.wait() == .exit(66), "\(program.errors)")
        let told = program.errors.split(separator: "\n").filter { $0.hasPrefix("error: ") }
        #expect(told.count == 2 && told[0].contains("none.wav") && told[1].contains("bad.wav"), "\(program.errors)")
        let report = try Played.report(program)
        #expect(report.ended == "finished" && report.items.count == 3)
        #expect(report.items[0].error != nil && report.items[1].error != nil && report.items[0].plays == 0)
        #expect(report.items[2].seconds == 0.5 && report.items[2].lostFrames == 0)
    }

    @Test func `an empty file is reported and skipped, and the next one is played`() throws {
        let scratch = try Scratch()
        for name in ["a.wav", "b.wav"] { try Played.write(scratch(name), Played.tone(0.3)) }
        try Played.write(scratch("empty.wav"), [])
        let program = try play([scratch("a.wav"), scratch("empty.wav"), scratch("b.wav"), "--json"])
        #expect(program.wait() == .exit(65), "\(program.errors)")
        #expect(theFailure(program).contains("empty.wav contains no audio"), "\(program.errors)")
        let report = try Played.report(program)
        #expect(report.items.map(\.seconds) == [0.3, 0, 0.3])
        #expect(report.items.map(\.plays) == [1, 0, 1])
    }

    @Test func `an empty list of files to play is an error`() throws {
        let scratch = try Scratch()
        for (name, status) in [("none.wav", 66), ("none.m3u", 66), ("", 66)] {
            let program = try play([scratch(name)])
            #expect(program.wait() == .exit(Int32(status)), "\(program.errors)")
            #expect(theFailure(program).contains(scratch.path), "\(program.errors)")
        }
        try "#EXTM3U\n#EXT-X-VERSION:3\nx.ts\n".write(toFile: scratch("hls.m3u8"), atomically: true, encoding: .utf8)
        let program = try play([scratch("hls.m3u8")])
        #expect(program.wait() == .exit(65) && theFailure(program).contains("HTTP Live Streaming"))
    }

    @Test func `files that are all missing are reported before the sound system is opened`() throws {
        let scratch = try Scratch()
        try Played.write(scratch("good.wav"), Played.tone(0.5))
        func start(_ names: [String]) throws -> ChildProcess {
            try Earshot.start(["play", "--jack-server", "earshot-nobody"] + names.map { scratch($0) })
        }
        let missing = try start(["none.wav"])
        #expect(missing.wait() == .exit(66), "\(missing.errors)")
        #expect(theFailure(missing).contains("none.wav: no such file"), "\(missing.errors)")
        let both = try start(["none.wav", "none.mp3"])
        #expect(both.wait() == .exit(66), "\(both.errors)")
        #expect(
            both.errors.contains("none.wav: no such") && both.errors.contains("none.mp3: no such"), "\(both.errors)")
        let some = try start(["none.wav", "good.wav"])
        #expect(some.wait() == .exit(69), "\(some.errors)")
        _ = theFailure(some)
    }

    @Test func `folders, playlists and standard input are expanded`() throws {
        let scratch = try Scratch()
        try FileManager.default.createDirectory(atPath: scratch("folder"), withIntermediateDirectories: true)
        for name in ["folder/2.flac", "folder/10.wav", "x=1.wav"] {
            try Played.write(scratch(name), Played.tone(0.1), channels: 1)
        }
        try "[playlist]\nFile1=x=1.wav\nTitle1=x\nFile2=\(scratch("folder"))\n".write(
            toFile: scratch("list.pls"), atomically: true, encoding: .utf8)
        let command =
            "cat '\(scratch("x=1.wav"))' | '\(Earshot.program)' play --device simulated --json '\(scratch("list.pls"))' -"
        let program = try ChildProcess(["bash", "-c", command])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        #expect(
            try Played.report(program).items.map(\.name) == [
                scratch("x=1.wav"), scratch("folder/2.flac"), scratch("folder/10.wav"), "standard input",
            ])
        #expect(try Played.report(program).items.allSatisfy { abs($0.seconds - 0.1) < 1e-9 })
        #expect(program.errors.contains("playing: standard input"), "\(program.errors)")
    }

    @Test func `only the mix of a recorded call or a take is played`() throws {
        let scratch = try Scratch()
        let take = scratch("Duet/take 1")
        func write(_ folder: String, _ description: String, _ names: [String]) throws {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for name in names { try Played.write("\(folder)/\(name)", Played.tone(0.1), channels: 1) }
            try description.write(toFile: "\(folder)/recording.json", atomically: true, encoding: .utf8)
        }
        func description(_ tracks: [(file: String, kind: String)]) -> String {
            let tracks = tracks.map { file, kind in
                """
                {"file": "\(file)", "parts": 1, "name": "\(file)", "names": [], "isLocal": false, "kind": "\(kind)",
                 "frameCount": 4800, "gaps": [], "volumes": []}
                """
            }
            return """
                {"version": 1, "earshot": "1", "room": "x", "started": "2026-11-29T10:00:00Z", "zero": 0,
                 "sampleRate": 48000, "channelCount": 1, "recordedBy": "Ann", "clock": "song",
                 "tracks": [\(tracks.joined(separator: ","))]}
                """
        }
        let call = [("Ann.wav", "voice"), ("Ben.wav", "voice"), ("mix.wav", "mix")]
        try write(scratch("Call"), description(call), call.map(\.0) + ["mix-stage.wav"])
        // A take's description does not name its mix. Beside it is the recording of the local voice.
        try write(take, description([("Ann.flac", "voice")]), ["Ann.flac", "mix.flac"])
        try write("\(take) recording", description([("Ann.wav", "voice")]), ["Ann.wav"])
        let mixes = ["Call/mix.wav", "Duet/take 1/mix.flac"].map { scratch($0) }
        for (folder, names) in [
            ("Call", [mixes[0]]), ("Duet/take 1", [mixes[1]]), ("Duet", [mixes[1]]), ("", mixes),
            ("Duet/take 1 recording", [scratch("Duet/take 1 recording/Ann.wav")]),
            ("Call/Ben.wav", [scratch("Call/Ben.wav")]),
        ] {
            let path = folder.isEmpty ? scratch.path : scratch(folder)
            let program = try Earshot.start(["play", "--device", "simulated", "--json", path])
            #expect(program.wait() == .exit(0), "\(program.errors)")
            #expect(try Played.report(program).items.map(\.name) == names, "\(folder)")
            let isMix = names.allSatisfy { $0.contains("/mix.") }
            #expect(program.errors.contains("Playing the mix.") == isMix, "\(folder)")
        }
    }

    @Test func `WAV streams from a pipe, FLAC plays when complete, and a redirected file can seek`()
        throws
    {
        let scratch = try Scratch()
        try Played.write(scratch("tone.wav"), Played.tone(2))
        try Played.write(scratch("tone.flac"), Played.tone(0.5))
        for (input, options, seconds, ended) in [
            ("< <(cat tone.wav; sleep 4)", "--duration 1.2", 0.3...1.2, "duration"),
            ("< <(cat tone.flac)", "", 0.5...0.5, "finished"),
            ("< tone.flac", "--start 0.25", 0.24...0.26, "finished"),
        ] {
            let command =
                "cd \(scratch.path); exec '\(Earshot.program)' play --device simulated --json \(options) - \(input)"
            let program = try ChildProcess(["bash", "-c", command])
            #expect(program.wait() == .exit(0), "\(program.errors)")
            let report = try Played.report(program)
            #expect(seconds.contains(report.items[0].seconds) && report.ended == ended, "\(input): \(program.output)")
        }
        let program = try ChildProcess(["bash", "-c", "'\(Earshot.program)' play --device simulated - </dev/null"])
        #expect(program.wait() == .exit(65) && theFailure(program).contains("empty"), "\(program.errors)")
    }

    @Test func `the same seed gives the same shuffle, and each file plays once per round`() throws {
        let scratch = try Scratch()
        for k in 0..<6 { try Played.write(scratch("\(k).wav"), Played.tone(0.15), channels: 1) }
        func order(_ options: [String]) throws -> [Substring] {
            let program = try play([scratch.path, "--shuffle", "--seed", "7"] + options)
            #expect(program.wait() == .exit(0), "\(program.errors)")
            return program.errors.split(separator: "\n").filter { $0.hasPrefix("playing: ") }
        }
        let first = try order([])
        #expect(first.count == 6 && Set(first).count == 6 && first != first.sorted())
        let again = try order(["--loop", "--duration", "1.6"])
        #expect(Array(again.prefix(6)) == first && again.count > 6, "\(again)")
    }

    @Test func `a station plays and shows its titles, until Ctrl-C`() throws {
        let scratch = try Scratch()
        try Played.write(scratch("tone.wav"), Played.tone(20))
        let body = LoopbackServer.interleave(
            [UInt8](try Data(contentsOf: URL(fileURLWithPath: scratch("tone.wav")))), interval: 200_000,
            texts: [0: Array("StreamTitle='Somebody - A song\u{1B}[2J';".utf8)])
        let over = Atomic(false)
        let server = try LoopbackServer { connection in
            connection.send("HTTP/1.0 200 OK\r\nicy-name: Radio Test\r\nicy-metaint: 200000\r\n\r\n")
            connection.send(body)
            while !over.load(ordering: .relaxed) { usleep(1_000) }
        }
        defer { over.store(true, ordering: .relaxed) }
        let program = try play([server.address("/live?key=secret"), "--effect", "reverb", "--json"])
        #expect(program.says("Title: Radio Test") && program.says("Title: Somebody - A song"), "\(program.errors)")
        program.signal(SIGINT)
        #expect(program.wait() == .exit(130), "\(program.errors)")
        #expect(!program.errors.contains("secret") && !program.errors.contains("\u{1B}"), "\(program.errors)")
        let report = try Played.report(program)
        #expect(report.items[0].kind == "stream" && report.items[0].seconds > 0.5 && report.effects == ["Reverb"])
        #expect(report.items[0].titles.count == 2 && !program.output.contains("secret"), "\(program.output)")
    }

    @Test func `secrets in an address are hidden, even if it was never reached or is invalid`() throws {
        let scratch = try Scratch()
        for name in ["a.wav", "b.wav"] { try Played.write(scratch(name), Played.tone(8), channels: 1) }
        let address = "http://me:secret@radio.example:8000/live?key=secret"
        // Two files of which the second is long: nothing after it is opened yet.
        let early = try play([scratch("a.wav"), scratch("b.wav"), address, "--duration", "0.2", "--json"])
        #expect(early.wait() == .exit(0), "\(early.errors)")
        #expect(try Played.report(early).items[2].name == "http://radio.example:8000/live")
        #expect(!(early.output + early.errors).contains("secret"), "\(early.output) \(early.errors)")
        let refused = try play([scratch("a.wav"), "http://me:secret@/live?key=secret", "--duration", "0.2", "--json"])
        #expect(refused.wait() == .exit(64), "\(refused.errors)")
        #expect(try Played.report(refused).items[1].error != nil)
        #expect(!(refused.output + refused.errors).contains("secret"), "\(refused.output) \(refused.errors)")
    }

    @Test func `a web page, a missing stream and an invalid address are reported as such`() throws {
        let server = try LoopbackServer { connection in
            guard connection.request.hasPrefix("GET /page ") else {
                connection.send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                return
            }
            connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n")
            connection.send("<!DOCTYPE html>\n<html><head><title>Radio</title></head><body>Listen</body></html>")
        }
        for (address, status, words) in [
            (server.address("/page"), 65, "a web page"), (server.address("/gone"), 66, "404"),
            ("http://", 64, "not a stream address"),
        ] {
            let program = try play([address])
            #expect(program.wait() == .exit(Int32(status)), "\(program.errors)")
            #expect(theFailure(program).contains(words), "\(program.errors)")
        }
    }

    @Test func `playback waits for a station that stalls`() throws {
        let scratch = try Scratch()
        try Played.write(scratch("tone.wav"), Played.tone(4))
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: scratch("tone.wav"))))
        let isOn = Atomic(false)
        let server = try LoopbackServer { connection in
            connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: \(bytes.count)\r\n\r\n")
            connection.send(Array(bytes[..<600_000]))
            while !isOn.load(ordering: .relaxed) { usleep(1_000) }
            connection.send(Array(bytes[600_000...]))
        }
        let program = try play([server.address("/file.wav"), "--json"])
        for _ in 0..<500 where program.errors.components(separatedBy: "waiting for sound").count < 3 { usleep(20_000) }
        isOn.store(true, ordering: .relaxed)
        #expect(program.wait() == .exit(0), "\(program.errors)")
        let report = try Played.report(program)
        #expect(report.items[0].stalls == 1 && report.items[0].seconds == 4 && report.items[0].lostFrames == 0)
    }

    @Test func `a server without range requests is reported, and playback starts at the beginning`() throws {
        let scratch = try Scratch()
        try Played.write(scratch("tone.wav"), Played.tone(1))
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: scratch("tone.wav"))))
        let server = try LoopbackServer { $0.send(file: bytes, hasRanges: false) }
        let program = try play([server.address("/tone.wav"), "--start", "0.5", "--json"])
        #expect(program.wait() == .exit(0), "\(program.errors)")
        #expect(program.errors.contains("not seekable"), "\(program.errors)")
        #expect(try Played.report(program).items[0].seconds == 1)
    }

    @Test func `a failed stream is retried in a loop`() throws {
        let scratch = try Scratch()
        try Played.write(scratch("tone.wav"), Played.tone(0.5))
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: scratch("tone.wav"))))
        for others in [[], [scratch("tone.wav")]] {
            let server = try LoopbackServer { connection in
                if connection.number < 2 {
                    connection.send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                } else {
                    connection.send(file: bytes)
                }
            }
            let program = try play([server.address("/tone.wav"), "--loop", "--json"] + others)
            #expect(program.says("Retrying"), "\(program.errors)")
            for _ in 0..<2_000 where server.requests.count < 5 { usleep(10_000) }
            program.signal(SIGINT)
            #expect(program.wait() == .exit(130), "\(program.errors)")
            let report = try Played.report(program)
            #expect(report.items[0].seconds > 0 && report.items[0].error == nil, "\(program.output)")
        }
    }

    @Test(arguments: [
        (["--volume", "19"], "-60 to 18"), (["--speed", "5"], "0.25 to 4"), (["--seed", "1"], "--shuffle"),
        (["--start", "-1"], "--start"), (["--duration", "0"], "--duration"), (["--effect", "revreb"], "'reverb'"),
        (["--block", "3"], "--block"), (["--rate", "1"], "--rate must be a whole number from 8000"),
        (["--device-rate", "48000"], "--device-rate is now --rate."),
    ]) func `invalid options are usage errors that name valid values`(options: [String], words: String) throws {
        let program = try play(["x.wav"] + options)
        #expect(program.wait() == .exit(64), "\(program.errors)")
        #expect(theFailure(program).contains(words), "\(program.errors)")
    }
}
