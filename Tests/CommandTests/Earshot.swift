// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import Foundation
import Synchronization
import TestSupport
import Testing

/// The program as users run it.
enum Earshot {
    /// Built beside the tests, or named by EARSHOT_PROGRAM.
    static let program =
        ProcessInfo.processInfo.environment["EARSHOT_PROGRAM"]
        ?? URL(fileURLWithPath: (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "")
        .deletingLastPathComponent().appendingPathComponent("earshot").path

    /// - Parameter prefix: a command that runs the program, such as ``fileLimit``.
    static func start(
        _ arguments: [String], environment: [String: String?] = [:], standardOutput: String? = nil,
        terminal: PseudoTerminal? = nil, through prefix: [String] = []
    ) throws -> ChildProcess {
        var all: [String: String?] = [
            "JACK_DEFAULT_SERVER": nil, "XDG_RUNTIME_DIR": nil, "XDG_DATA_HOME": TestFolders.next("data"),
            "XDG_CONFIG_HOME": TestFolders.next("config"),
        ]
        all.merge(environment) { $1 }
        return try ChildProcess(
            prefix + [program] + arguments, environment: all, standardOutput: standardOutput, terminal: terminal)
    }

    /// Runs a program whose files can have at most 100 KiB, which WAV of 24 bits and 48 kHz reaches after 0.7 s.
    static let fileLimit = ["bash", "-c", "ulimit -f 100; exec \"$@\"", "bash"]

    /// Runs a program as a user who may not write everywhere, as root may.
    static let unprivileged = getuid() == 0 ? ["setpriv", "--reuid=65534", "--clear-groups"] : []

    /// The distribution's speech sample, 48 kHz.
    static let speech = "/usr/share/sounds/alsa/Front_Center.wav"

    /// A room that admits everybody, on this machine and not announced.
    static func host(_ port: Int) -> [String] { ["host", "--port", "\(port)", "--accept", "all", "--no-announce"] }

    /// Returns a port that nobody else gets while this process runs.
    static func freePort() throws -> Int { Int(try ReservedPort.next()) }
}

/// Folders for programs that need one: each process has its own identity. They are deleted with the tests.
enum TestFolders {
    private static let root = "\(NSTemporaryDirectory())earshot-people-\(getpid())"
    private static let count: Atomic<Int> = {
        atexit { try? FileManager.default.removeItem(atPath: TestFolders.root) }
        return Atomic(0)
    }()

    static func next(_ name: String) -> String { "\(root)/\(name)-\(count.add(1, ordering: .relaxed).newValue)" }
}

/// A folder that is deleted with the test.
final class Scratch {
    let path: String
    init() throws {
        path = "\(NSTemporaryDirectory())earshot-command-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    deinit { try? FileManager.default.removeItem(atPath: path) }
    func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }
}

/// Two ends of a call on simulated cards, in two processes.
struct SimulatedCall {
    let scratch: Scratch
    let host: ChildProcess
    let guest: ChildProcess
    let port: Int

    /// Starts both and waits until they are in the call.
    init(_ more: [String] = [], host hostMore: [String] = [], guest guestMore: [String] = []) throws {
        scratch = try Scratch()
        port = try Earshot.freePort()
        let common = ["--device", "simulated", "--speak", Earshot.speech, "--json"] + more
        host = try Earshot.start(
            Earshot.host(port) + ["--hear", scratch("host.wav")] + common + hostMore)
        try #require(host.says("Waiting for guests"), "\(host.errors)")
        guest = try Earshot.start(
            ["join", "127.0.0.1:\(port)", "--hear", scratch("guest.wav")] + common + guestMore)
        try #require(guest.says("In a call with"), "\(guest.errors)")
    }
}

/// Returns the line with which a program fails, and checks that there is only one.
func theFailure(_ process: ChildProcess, sourceLocation: SourceLocation = #_sourceLocation) -> String {
    let lines = process.errors.split(separator: "\n").filter { $0.hasPrefix("error: ") }
    #expect(lines.count == 1, "\(process.errors)", sourceLocation: sourceLocation)
    for sign in ["Fatal error", "Stack dump", "Current stack trace", "Swift/", "Error("] {
        #expect(!process.errors.contains(sign), "\(process.errors)", sourceLocation: sourceLocation)
    }
    return lines.first.map(String.init) ?? ""
}

/// Returns the frames of a file, which must be complete.
func playableFrames(_ path: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> Int {
    let reader = try AudioFileReader(path: path)
    let length = try #require(Int(exactly: reader.frameCount), sourceLocation: sourceLocation)
    return length
}

/// Returns the only JSON object on standard output.
func theReport(_ process: ChildProcess, sourceLocation: SourceLocation = #_sourceLocation) throws -> [String: Any] {
    let object = try JSONSerialization.jsonObject(with: Data(process.output.utf8))
    return try #require(object as? [String: Any], sourceLocation: sourceLocation)
}

/// Returns the only remote peer in a report.
func thePeer(_ report: [String: Any], sourceLocation: SourceLocation = #_sourceLocation) throws -> [String: Any] {
    let peers = try #require(report["peers"] as? [[String: Any]], sourceLocation: sourceLocation)
    #expect(peers.count == 1, sourceLocation: sourceLocation)
    return try #require(peers.first, sourceLocation: sourceLocation)
}
