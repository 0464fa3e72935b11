// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import Foundation
import TestSupport
import TestTraits
import Testing

/// Recording a call with the program as users run it: on one machine, each process with its own identity.
@Suite(.serialized, .realTime) struct CallRecordingCommandTests {
    private let scratch: Scratch
    private let port: Int
    /// A card whose microphone has sound all the time.
    private let card: [String]

    init() throws {
        scratch = try Scratch()
        port = try Earshot.freePort()
        try Recorded.write(Recorded.noise(10 * 48_000), to: scratch("voice.wav"))
        card = ["--device", "simulated", "--speak", scratch("voice.wav")]
    }

    private func host(
        _ more: [String], environment: [String: String?] = [:], terminal: PseudoTerminal? = nil,
        through prefix: [String] = []
    ) throws -> ChildProcess {
        let host = try Earshot.start(
            Earshot.host(port) + card + ["--name", "Ann"] + more, environment: environment, terminal: terminal,
            through: prefix)
        try #require(host.says("Waiting for guests"), "\(host.errors)")
        return host
    }

    private func join(as name: String, _ more: [String], terminal: PseudoTerminal? = nil) throws -> ChildProcess {
        try Earshot.start(["join", "127.0.0.1:\(port)", "--name", name] + card + more, terminal: terminal)
    }

    /// The parts of `recording.json` that a program would read first.
    private struct Description: Decodable {
        struct Track: Decodable {
            var file: String
            var kind: String
        }
        var version: Int
        var sampleRate: Int
        var tracks: [Track]
    }

    private func description(_ folder: String) throws -> Description {
        let data = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/recording.json"))
        return try JSONDecoder().decode(Description.self, from: data)
    }

    private func frames(_ path: String) throws -> Int { try Recorded.read(path)[0].count }

    private func peak(_ path: String) throws -> Float {
        try Recorded.read(path)[0].reduce(0) { max($0, abs($1)) }
    }

    private func size(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    }

    /// Checks that a call has sent its voice until its end.
    private func expectVoice(
        _ report: [String: Any], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let peer = try thePeer(report)
        let packets = try #require((peer["sent"] as? [String: Any])?["packets"] as? Int)
        let (frames, rate) = try (#require(peer["packetFrames"] as? Int), #require(peer["rate"] as? Double))
        let seconds = try #require(report["seconds"] as? Double)
        #expect(
            Double(packets * frames) / rate > seconds - 1, "\(packets) packets in \(seconds) s",
            sourceLocation: sourceLocation)
    }

    @Test
    func `a recording has the voice of a guest who allows it, silence for one who does not, and ends with Ctrl-C`()
        throws
    {
        let host = try host(["--record", scratch("take"), "--record-format", "flac", "--json"])
        #expect(host.says("Recording starts when another participant joins."), "\(host.errors)")
        let bob = try join(as: "Bob", ["--allow-recording", "yes"])
        #expect(host.says("Recording to \(scratch("take")). Bob sees that you record."), "\(host.errors)")
        #expect(bob.says("Ann is recording the call, including your voice."), "\(bob.errors)")
        let cleo = try join(as: "Cleo", [])
        #expect(cleo.says("without your voice. To allow it, join with --allow-recording yes."), "\(cleo.errors)")
        #expect(host.says("Cleo declined and is silent in the recording."), "\(host.errors)")
        // Half a second of sound; silence takes a few bytes.
        #expect(Recorded.grows(scratch("take/Bob.flac"), to: 50_000), "\(host.errors)")
        host.signal(SIGINT)
        #expect(host.wait() == .exit(130), "\(host.errors)")
        for words in ["Bob has not answered", "Bob allows", "Cleo has not answered", "Cleo declined"] {
            #expect(host.errors.components(separatedBy: words).count <= 2, "\(host.errors)")
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: scratch("take")).sorted()
        #expect(files == ["Ann.flac", "Bob.flac", "Cleo.flac", "mix.flac", "recording.json"])
        #expect(try peak(scratch("take/Ann.flac")) > 0.05 && peak(scratch("take/Bob.flac")) > 0.05)
        #expect(try peak(scratch("take/Cleo.flac")) == 0)
        let recording = try #require(try theReport(host)["recording"] as? [String: Any])
        #expect(recording["folder"] as? String == scratch("take"), "\(recording)")
        #expect(recording["mix"] as? String == scratch("take/mix.flac"), "\(recording)")
        let seconds = try #require(recording["seconds"] as? Double)
        let lengths = try files.dropLast().map { try frames(scratch("take/\($0)")) }
        #expect(Set(lengths).count == 1 && abs(Double(lengths[0]) / 48_000 - seconds) < 0.001, "\(lengths) \(seconds)")
        bob.stop()
        cleo.stop()
    }

    @Test func `r records, the guest answers y, r stops, and any key after the call ends the program`() throws {
        let (hostKeys, guestKeys) = (try PseudoTerminal(), try PseudoTerminal())
        let host = try host([], environment: ["HOME": scratch.path], terminal: hostKeys)
        let guest = try join(as: "Bob", [], terminal: guestKeys)
        #expect(host.says("In a call with Bob") && guest.says("In a call with Ann"), "\(host.errors) \(guest.errors)")
        hostKeys.type("r")
        #expect(host.says("Recording to \(scratch("Music/Earshot/"))"), "\(host.errors)")
        #expect(host.says("Bob has not answered. Until then Bob is silent in the recording."), "\(host.errors)")
        #expect(!host.errors.contains("Recording starts when"), "\(host.errors)")
        #expect(
            guest.says("Ann wants to record. Let everyone here record your voice? y yes, n no"), "\(guest.errors)")
        guestKeys.type("y")
        #expect(guest.says("Your voice will be recorded."), "\(guest.errors)")
        #expect(host.says("Bob allows recording."), "\(host.errors)")
        let folders = try FileManager.default.contentsOfDirectory(atPath: scratch("Music/Earshot"))
        try #require(folders.count == 1, "\(folders)")
        let folder = scratch("Music/Earshot/\(folders[0])")
        // The answer is written later by the recording's delay: a second of 24 bits reaches beyond that.
        #expect(Recorded.grows("\(folder)/Bob.wav", to: try size("\(folder)/Bob.wav") + 144_000), "\(host.errors)")
        hostKeys.type("r")
        #expect(host.says("Recorded ") && host.says(" to \(folder)"), "\(host.errors)")
        #expect(guest.says("Ann stopped recording."), "\(guest.errors)")
        hostKeys.type("q")
        #expect(host.says("Keys: p play the mix, any other key exits"), "\(host.errors)")
        hostKeys.type("x")
        #expect(host.wait() == .exit(0) && guest.wait() == .exit(0), "\(host.errors) \(guest.errors)")
        #expect(try peak("\(folder)/Bob.wav") > 0.05)
        #expect(try description(folder).tracks.map(\.file) == ["Ann.wav", "Bob.wav", "mix.wav"])
    }

    @Test func `p after the call plays the mix`() throws {
        let keys = try PseudoTerminal()
        let host = try host(["--record", scratch("take")], terminal: keys)
        let guest = try join(as: "Bob", ["--allow-recording", "yes"])
        #expect(Recorded.grows(scratch("take/mix.wav"), to: 144_000), "\(host.errors)")
        keys.type("q")
        #expect(host.says("Keys: p play the mix"), "\(host.errors)")
        keys.type("p")
        #expect(host.says("playing: \(scratch("take/mix.wav"))"), "\(host.errors)")
        keys.type("q")
        #expect(host.wait() == .exit(0) && guest.wait() == .exit(0), "\(host.errors) \(guest.errors)")
    }

    @Test func `a guest who only chats declines without being asked`() throws {
        let host = try host(["--record", scratch("take")])
        let chat = try Earshot.start(["chat", "127.0.0.1:\(port)", "--name", "Bob", "--stay"])
        #expect(host.says("Bob declined and is silent in the recording."), "\(host.errors)")
        #expect(chat.says("Ann is recording the call."), "\(chat.errors)")
        #expect(!chat.errors.contains("Let everyone") && !chat.errors.contains("your voice"), "\(chat.errors)")
        chat.stop()
    }

    @Test func `a full disk ends the recording with one message per file, and the call goes on`() throws {
        let host = try host(["--record", scratch("take"), "--json"], through: Earshot.fileLimit)
        let guest = try join(as: "Bob", ["--allow-recording", "yes"])
        #expect(host.says("the disk is full"), "\(host.errors)")
        #expect(guest.says("Ann stopped recording."), "\(guest.errors)")
        #expect(host.says("Recorded "), "\(host.errors)")
        #expect(host.says(" s  me "), "\(host.errors)")  // a status line without the mark of a recording
        host.signal(SIGINT)
        #expect(host.wait() == .exit(130) && guest.wait() == .exit(0), "\(host.errors) \(guest.errors)")
        for file in ["Ann.wav", "Bob.wav", "mix.wav"] {
            let words = "warning: Cannot go on recording \(scratch("take/\(file)")): the disk is full"
            #expect(host.errors.components(separatedBy: words).count == 2, "\(file): \(host.errors)")
            #expect(try frames(scratch("take/\(file)")) > 30_000, "\(file)")
        }
        try expectVoice(theReport(host))
    }

    @Test(arguments: ["wav", "flac", "m4a", "mp3"])
    func `kill -9 loses at most the last second, and every file opens`(kind: String) throws {
        let host = try host(
            ["--record", scratch("take"), "--record-format", kind], environment: ["SWIFT_BACKTRACE": "enable=no"])
        let guest = try join(as: "Bob", ["--allow-recording", "yes"])
        #expect(host.says("  4 s  rec  me "), "\(host.errors)")
        host.signal(SIGKILL)
        #expect(host.wait() == .signal(SIGKILL))
        let files = ["Ann", "Bob", "mix"].map { "\($0).\(kind)" }
        let lengths = try files.map { try frames(scratch("take/\($0)")) }
        // The last of four seconds is missing at most, and half a second for the start and the recording's delay.
        #expect(lengths.allSatisfy { $0 > 120_000 && $0 > (lengths.max() ?? 0) - 48_000 }, "\(lengths)")
        #expect(try files.allSatisfy { try peak(scratch("take/\($0)")) > 0.05 })
        let description = try description(scratch("take"))
        #expect(description.version == 1 && description.sampleRate == 48_000)
        #expect(description.tracks.map(\.file) == files && description.tracks.map(\.kind) == ["voice", "voice", "mix"])
        guest.stop()
    }

    @Test func `a folder without write permission is refused before the call, and in the call from another terminal`()
        throws
    {
        try FileManager.default.createDirectory(atPath: scratch("locked"), withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: scratch.path)
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: scratch("locked"))
        // The path of a socket is limited.
        let runtime = "/tmp/earshot-r\(getpid())-\(UInt32.random(in: 0 ... .max))"
        defer { try? FileManager.default.removeItem(atPath: runtime) }
        try FileManager.default.createDirectory(atPath: runtime, withIntermediateDirectories: false)
        if getuid() == 0 { try #require(chown(runtime, 65_534, 65_534) == 0) }  // the user of `Earshot.unprivileged`
        func run(_ arguments: [String]) throws -> ChildProcess {
            try Earshot.start(
                arguments,
                environment: [
                    "XDG_DATA_HOME": scratch("data-\(arguments[0])"), "XDG_CONFIG_HOME": scratch("config"),
                    // Only the host's call has a socket there.
                    "XDG_RUNTIME_DIR": arguments[0] == "join" ? nil : runtime,
                ],
                through: Earshot.unprivileged)
        }
        func start(_ arguments: [String]) throws -> ChildProcess { try run(arguments + ["--device", "simulated"]) }
        for folder in [scratch("locked"), scratch("locked/new")] {
            let refused = try start(["host", "Studio", "--record", folder])
            #expect(refused.wait() == .exit(73), "\(refused.errors)")
            #expect(theFailure(refused) == "error: --record \(folder): Permission denied")
        }
        let host = try start(Earshot.host(port) + ["--name", "Ann", "--json"])
        try #require(host.says("Waiting for guests"), "\(host.errors)")
        let guest = try start(["join", "127.0.0.1:\(port)", "--name", "Bob"])
        #expect(host.says("In a call with Bob"), "\(host.errors)")
        let told = try run(["call", "record", scratch("locked/new")])
        #expect(told.wait() == .exit(73), "\(told.errors)")
        let reason = "Cannot record to \(scratch("locked/new")): Permission denied."
        #expect(theFailure(told) == "error: \(reason) Use another folder: earshot call record FOLDER")
        #expect(host.says(" s  me ") && guest.says(" s  me "), "\(host.errors) \(guest.errors)")
        host.signal(SIGINT)
        #expect(host.wait() == .exit(130) && guest.wait() == .exit(0), "\(host.errors) \(guest.errors)")
        try expectVoice(theReport(host))
    }
}
