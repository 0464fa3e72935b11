// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotLiveCall

/// Controlling a running call with the program as users run it: on one machine, each process with its own identity.
@Suite(.serialized, .realTime) struct CallControlCommandTests {
    private static let card = ["--device", "simulated", "--speak", Earshot.speech]

    /// A user with a runtime folder, in which the calls have their sockets. The path of a socket is limited.
    private final class User {
        let folder = "/tmp/earshot-\(getpid())-\(UInt32.random(in: 0 ... .max))"

        init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(atPath: folder) }

        var sockets: CallSocketFolder { CallSocketFolder(path: "\(folder)/earshot") }

        func start(_ arguments: [String], terminal: PseudoTerminal? = nil) throws -> ChildProcess {
            try Earshot.start(arguments, environment: ["XDG_RUNTIME_DIR": folder], terminal: terminal)
        }

        /// Runs `earshot call` to its end.
        func call(_ arguments: String...) throws -> ChildProcess {
            let program = try start(["call"] + arguments)
            #expect(program.wait() != nil, "\(arguments)")
            return program
        }

        func status(_ arguments: String...) throws -> [String: Any] {
            let program = try start(["call", "status", "--json"] + arguments)
            try #require(program.wait() == .exit(0), "\(program.errors)")
            return try theReport(program)
        }

        /// Opens a room and waits until it is open.
        func host(_ more: [String], terminal: PseudoTerminal? = nil) throws -> (program: ChildProcess, port: Int) {
            let port = try Earshot.freePort()
            let program = try start(Earshot.host(port) + ["--name", "Ann"] + card + more, terminal: terminal)
            try #require(program.says("Waiting for guests"), "\(program.errors)")
            let isListening = eventually {
                (try? CallSocketClient(path: sockets.path(of: program.processID ?? 0))) != nil
            }
            try #require(isListening, "\(program.errors)")
            return (program, port)
        }
    }

    private static func join(_ port: Int, as name: String, _ more: [String] = []) throws -> ChildProcess {
        try Earshot.start(["join", "127.0.0.1:\(port)", "--name", name] + card + more)
    }

    @Test func `the call's terminal, its guests and two other terminals agree about each command`() throws {
        let user = try User()
        let terminal = try PseudoTerminal()
        let (host, port) = try user.host([], terminal: terminal)
        let guest = try Self.join(port, as: "Bob")
        try #require(host.says("In a call with Bob"), "\(host.errors)")
        let (json, text) = (try user.start(["call", "watch", "--json"]), try user.start(["call", "watch"]))
        #expect(text.says("Watching."), "\(text.errors)")

        let status = try user.status()
        let participants = status["participants"] as? [[String: Any]] ?? []
        #expect((status["room"] as? [String: Any])?["name"] as? String == "Ann's room" && participants.count == 1)
        #expect(participants.first?["name"] as? String == "Bob" && participants.first?["volume"] as? Double == 1)
        #expect(status["isMuted"] as? Bool == false && status["pid"] as? Int == Int(host.processID ?? 0))

        // The watching terminals are ready when they print an event.
        let isSeen = eventually {
            guard let muted = try? user.call("mute"), muted.errors == "Muted.\n" else { return false }
            guard (try? user.call("unmute"))?.errors == "Unmuted.\n" else { return false }
            return json.output.contains("\"event\":\"muted\"") && text.output.contains("Unmuted.")
        }
        #expect(isSeen, "\(json.output) \(json.errors) \(text.output)")
        #expect(host.says("Muted. Press m to unmute.") && guest.says("Ann is no longer muted"), "\(guest.errors)")
        terminal.type("m")
        #expect(guest.says("Ann is muted"), "\(guest.errors)")
        #expect(eventually { (try? user.status())?["isMuted"] as? Bool == true })

        // The status has the device line of the call's own terminal, which may add a reason to its end.
        let device = try user.call().output.split(separator: "\n").first { $0.hasPrefix("Audio: ") }
        #expect(host.errors.contains(try #require(device)), "\(host.errors)")
        #expect(try user.call("volume", "bo", "-6dB").errors == "Bob: -6 dB\n")
        #expect(try user.call("volume", "all", "150%").errors.hasPrefix("Playback: +4 dB"))
        #expect(try user.call("dial", "sing").errors == "Dial: sing\n")
        let changed = try user.status()
        let volume = (changed["participants"] as? [[String: Any]])?.first?["volume"] as? Double
        #expect(abs(try #require(volume) - 0.501) < 0.001 && changed["outputVolume"] as? Double == 1.5)
        #expect(changed["dial"] as? String == "sing")

        for line in ["Bob: -6 dB", "Playback: +4 dB", "Dial: sing"] {
            #expect(host.says(line), "\(host.errors)")
            #expect(eventually { text.output.contains(line) }, "\(text.output)")
        }
        // A key is confirmed once in its own terminal, and reported in the others.
        terminal.type("\u{1B}[B")
        terminal.type("v")
        #expect(host.says("You do not hear Bob. Press v to hear Bob again."), "\(host.errors)")
        #expect(eventually { text.output.contains("You do not hear Bob.") }, "\(text.output)")
        #expect(try user.call("hear", "Bob").errors == "You hear Bob.\n")
        #expect(host.says("You hear Bob."), "\(host.errors)")
        #expect(host.errors.components(separatedBy: "You do not hear Bob").count == 2, "\(host.errors)")

        let wrong = try user.call("volume", "Bop", "50%")
        #expect(wrong.wait() == .exit(68) && theFailure(wrong).contains("Did you mean 'Bob'?"), "\(wrong.errors)")
        let refused = try user.call("stop-recording")
        #expect(refused.wait() == .exit(69) && theFailure(refused).contains("not being recorded"), "\(refused.errors)")
        #expect(try user.call("say", "la", "la").errors == "Sent to Bob.\n")
        #expect(guest.says("Ann: la la"), "\(guest.errors)")

        #expect(try user.call("leave").errors == "Left the call.\n")
        #expect(host.wait() == .exit(0), "\(host.errors)")
        #expect(json.wait() == .exit(0) && text.wait() == .exit(0), "\(json.errors) \(text.errors)")
        let lines = json.output.split(separator: "\n")
        let events = lines.compactMap { CallJSON.decoded(EventDocument.self, from: Array($0.utf8)) }
        #expect(events.count == lines.count && events.last?.event == "ended")
        #expect(zip(events, events.dropFirst()).allSatisfy { $0.number + 1 == $1.number })
        #expect(text.output.contains("The call has ended"), "\(text.output)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: user.sockets.path).isEmpty)
    }

    @Test func `monitor and push to talk are set by keys, by another terminal and by options`() throws {
        let user = try User()
        let terminal = try PseudoTerminal()
        let (host, port) = try user.host(["--monitor", "off"], terminal: terminal)
        #expect(try user.call("monitor", "auto").errors == "Monitor: auto\n")
        let guest = try Self.join(port, as: "Bob")
        try #require(host.says("In a call with Bob"), "\(host.errors)")
        func monitor() throws -> [String: Any]? { try user.status()["monitor"] as? [String: Any] }
        #expect(eventually { (try? monitor())?["state"] as? String == "off" })
        #expect(try monitor()?["mode"] as? String == "auto")
        #expect(try user.call("monitor", "on").errors == "Monitor: on (as asked)\n")
        #expect(try user.call("monitor", "on").errors == "Monitor: on (as asked)\n")
        #expect(host.says("Monitor: on (as asked)"), "\(host.errors)")
        terminal.type("o")
        #expect(host.says("Monitor: off (as asked)"), "\(host.errors)")
        #expect(eventually { (try? monitor())?["mode"] as? String == "off" })

        terminal.type("t")
        #expect(host.says("Push to talk: on. Hold Space to talk."), "\(host.errors)")
        #expect(guest.says("Ann is muted"), "\(guest.errors)")
        let silent = try user.status()
        #expect(silent["isPushToTalk"] as? Bool == true && silent["isMuted"] as? Bool == true)
        terminal.type(" ")
        #expect(guest.says("Ann is no longer muted"), "\(guest.errors)")
        #expect(eventually { (try? user.status())?["isMuted"] as? Bool == true }, "talking ends without a key")
        #expect(try user.call("talk", "off").errors == "Push to talk: off\n")
        #expect(host.says("Push to talk: off"), "\(host.errors)")
        let ended = try user.status()
        #expect(ended["isPushToTalk"] as? Bool == false && ended["isMuted"] as? Bool == false)
        terminal.type("q")
        #expect(host.wait() == .exit(0), "\(host.errors)")
    }

    @Test func `effects are set, changed and removed from another terminal, and by a key`() throws {
        let user = try User()
        let terminal = try PseudoTerminal()
        let (host, _) = try user.host(["--effect", "gain,gain=-6"], terminal: terminal)
        #expect(try user.call("effects").output == "Effects: gain,gain=-6, delay 0.0 ms\n")
        #expect(try user.call("effects", "gain", "gain", "-9").errors == "Effects: gain,gain=-9, delay 0.0 ms\n")
        let set = try user.call("effects", "set", "reverb:large-hall,mix=20", "limiter")
        #expect(set.errors.hasPrefix("Effects: reverb,") && set.errors.contains(" limiter, delay 1."), "\(set.errors)")
        #expect(try user.call("effects", "reverb", "mix", "40%").errors.contains("mix=40"))
        #expect(try user.call("effects", "1").output.contains("0 to 100 %"))
        let effects = try user.status()["effects"] as? [String: Any]
        #expect(effects?["names"] as? [String] == ["Reverb", "Limiter"])
        for (arguments, text) in [
            (["set", "revreb"], "'revreb'"), (["reverb", "mixx", "1"], "'mixx'"),
            (["reverb", "mix", "101"], "0 to 100 %"),
            (["gate", "range", "-9"], "'gate'"),
        ] {
            let wrong = try user.start(["call", "effects"] + arguments)
            #expect(wrong.wait() == .exit(64) && theFailure(wrong).contains(text), "\(wrong.errors)")
        }
        terminal.type("f")
        #expect(eventually { (try? user.call("effects"))?.output == "Effects: none\n" }, "\(host.errors)")
        terminal.type("f")
        #expect(eventually { (try? user.call("effects"))?.output.contains("mix=40") == true }, "\(host.errors)")
        #expect(try user.call("effects", "none").errors == "Effects: none\n")
        #expect(try user.call("leave").errors == "Left the call.\n")
        #expect(host.wait() == .exit(0), "\(host.errors)")
    }

    @Test(arguments: [["call"], ["call", "mute"], ["call", "watch", "--json"], ["call", "--pid", "1"]])
    func `without a call there is an error that names the command to start one`(arguments: [String]) throws {
        let user = try User()
        let program = try user.start(arguments)
        #expect(program.wait() == .exit(69) && program.output.isEmpty)
        #expect(theFailure(program).hasSuffix("Start one: earshot host"), "\(program.errors)")
        #expect(arguments.contains("--pid") || program.errors == "error: No call is running. Start one: earshot host\n")
    }

    @Test func `of several calls one is chosen by its process, and a killed one leaves no trace`() throws {
        let user = try User()
        let (first, _) = try user.host([])
        let (second, _) = try user.host(["--name", "Cleo"])
        let pids = [first, second].compactMap(\.processID)
        let program = try user.call("status")
        #expect(program.wait() == .exit(64) && program.output.isEmpty)
        for pid in pids { #expect(theFailure(program).contains("\(pid) ("), "\(program.errors)") }
        #expect(
            (try user.status("--pid", "\(pids[1])")["localParticipant"] as? [String: Any])?["name"] as? String == "Cleo"
        )
        #expect(try user.call("mute", "--pid", "\(pids[0])").errors == "Muted.\n")
        #expect(first.says("Muted.") && !second.errors.contains("Muted."), "\(second.errors)")
        let unknown = try user.call("--pid", "\(getpid())")
        #expect(unknown.wait() == .exit(69) && theFailure(unknown).contains("Running: "), "\(unknown.errors)")

        first.signal(SIGKILL)
        #expect(first.wait() == .signal(SIGKILL))
        #expect(try user.status()["pid"] as? Int == Int(pids[1]))
        #expect(user.sockets.pids == pids.sorted())
        second.signal(SIGINT)
        #expect(second.wait() == .exit(130), "\(second.errors)")
        let (third, _) = try user.host([])
        let pid = try #require(third.processID)
        #expect(user.sockets.pids == [pid])
    }

    @Test func `a call of another version, or one that does not answer, is reported`() throws {
        let user = try User()
        try user.sockets.make()
        let listener = try UnixSocket.listen(at: user.sockets.path(of: getpid()))
        defer { UnixSocket.close(listener) }
        let silent = try user.call()
        #expect(silent.wait() == .exit(69) && theFailure(silent).contains("does not answer"), "\(silent.errors)")
        let program = try user.start(["call", "mute"])
        for _ in 0..<2_000 {
            let client = UnixSocket.accept(listener)
            if client >= 0 { _ = UnixSocket.send(Array("{\"earshot\":\"9.9\",\"protocol\":9}\n".utf8), to: client) }
            if program.processID == nil { break }
            usleep(5_000)
        }
        #expect(program.wait() == .exit(69), "\(program.errors)")
        let line = theFailure(program)
        #expect(line.contains("Earshot 9.9") && line.contains("Use the same version of Earshot"), "\(line)")
    }

    @Test func `a recording is begun and ended from another terminal, which is told of its failure`() throws {
        let (user, scratch) = (try User(), try Scratch())
        let (host, port) = try user.host([])
        // The folder is checked although the recording would wait for a guest.
        let early = try user.call("record", "/proc/nowhere/x")
        #expect(early.wait() == .exit(73) && theFailure(early).contains("Cannot record to /proc"), "\(early.errors)")
        let awaited = try user.call("record", scratch("take"))
        #expect(awaited.errors == "Recording starts when another participant joins.\n")
        #expect(try user.call("stop-recording").errors == "Recording cancelled.\n")
        #expect(try user.call().output.contains("Nobody else is in the room."))
        let guest = try Self.join(port, as: "Bob", ["--allow-recording", "no"])
        try #require(host.says("In a call with Bob"), "\(host.errors)")
        let failed = try user.call("record", "/proc/nowhere/x")
        #expect(failed.wait() == .exit(73) && theFailure(failed).contains("Cannot record to /proc"), "\(failed.errors)")
        #expect(try user.call("record", scratch("take")).errors.contains("Recording to \(scratch("take"))."))
        #expect(guest.says("Ann is recording the call without your voice."), "\(guest.errors)")
        #expect((try user.status()["recording"] as? [String: Any])?["folder"] as? String == scratch("take"))
        let again = try user.call("record")
        #expect(again.wait() == .exit(69) && theFailure(again).contains("stop-recording"), "\(again.errors)")
        usleep(1_000_000)
        let ended = try user.call("stop-recording")
        #expect(ended.wait() == .exit(0) && ended.errors.hasPrefix("Recorded 0:0"), "\(ended.errors)")
        #expect(FileManager.default.fileExists(atPath: scratch("take/recording.json")))
        host.signal(SIGINT)
        #expect(host.wait() == .exit(130), "\(host.errors)")
    }

    @Test func `guests are admitted, declined and removed from another terminal by name`() throws {
        let user = try User()
        let (host, port) = try user.host(["--accept", "ask"], terminal: try PseudoTerminal())
        let nobody = try user.call("admit")
        #expect(nobody.wait() == .exit(68) && theFailure(nobody).contains("Nobody is asking"), "\(nobody.errors)")
        let bob = try Self.join(port, as: "Bob")
        let cleo = try Self.join(port, as: "Cleo")
        #expect(eventually { (try? user.status()["joinRequests"] as? [Any])?.count == 2 })
        #expect(try user.call().output.contains("Requests: 1 "))
        let unclear = try user.call("admit")
        #expect(unclear.wait() == .exit(64) && theFailure(unclear).contains("2 guests ask"), "\(unclear.errors)")
        #expect(try user.call("decline", "cleo").errors == "Declined Cleo.\n")
        #expect(cleo.wait() == .exit(77), "\(cleo.errors)")
        #expect(host.says("Declined Cleo."), "\(host.errors)")
        #expect(try user.call("admit").errors == "Admitted Bob.\n")
        #expect(bob.says("In a call with Ann"), "\(bob.errors)")
        let late = try user.call("admit", "Bob")
        #expect(late.wait() == .exit(68) && theFailure(late).contains("Nobody is asking"), "\(late.errors)")
        #expect(try user.call("rename", "Zoe").errors == "You are now called Zoe.\n")
        #expect(bob.says("Ann is now called Zoe."), "\(bob.errors)")
        #expect(try user.call("admission", "known").errors == "Admission: known guests only\n")
        #expect(host.says("Admission: known guests only"), "\(host.errors)")
        #expect(try user.call("remove", "bob").errors == "Removed Bob.\n")
        #expect(bob.wait() == .exit(77), "\(bob.errors)")
        #expect(try user.call("end").errors == "Ended the room.\n")
        #expect(host.wait() == .exit(0), "\(host.errors)")
    }
}
