// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTraits
import Testing

/// Messages and files with the program as users run it.
@Suite(.serialized, .realTime) struct ChatCommandTests {
    /// Runs the program after a pipe with this output.
    private func pipe(_ script: String, into arguments: [String]) throws -> ChildProcess {
        let words = ([Earshot.program] + arguments).map { "'\($0)'" }.joined(separator: " ")
        return try ChildProcess(
            ["sh", "-c", "{ \(script); } | \(words)"], environment: ["XDG_DATA_HOME": TestFolders.next("data")])
    }

    private func host(_ port: Int, _ more: [String] = []) throws -> ChildProcess {
        let host = try pipe(
            "sleep 60",
            into: ["chat", "Studio", "--host", "--port", "\(port)", "--no-announce", "--name", "Ann"] + more)
        try #require(host.says("Room: "), "\(host.errors)")
        return host
    }

    private func join(_ port: Int) -> [String] { ["127.0.0.1:\(port)", "--name", "Bob"] }

    @Test func `chat lines reach everybody, and control characters in them are removed`() throws {
        let port = try Earshot.freePort()
        let host = try host(port, ["--accept", "all"])
        let text = "printf 'hello\\nred \\033[31mred\\n//slash\\n\\n/who\\nlast'"
        let guest = try pipe(text, into: ["chat"] + join(port))
        #expect(guest.wait() == .exit(0), "\(guest.errors)")
        #expect(guest.says("Ann"))
        #expect(eventually { host.output.contains("Bob: last") })
        let lines = host.output.split(separator: "\n").map(String.init)
        #expect(lines.count == 4 && lines[0] == "Bob: hello" && lines[2] == "Bob: /slash", "\(lines)")
        #expect(!host.output.contains("\u{1B}"))
        #expect(host.says("Bob left"))
    }

    @Test func `lines before /quit are delivered`() throws {
        let port = try Earshot.freePort()
        let host = try host(port, ["--accept", "all"])
        let guest = try pipe("printf 'hello\\n/quit\\n'; sleep 20", into: ["chat"] + join(port))
        #expect(guest.wait() == .exit(0), "\(guest.errors)")
        #expect(!guest.errors.contains("did not receive"), "\(guest.errors)")
        #expect(eventually { host.output.contains("Bob: hello") })
        // A guest without sound is muted from the beginning, so no change is reported.
        #expect(host.says("Bob left") && !host.errors.contains("muted"), "\(host.errors)")
    }

    @Test func `a chat without any messages reports who is admitted, and ends when standard input is closed`() throws {
        for input in ["</dev/null", "<&-"] {
            let port = try Earshot.freePort()
            let host = try ChildProcess(
                ["sh", "-c", "'\(Earshot.program)' chat --host --no-announce --port \(port) \(input)"],
                environment: ["XDG_DATA_HOME": TestFolders.next("data")])
            #expect(host.wait() == .exit(0), "\(host.errors)")
            for words in ["Your key: ", "known guests only. To admit others: --accept all", "To stay open: --stay"] {
                #expect(host.errors.contains(words), "\(host.errors)")
            }
        }
    }

    @Test func `a guest that becomes the host is told how others are admitted`() throws {
        let port = try Earshot.freePort()
        let host = try host(port, ["--accept", "all"])
        let heir = try pipe("true", into: ["chat", "--stay"] + join(port))
        #expect(heir.says("Joined 'Studio'"), "\(heir.errors)")
        host.signalGroup(SIGTERM)
        #expect(heir.says("You are the host now"), "\(heir.errors)")
        #expect(heir.says("Admission: known guests only"), "\(heir.errors)")
        heir.signalGroup(SIGTERM)
    }

    @Test func `a guest is announced before its first message is shown`() throws {
        let port = try Earshot.freePort()
        let program = "'\(Earshot.program)' chat Studio --host --port \(port) --no-announce --accept all --name Ann"
        let host = try ChildProcess(
            ["sh", "-c", "sleep 60 | \(program) 2>&1"], environment: ["XDG_DATA_HOME": TestFolders.next("data")])
        try #require(eventually { host.output.contains("Room: ") })
        for name in ["Bob", "Cleo", "Dora"] {
            let guest = try pipe("echo hello", into: ["chat", "127.0.0.1:\(port)", "--name", name])
            #expect(guest.wait() == .exit(0), "\(guest.errors)")
            #expect(eventually { host.output.contains("\(name): hello") })
            let lines = host.output.split(separator: "\n").map(String.init)
            let (came, said) = (lines.firstIndex(of: "\(name) joined."), lines.firstIndex(of: "\(name): hello"))
            #expect(try #require(came) < #require(said), "\(lines)")
        }
    }

    @Test func `a host admits a requesting guest by typing a chat command`() throws {
        let scratch = try Scratch()
        let port = try Earshot.freePort()
        let host = try pipe(
            "until test -e \(scratch("asked")); do sleep 0.1; done; echo /y Bob; sleep 20",
            into: ["chat", "Studio", "--host", "--port", "\(port)", "--no-announce", "--accept", "ask"])
        try #require(host.says("Room: "), "\(host.errors)")
        #expect(host.says("Admit them by /y"), "\(host.errors)")
        let guest = try pipe("echo hi", into: ["chat"] + join(port))
        #expect(host.says("asks to join"), "\(host.errors)")
        try Data().write(to: URL(fileURLWithPath: scratch("asked")))
        #expect(guest.wait() == .exit(0), "\(guest.errors)")
        #expect(eventually { host.output.contains("Bob: hi") })
    }

    @Test func `a file arrives complete with --receive, and does not overwrite a file of the same name`() throws {
        let scratch = try Scratch()
        let port = try Earshot.freePort()
        try FileManager.default.createDirectory(atPath: scratch("in"), withIntermediateDirectories: true)
        let bytes = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        try bytes.write(to: URL(fileURLWithPath: scratch("take.wav")))
        try Data("old".utf8).write(to: URL(fileURLWithPath: scratch("in/take.wav")))
        let host = try host(port, ["--accept", "all", "--receive", scratch("in")])
        let send = try Earshot.start(["send", scratch("take.wav"), "--json", "--room"] + join(port))
        #expect(send.wait() == .exit(0), "\(send.errors)")
        #expect(host.says("Received"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch("in/take (2).wav"))) == bytes)
        #expect(try String(contentsOfFile: scratch("in/take.wav"), encoding: .utf8) == "old")
        let files = try theReport(send)["files"] as? [[String: Any]] ?? []
        #expect(files.count == 1 && files[0]["bytes"] as? Int == 3_000_000)
    }

    @Test func `a file that cannot be sent or is declined is reported on both sides`() throws {
        let scratch = try Scratch()
        let port = try Earshot.freePort()
        try Data("x".utf8).write(to: URL(fileURLWithPath: scratch("a.txt")))
        let host = try host(port, ["--accept", "all"])
        let declined = try Earshot.start(["send", scratch("a.txt"), "--room"] + join(port))
        #expect(declined.wait() == .exit(75), "\(declined.errors)")
        #expect(declined.errors.contains("Ann does not have a.txt"), "\(declined.errors)")
        #expect(host.says("--receive FOLDER"))
        let nobody = try Earshot.start(["send", scratch("a.txt"), "--only", "Cleo", "--room"] + join(port))
        #expect(nobody.wait() == .exit(68) && nobody.errors.contains("'Ann'"), "\(nobody.errors)")
        let missing = try Earshot.start(["send", scratch("b.txt"), "--room"] + join(port))
        #expect(missing.wait() == .exit(66) && missing.errors.contains("b.txt"), "\(missing.errors)")
    }
}
