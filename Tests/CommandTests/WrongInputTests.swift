// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTraits
import Testing

/// Wrong input gets one line with the fault and its remedy, the right status and no stack trace.
@Suite(.serialized, .realTime, .needs("jackd", "pipewire")) struct WrongInputTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var arguments: [String]
        var status: Int32
        var words: [String]
    }

    static let wrongFiles = [
        Case(
            testDescription: "a missing file", arguments: ["--speak", "/nonexistent/a.wav"], status: 66,
            words: ["/nonexistent/a.wav"]),
        Case(testDescription: "a folder", arguments: ["--speak", "/usr/share"], status: 66, words: ["/usr/share"]),
        Case(
            testDescription: "a file that is no audio", arguments: ["--speak", "/etc/passwd"], status: 65,
            words: ["/etc/passwd"]),
        Case(
            testDescription: "a folder that is not there to hear into",
            arguments: ["--hear", "/nonexistent/folder/heard.wav"], status: 73, words: ["/nonexistent/folder"]),
        Case(
            testDescription: "a folder that is not there for what is sent",
            arguments: ["--receive", "/nonexistent/in"],
            status: 73, words: ["/nonexistent/in", "Create it first"]),
        Case(
            testDescription: "a file for what is sent", arguments: ["--receive", "/etc/passwd"], status: 73,
            words: ["/etc/passwd", "not a folder"]),
    ]

    @Test(arguments: wrongFiles) func `an unusable file or folder is reported with its path and the right status`(
        wrong: Case
    ) throws {
        for command in [Earshot.host(try Earshot.freePort()), ["join", "127.0.0.1:9"]] {
            let program = try Earshot.start(command + ["--device", "simulated"] + wrong.arguments)
            #expect(program.wait() == .exit(wrong.status), "\(program.errors)")
            let line = theFailure(program)
            for word in wrong.words { #expect(line.contains(word)) }
            #expect(program.output.isEmpty)
        }
    }

    @Test(arguments: ["127.0.0.1:99999", "999.1.1.1"]) func `an invalid address is a usage error`(target: String) throws
    {
        for command in [["join", "--device", "simulated"], ["chat"], ["send", "/etc/passwd", "--room"]] {
            let program = try Earshot.start(command + [target])
            #expect(program.wait() == .exit(64), "\(program.errors)")
            #expect(theFailure(program).contains(target))
        }
    }

    @Test func `a chat requires an existing folder for received files`() throws {
        for more in [["--host", "--no-announce", "--port", "\(try Earshot.freePort())"], ["127.0.0.1:9"]] {
            let program = try Earshot.start(["chat", "--receive", "/nonexistent/in"] + more)
            #expect(program.wait() == .exit(73), "\(program.errors)")
            #expect(theFailure(program).contains("Create it first"))
        }
    }

    @Test func `an unknown host is reported by name`() throws {
        let program = try Earshot.start(["join", "no-such-host.invalid", "--device", "simulated"])
        #expect(program.wait(seconds: 30) == .exit(68), "\(program.errors)")
        #expect(theFailure(program).contains("no-such-host.invalid"))
    }

    @Test func `a port without a listening host is reported with advice`() throws {
        let program = try Earshot.start(
            ["join", "127.0.0.1:\(try Earshot.freePort())", "--device", "simulated"])
        #expect(program.wait() == .exit(69), "\(program.errors)")
        #expect(theFailure(program).contains("Check that Earshot hosts a room there"))
    }

    @Test func `a port in use is reported`() throws {
        let port = try Earshot.freePort()
        let first = try Earshot.start(Earshot.host(port) + ["--device", "simulated"])
        #expect(first.says("Waiting for guests"))
        let second = try Earshot.start(Earshot.host(port) + ["--device", "simulated"])
        #expect(second.wait() == .exit(69), "\(second.errors)")
        #expect(theFailure(second).contains("in use"))
        first.signal(SIGINT)
        #expect(first.wait() == .exit(130))
    }

    @Test func `a missing JACK server is reported with alternatives`() throws {
        let folder = try Scratch()
        let program = try Earshot.start(
            Earshot.host(try Earshot.freePort()) + ["--jack-server", "nobody-here"],
            environment: ["XDG_RUNTIME_DIR": folder.path])
        #expect(program.wait() == .exit(69), "\(program.errors)")
        let line = theFailure(program)
        #expect(line.contains("no JACK server") && line.contains("jackd") && line.contains("--device simulated"))
    }

    @Test func `a missing JACK server on a PipeWire desktop is reported with a hint at PipeWire`() throws {
        let folder = try Scratch()
        let socket = Foundation.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(folder("pipewire-0").utf8)) }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        try #require(bound && listen(socket, 1) == 0)
        let program = try Earshot.start(
            ["join", "127.0.0.1", "--jack-server", "nobody-here"], environment: ["XDG_RUNTIME_DIR": folder.path])
        #expect(program.wait() == .exit(69), "\(program.errors)")
        #expect(theFailure(program).contains("--device pipewire"))
    }

    @Test func `a rate or block size that differs from the JACK server's is rejected`() throws {
        let server = try JACKServer(sampleRate: 44_100, blockFrameCount: 256)
        defer { server.stop() }
        for (option, words) in [(["--rate", "48000"], "44100"), (["--block", "64"], "256")] {
            let program = try Earshot.start(["join", "127.0.0.1", "--jack-server", server.name] + option)
            #expect(program.wait() == .exit(69), "\(program.errors)")
            #expect(theFailure(program).contains(words))
        }
    }

    @Test(arguments: [
        ["--rate", "4000"], ["--rate", "1000000"], ["--rate", "x"], ["--block", "0"], ["--channels", "3"],
        ["--frame", "3"], ["--codec", "mp3"], ["--duration", "-1"], ["--duration", "nan"], ["--drift", "99999"],
        ["--bitrate", "1"], ["--bitrate", "nan"], ["--rate", "nan"],
    ]) func `options out of range are usage errors`(options: [String]) throws {
        let program = try Earshot.start(["join", "127.0.0.1:9", "--device", "simulated"] + options)
        #expect(program.wait() == .exit(64), "\(program.errors)")
        #expect(theFailure(program).contains(options[0]))
    }

    @Test func `a file as audio source is rejected for JACK with a hint at the simulated card`() throws {
        let program = try Earshot.start(["join", "127.0.0.1", "--speak", Earshot.speech])
        #expect(program.wait() == .exit(64), "\(program.errors)")
        #expect(theFailure(program).contains("--device simulated"))
    }

    @Test func `a guest without a common codec exits with 69, and the room stays open`() throws {
        let port = try Earshot.freePort()
        let host = try Earshot.start(Earshot.host(port) + ["--device", "simulated", "--codec", "pcm"])
        #expect(host.says("Waiting for guests"))
        let guest = try Earshot.start([
            "join", "127.0.0.1:\(port)", "--device", "simulated", "--codec", "opus", "--name", "Opus",
        ])
        #expect(guest.wait() == .exit(69), "\(guest.errors)")
        #expect(theFailure(guest).contains("no common format: opus/48000/2 here, L16/48000/1 there"), "\(guest.errors)")
        #expect(host.says("No sound to or from Opus: no common format"), "\(host.errors)")
        let other = try Earshot.start(["join", "127.0.0.1:\(port)", "--device", "simulated", "--duration", "0.5"])
        #expect(other.says("In a call with"), "\(other.errors)")
        #expect(other.wait() == .exit(0), "\(other.errors)")
        host.signal(SIGINT)
        #expect(host.wait() == .exit(130), "\(host.errors)")
    }

    @Test func `a failed join leaves the previous recording untouched`() throws {
        let scratch = try Scratch()
        let old = Data("the last call".utf8)
        try old.write(to: URL(fileURLWithPath: scratch("take.wav")))
        let port = try Earshot.freePort()
        let guest = try Earshot.start(
            ["join", "127.0.0.1:\(port)", "--device", "simulated", "--hear", scratch("take.wav"), "--overwrite"])
        #expect(guest.wait() == .exit(69), "\(guest.errors)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch("take.wav"))) == old)
    }

    @Test(arguments: [
        (["host", String(repeating: "é", count: 32)], "64 bytes"), (["host", "a\u{7}b"], "U+0007"),
        (["host", " "], "empty"),
        (["host", "--name", String(repeating: "x", count: 64)], "limit is 63"), (["host", "--pin", "123"], "PIN"),
        (["host", "--accept", "some"], "accept"), (["host", "--capacity", "9"], "2 to 8"),
        (["host", "--port", "0"], "--port"), (["host", "--address", "nowhere"], "--address"),
        (["join", "--purpose", String(repeating: "x", count: 201)], "201 bytes"),
        (["join", "127.0.0.1", "--list"], "--list"),
        (["join", "--timeout", "0", "Room"], "--timeout"), (["join", "1F4A-9Z3Q-7K2M-0000"], "join code"),
        (["join", "nobody-here", "--by", "code"], "code"), (["join", "[::1]:x"], "[IPv6]:PORT"),
    ]) func `invalid options and arguments for a room or a peer are usage errors`(arguments: [String], words: String)
        throws
    {
        let program = try Earshot.start(arguments)
        #expect(program.wait() == .exit(64), "\(program.errors)")
        #expect(theFailure(program).contains(words), "\(program.errors)")
    }

    @Test func `an address that the machine does not have is rejected`() throws {
        let program = try Earshot.start(["host", "--address", "192.0.2.1", "--device", "simulated"])
        #expect(program.wait() == .exit(69), "\(program.errors)")
        #expect(theFailure(program).contains("192.0.2.1"), "\(program.errors)")
    }

    @Test(arguments: [
        ["/nonexistent.json", "/nonexistent.json"], ["/etc/passwd", "/etc/passwd"], ["/usr/share", "/usr/share"],
    ]) func `analyze names a file that is not a report`(reports: [String]) throws {
        let program = try Earshot.start(["analyze"] + reports)
        let ending = program.wait()
        #expect(ending == .exit(66) || ending == .exit(65), "\(program.errors)")
        #expect(theFailure(program).contains(reports[0]))
    }

    @Test func `analyze rejects two reports of one end`() throws {
        let port = try Earshot.freePort()
        let folder = try Scratch()
        let host = try Earshot.start(
            Earshot.host(port) + [
                "--device", "simulated", "--speak", Earshot.speech, "--hear", folder("h.wav"), "--json",
            ],
            standardOutput: folder("host.json"))
        #expect(host.says("Room: "), "\(host.errors)")
        let guest = try Earshot.start([
            "join", "127.0.0.1:\(port)", "--device", "simulated", "--duration", "1s", "--json",
        ])
        #expect(guest.wait() == .exit(0), "\(guest.errors)")
        host.signal(SIGINT)
        _ = host.wait()
        let program = try Earshot.start(["analyze", folder("host.json"), folder("host.json")])
        #expect(program.wait() == .exit(65), "\(program.errors)")
        #expect(theFailure(program).contains("Both reports are from the host"), "\(program.errors)")
    }

    @Test func `analyze rejects garbage in a report`() throws {
        let folder = try Scratch()
        for text in ["", "{}", "[]", "null", "{\"role\": 1}", String(repeating: "[", count: 100_000)] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: folder("report.json")))
            let program = try Earshot.start(["analyze", folder("report.json"), folder("report.json")])
            #expect(program.wait() == .exit(65), "\(program.errors)")
            _ = theFailure(program)
        }
        let one = try Earshot.start(["analyze", folder("report.json")])
        #expect(one.wait() == .exit(64))
    }
}
