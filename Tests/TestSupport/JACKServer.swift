// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A real `jackd` with the dummy driver, under its own name. It ends with this object, or after two minutes if the tests die.
///
/// Create one for programs that a test starts. For clients in the test's own process use
/// ``running(sampleRate:blockFrameCount:channelCount:_:)``, since a process can have clients on only one server.
public final class JACKServer: Sendable {
    /// The name that clients open, or put into `JACK_DEFAULT_SERVER`.
    public let name: String
    private let process: Mutex<pid_t>  // 0 once it has ended
    private static let serial = Atomic<Int>(0)
    private let sampleRate: Int
    private let blockFrameCount: Int
    private let channelCount: Int

    /// The reason that there is no server. The log's last line is jackd's own.
    public struct StartError: Error, CustomStringConvertible {
        /// One line.
        public let description: String
    }

    /// Starts the server and waits until it accepts clients.
    /// - Parameters:
    ///   - sampleRate: hertz.
    ///   - blockFrameCount: a power of two, 16 to 4,096.
    ///   - channelCount: the number of capture ports, and of playback ports.
    public init(sampleRate: Int = 48_000, blockFrameCount: Int = 64, channelCount: Int = 2) throws {
        let number = Self.serial.add(1, ordering: .relaxed).newValue
        name = "earshot-test-\(getpid())-\(number)"
        self.sampleRate = sampleRate
        self.blockFrameCount = blockFrameCount
        self.channelCount = channelCount
        process = Mutex(0)
        try start()
    }

    /// Starts it again after ``stop()`` or ``kill()``, under the same name.
    /// - Parameter sampleRate: another sample rate than before; nil for the same.
    public func start(sampleRate: Int? = nil) throws {
        Self.forgetTheDead()
        let log = "\(NSTemporaryDirectory())\(name).log"
        defer { unlink(log) }
        let command =
            "env JACK_NO_AUDIO_RESERVATION=1 timeout -k 2 \(ServerLifetime.seconds) jackd --realtime --realtime-priority 70 -n \(name) "
            + "-d dummy -C \(channelCount) -P \(channelCount) -p \(blockFrameCount) -r \(sampleRate ?? self.sampleRate)"
        let environment = ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
        let pid = try ChildProcess.spawn(command.components(separatedBy: " "), environment, output: log)
        process.withLock { $0 = pid }
        let socket = "/dev/shm/jack_\(name)_\(getuid())_0"
        for _ in 0..<500 {
            if access(socket, F_OK) == 0 { return }
            if hasEnded { break }
            usleep(20_000)
        }
        stop()
        let said = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        throw StartError(
            description:
                "jackd did not start (install jackd2): \(said.split(separator: "\n").last ?? "it said nothing")")
    }

    deinit { stop() }

    private static let turn = DispatchSemaphore(value: 1)

    /// Runs a test whose own process has no other JACK client meanwhile. Other tests wait for their turn, so the body must not
    /// suspend or nest another.
    public static func exclusively<R>(_ body: () throws -> R) rethrows -> R {
        turn.wait()
        defer { turn.signal() }
        return try body()
    }

    /// Runs a test with a server for clients in this process, and ends it afterwards. No client may leave the body.
    public static func running<R>(
        sampleRate: Int = 48_000, blockFrameCount: Int = 64, channelCount: Int = 2, _ body: (JACKServer) throws -> R
    ) throws -> R {
        try exclusively {
            let server = try JACKServer(
                sampleRate: sampleRate, blockFrameCount: blockFrameCount, channelCount: channelCount)
            defer { server.stop() }
            do {
                return try body(server)
            } catch {
                // Print the stacks, to see where a call to libjack hangs.
                if "\(error)".contains("has not called") { printStacks(besides: "jackd") }
                throw error
            }
        }
    }

    /// Ends the server; its clients notice.
    public func stop() { end(by: SIGTERM) }

    /// Kills the server, like a crash.
    public func kill() { end(by: SIGKILL) }

    private func end(by signal: CInt) {
        process.withLock { pid in
            guard pid > 0 else { return }
            // jackd leads its own session, so it is not in the group of `timeout`, which must live on to reap it: while a killed
            // jackd is a zombie, its name is taken.
            let servers = Self.children(of: pid)
            for server in servers { Foundation.kill(server, SIGCONT) }
            for server in servers { Foundation.kill(server, signal) }
            var status: CInt = 0
            for _ in 0..<400 where waitpid(pid, &status, WNOHANG) == 0 { usleep(10_000) }
            for server in servers { Foundation.kill(server, SIGKILL) }
            Foundation.kill(-pid, SIGKILL)
            pid = 0
            // A new server of this name must not find files that it, or a client that outlived it, left behind.
            let folder = "/dev/shm"
            for file in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            where file.hasPrefix("jack_") && file.contains("_\(name)_") { unlink("\(folder)/\(file)") }
        }
    }

    /// Sends the server a signal: SIGSTOP and SIGCONT simulate a machine that sleeps.
    public func signal(_ number: CInt) {
        process.withLock { pid in
            if pid > 0 { for server in Self.children(of: pid) { Foundation.kill(server, number) } }
        }
    }

    private static func children(of pid: pid_t) -> [pid_t] {
        let all = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { pid_t($0) }
        return all.filter { process in
            let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
            return status?.contains("\nPPid:\t\(pid)\n") ?? false
        }
    }

    /// Frees the entries of killed servers in the table of eight that all jackds of the machine share. A server removes its own
    /// entry only when it ends normally (jackd2's shm.c: a header of 24 bytes, then a pid and a name for each).
    private static func forgetTheDead() {
        guard let file = FileHandle(forUpdatingAtPath: "/dev/shm/jack-shm-registry") else { return }
        defer { try? file.close() }
        func number<T: FixedWidthInteger>(at offset: Int, _ type: T.Type) -> T? {
            try? file.seek(toOffset: UInt64(offset))
            guard let data = try? file.read(upToCount: T.bitWidth / 8), data.count == T.bitWidth / 8 else { return nil }
            return data.withUnsafeBytes { $0.loadUnaligned(as: type) }
        }
        guard let length = number(at: 16, UInt32.self), (1_024...65_536).contains(length) else { return }
        let stride = (Int(length) - 24) / 8
        for offset in (0..<8).map({ 24 + $0 * stride }) {
            guard let pid = number(at: offset, Int32.self), pid > 0, Foundation.kill(pid, 0) != 0, errno == ESRCH else {
                continue
            }
            try? file.seek(toOffset: UInt64(offset))
            try? file.write(contentsOf: Data(count: stride))
        }
    }

    /// Changes the block of the running server, as `jack_bufsize` does.
    public func setBlock(_ frameCount: Int) throws {
        let child = try ChildProcess(["jack_bufsize", "\(frameCount)"], environment: ["JACK_DEFAULT_SERVER": name])
        guard child.wait(seconds: 5) == .exit(0) else {
            throw StartError(description: "jack_bufsize failed: \(child.errors)")
        }
    }

    /// Connects two ports, each `client:port`, as `jack_connect` does.
    public func connect(_ from: String, _ to: String) throws {
        let child = try ChildProcess(["jack_connect", from, to], environment: ["JACK_DEFAULT_SERVER": name])
        guard child.wait(seconds: 5) == .exit(0) else {
            throw StartError(description: "jack_connect \(from) \(to) failed: \(child.errors)")
        }
    }

    private var hasEnded: Bool {
        process.withLock { pid in
            var status: CInt = 0
            guard pid > 0, waitpid(pid, &status, WNOHANG) == 0 else {
                pid = 0
                return true
            }
            return false
        }
    }
}
