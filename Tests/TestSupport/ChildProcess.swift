// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A program that a test starts, with its output in separate files. It is killed with its process group when this object is
/// deallocated.
///
/// Foundation's Process passes on this thread's signal mask, in which Dispatch blocks signals that the program must receive. Here
/// the mask is empty.
public final class ChildProcess: Sendable {
    /// The reason that the program was not started.
    public struct StartError: Error, CustomStringConvertible {
        /// One line.
        public let description: String
    }

    /// The end of a process.
    public enum Ending: Hashable, Sendable {
        /// It exited with this status.
        case exit(Int32)
        /// This signal ended it.
        case signal(Int32)
    }

    private struct State {
        var pid: pid_t
        var ending: Ending?
    }
    private let state: Mutex<State>
    private let folder: String
    private let terminal: PseudoTerminal?
    private static let serial = Atomic<Int>(0)

    /// - Parameters:
    ///   - arguments: the program, found along PATH, and its arguments.
    ///   - environment: changes to this process's environment; nil removes a variable.
    ///   - standardOutput: a file to open for writing instead of the one read by ``output``.
    ///   - terminal: its terminal, for its standard input and error.
    public init(
        _ arguments: [String], environment: [String: String?] = [:], standardOutput: String? = nil,
        terminal: PseudoTerminal? = nil
    ) throws {
        self.terminal = terminal
        let number = Self.serial.add(1, ordering: .relaxed).newValue
        folder = "\(NSTemporaryDirectory())earshot-child-\(getpid())-\(number)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var variables = ProcessInfo.processInfo.environment
        for (name, value) in environment { variables[name] = value }
        let pid = try Self.spawn(
            arguments, variables.map { "\($0)=\($1)" }, output: standardOutput ?? "\(folder)/output",
            error: "\(folder)/error", terminal: terminal?.path)
        state = Mutex(State(pid: pid))
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Runs a program to its end. Returns its status and its output.
    /// - Throws: if it was not started, was ended by a signal, or still ran after `seconds`.
    public static func run(
        _ arguments: [String], seconds: Double = 60
    ) throws -> (status: Int32, output: String, errors: String) {
        let child = try ChildProcess(arguments)
        guard case .exit(let status)? = child.wait(seconds: seconds) else {
            throw StartError(description: "\(arguments[0]) did not end by itself: \(child.errors)")
        }
        return (status, child.output, child.errors)
    }

    /// Starts a program with no signal blocked: Foundation's Process passes on this thread's mask, in which Dispatch blocks
    /// SIGTERM. Without `error` both outputs go to one file.
    static func spawn(
        _ arguments: [String], _ environment: [String], output: String, error: String? = nil, terminal: String? = nil
    ) throws -> pid_t {
        var files = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        var none = sigset_t()
        posix_spawn_file_actions_init(&files)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&files)
            posix_spawnattr_destroy(&attributes)
        }
        // A session's leader controls the terminal that it opens.
        posix_spawn_file_actions_addopen(&files, 0, terminal ?? "/dev/null", terminal == nil ? O_RDONLY : O_RDWR, 0)
        posix_spawn_file_actions_addopen(&files, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        if terminal != nil {
            posix_spawn_file_actions_adddup2(&files, 0, 2)
        } else if let error {
            posix_spawn_file_actions_addopen(&files, 2, error, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        } else {
            posix_spawn_file_actions_adddup2(&files, 1, 2)
        }
        sigemptyset(&none)
        let session: Int32 = 0x80  // POSIX_SPAWN_SETSID, which Swift does not see
        let group = terminal == nil ? POSIX_SPAWN_SETPGROUP : session
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | group))
        var argv = arguments.map { strdup($0) } + [nil]
        var envp = environment.map { strdup($0) } + [nil]
        defer { for string in argv + envp { free(string) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, arguments[0], &files, &attributes, &argv, &envp)
        guard code == 0 else { throw StartError(description: "\(arguments[0]) cannot be started (errno \(code))") }
        return pid
    }

    /// Its process id while it runs; nil afterwards.
    public var processID: pid_t? { state.withLock { Self.poll(&$0) == nil ? $0.pid : nil } }

    /// The standard output so far.
    public var output: String { text("output") }
    /// The standard error so far.
    public var errors: String { terminal?.text ?? text("error") }

    private func text(_ name: String) -> String {
        String(decoding: FileManager.default.contents(atPath: "\(folder)/\(name)") ?? Data(), as: UTF8.self)
    }

    /// Sends it a signal if it still runs.
    public func signal(_ number: Int32) { state.withLock { if Self.poll(&$0) == nil { kill($0.pid, number) } } }

    /// Sends a signal to it and to the programs that it started.
    public func signalGroup(_ number: Int32) { state.withLock { if Self.poll(&$0) == nil { kill(-$0.pid, number) } } }

    /// Waits for its end; nil if it still runs after `seconds`.
    public func wait(seconds: Double = 20) -> Ending? {
        for _ in 0..<max(1, Int(seconds * 100)) {
            if let ending = state.withLock({ Self.poll(&$0) }) { return ending }
            usleep(10_000)
        }
        return nil
    }

    /// Waits until it handles this signal, which before would end it; false if the program ended first, or after `seconds`.
    public func catches(_ number: Int32, seconds: Double = 10) -> Bool {
        for _ in 0..<max(1, Int(seconds * 50)) {
            guard let pid = processID else { return false }
            let status = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("SigCgt:") }
            let mask = line.flatMap { UInt64($0.dropFirst(7).filter(\.isHexDigit), radix: 16) } ?? 0
            if mask & 1 << UInt64(number - 1) != 0 { return true }
            usleep(20_000)
        }
        return false
    }

    /// Waits until standard error contains `words`, after its first `count` characters; false if the program ended first, or
    /// after `seconds`.
    public func says(_ words: String, after count: Int = 0, seconds: Double = 10) -> Bool {
        for _ in 0..<max(1, Int(seconds * 50)) {
            if errors.dropFirst(count).contains(words) { return true }
            if processID == nil { return errors.dropFirst(count).contains(words) }
            usleep(20_000)
        }
        return false
    }

    /// Ends it at once.
    public func stop() {
        state.withLock { state in
            guard Self.poll(&state) == nil else { return }
            kill(-state.pid, SIGKILL)
            var status: Int32 = 0
            waitpid(state.pid, &status, 0)
            state.ending = .signal(SIGKILL)
        }
    }

    private static func poll(_ state: inout State) -> Ending? {
        if let ending = state.ending { return ending }
        var status: Int32 = 0
        guard waitpid(state.pid, &status, WNOHANG) == state.pid else { return nil }
        state.ending = status & 0x7F == 0 ? .exit(status >> 8 & 0xFF) : .signal(status & 0x7F)
        return state.ending
    }
}
