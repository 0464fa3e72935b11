import Foundation
import Testing
import TestSupport
import TestTraits

/// What wrong input gets: one line that says what is wrong and what to do, the right status, no stack trace.
@Suite(.serialized, .realTime) struct WrongInputTests {
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
    ]

    @Test(arguments: wrongFiles) func `files that cannot be`(wrong: Case) throws {
        for command in [["host", "--port", "\(try Earshot.freePort())"], ["join", "127.0.0.1:9"]] {
            let program = try Earshot.start(command + ["--device", "simulated"] + wrong.arguments)
            #expect(program.wait() == .exit(wrong.status), "\(program.errors)")
            let line = theFailure(program)
            for word in wrong.words { #expect(line.contains(word)) }
            #expect(program.output.isEmpty)
        }
    }

    @Test func `an unknown host`() throws {
        let program = try Earshot.start(["join", "no-such-host.invalid", "--device", "simulated"])
        #expect(program.wait(seconds: 30) == .exit(68), "\(program.errors)")
        #expect(theFailure(program).contains("no-such-host.invalid"))
    }

    @Test func `a port where nobody is`() throws {
        let program = try Earshot.start(
            ["join", "127.0.0.1:\(try Earshot.freePort())", "--device", "simulated"])
        #expect(program.wait() == .exit(69), "\(program.errors)")
        #expect(theFailure(program).contains("is 'earshot host' running there"))
    }

    @Test func `a port in use`() throws {
        let port = "\(try Earshot.freePort())"
        let first = try Earshot.start(["host", "--port", port, "--device", "simulated"])
        #expect(first.says("waiting for a guest"))
        let second = try Earshot.start(["host", "--port", port, "--device", "simulated"])
        #expect(second.wait() == .exit(69), "\(second.errors)")
        #expect(theFailure(second).contains("in use"))
        first.signal(SIGINT)
        #expect(first.wait() == .exit(130))
    }

    @Test func `no JACK server, and what to run instead`() throws {
        let folder = try Scratch()
        let program = try Earshot.start(
            ["host", "--port", "\(try Earshot.freePort())", "--jack-server", "nobody-here"],
            environment: ["XDG_RUNTIME_DIR": folder.path])
        #expect(program.wait() == .exit(69), "\(program.errors)")
        let line = theFailure(program)
        #expect(line.contains("no JACK server") && line.contains("jackd") && line.contains("--device simulated"))
    }

    @Test func `no JACK server on a PipeWire desktop names PipeWire`() throws {
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

    @Test func `a rate and a block that JACK does not run at`() throws {
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
    ]) func `options out of range`(options: [String]) throws {
        let program = try Earshot.start(["join", "127.0.0.1:9", "--device", "simulated"] + options)
        #expect(program.wait() == .exit(64), "\(program.errors)")
        #expect(theFailure(program).contains(options[0]))
    }

    @Test func `files with JACK are said to be of no use`() throws {
        let program = try Earshot.start(["join", "127.0.0.1", "--speak", Earshot.speech])
        #expect(program.wait() == .exit(64), "\(program.errors)")
        #expect(theFailure(program).contains("--device simulated"))
    }

    @Test func `no common codec is said on both sides, and the host waits on`() throws {
        let port = try Earshot.freePort()
        let host = try Earshot.start(["host", "--port", "\(port)", "--device", "simulated", "--codec", "pcm"])
        #expect(host.says("waiting for a guest"))
        let guest = try Earshot.start(["join", "127.0.0.1:\(port)", "--device", "simulated", "--codec", "opus"])
        #expect(guest.wait() == .exit(69), "\(guest.errors)")
        let line = theFailure(guest)
        #expect(line.contains("no common format") && line.contains("opus") && line.contains("L16"))
        #expect(host.says("refused a guest: no common format"), "\(host.errors)")
        let other = try Earshot.start(["join", "127.0.0.1:\(port)", "--device", "simulated", "--duration", "0.5"])
        #expect(other.wait() == .exit(0), "\(other.errors)")
        #expect(host.wait() == .exit(0), "\(host.errors)")
    }

    /// Payload types that RTCP would be taken for once trapped in the session (RFC 5761 §4).
    @Test(arguments: [
        "m=audio 40000 RTP/AVP 72\r\na=rtpmap:72 opus/48000/2", "m=audio 0 RTP/AVP 97", "m=audio 9 RTP/AVP",
        "m=audio 9 RTP/AVP 96\r\na=rtpmap:96 MPEG4-GENERIC/44100/1\r\n"
            + "a=fmtp:96 mode=AAC-hbr; sizelength=13; indexlength=3; indexdeltalength=3; config=FFFFFFFF",
    ])
    func `an offer that cannot be is refused, and the host waits on`(media: String) throws {
        let port = try Earshot.freePort()
        let host = try Earshot.start(["host", "--port", "\(port)", "--device", "simulated"])
        #expect(host.says("waiting for a guest"))
        let text = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n\(media)\r\n"
        let reply = try Earshot.sayOnce("EARSHOT/1 OFFER \(text.utf8.count)\n\(text)", to: port)
        #expect(reply.hasPrefix("EARSHOT/1 REFUSED"), "\(reply)")
        #expect(host.processID != nil, "\(host.errors)")
        host.signal(SIGINT)
        #expect(host.wait() == .exit(130), "\(host.errors)")
    }

    @Test func `a join that fails leaves the last recording alone`() throws {
        let scratch = try Scratch()
        let old = Data("the last call".utf8)
        try old.write(to: URL(fileURLWithPath: scratch("take.wav")))
        let port = try Earshot.freePort()
        let guest = try Earshot.start(
            ["join", "127.0.0.1:\(port)", "--device", "simulated", "--hear", scratch("take.wav")])
        #expect(guest.wait() == .exit(69), "\(guest.errors)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch("take.wav"))) == old)
    }

    @Test func `a host that is not to be reached from the network says how`() throws {
        let program = try Earshot.start(["host", "--address", "0.0.0.0", "--device", "simulated"])
        #expect(program.wait() == .exit(64), "\(program.errors)")
        #expect(theFailure(program).contains("--insecure-lan"))
    }

    @Test(arguments: [
        ["/nonexistent.json", "/nonexistent.json"], ["/etc/passwd", "/etc/passwd"], ["/usr/share", "/usr/share"],
    ]) func `analyze says what is no report`(reports: [String]) throws {
        let program = try Earshot.start(["analyze"] + reports)
        let ending = program.wait()
        #expect(ending == .exit(66) || ending == .exit(65), "\(program.errors)")
        #expect(theFailure(program).contains(reports[0]))
    }

    @Test func `analyze with garbage in a report's fields`() throws {
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
