import Foundation
import Synchronization

/// A real `jackd` with the dummy driver, under a name of its own; it ends with this object, and by itself after two
/// minutes should the tests die.
///
/// Make one for programs that a test starts. For clients in the test's own process use
/// ``running(sampleRate:blockFrameCount:channelCount:_:)``, since a process can have clients on one server only.
public final class JACKServer: Sendable {
    /// What clients open, or put into `JACK_DEFAULT_SERVER`.
    public let name: String
    private let process: Mutex<pid_t>  // 0 once it has ended
    private static let serial = Atomic<Int>(0)

    /// Why there is no server; the log's last line is jackd's own.
    public struct StartError: Error, CustomStringConvertible {
        /// One line.
        public let description: String
    }

    /// Starts the server and waits until it accepts clients.
    /// - Parameters:
    ///   - sampleRate: hertz.
    ///   - blockFrameCount: a power of two, 16 to 4,096.
    ///   - channelCount: capture ports, and playback ports.
    public init(sampleRate: Int = 48_000, blockFrameCount: Int = 64, channelCount: Int = 2) throws {
        let number = Self.serial.add(1, ordering: .relaxed).newValue
        name = "earshot-test-\(getpid())-\(number)"
        let log = "\(NSTemporaryDirectory())\(name).log"
        defer { unlink(log) }
        let command =
            "env JACK_NO_AUDIO_RESERVATION=1 timeout -k 2 120 jackd --realtime --realtime-priority 70 -n \(name) "
            + "-d dummy -C \(channelCount) -P \(channelCount) -p \(blockFrameCount) -r \(sampleRate)"
        let environment = ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }
        process = Mutex(try ChildProcess.spawn(command.components(separatedBy: " "), environment, output: log))
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

    /// Runs a test whose own process has no other JACK client meanwhile. Other tests wait for their turn, so the body
    /// neither suspends nor nests another.
    public static func exclusively<R>(_ body: () throws -> R) rethrows -> R {
        turn.wait()
        defer { turn.signal() }
        return try body()
    }

    /// Runs a test with a server for clients in this process, and ends it afterwards. Let no client leave the body.
    public static func running<R>(
        sampleRate: Int = 48_000, blockFrameCount: Int = 64, channelCount: Int = 2, _ body: (JACKServer) throws -> R
    ) throws -> R {
        try exclusively {
            let server = try JACKServer(
                sampleRate: sampleRate, blockFrameCount: blockFrameCount, channelCount: channelCount)
            defer { server.stop() }
            return try body(server)
        }
    }

    /// Ends the server; its clients see it go.
    public func stop() {
        process.withLock { pid in
            guard pid > 0 else { return }
            kill(pid, SIGTERM)
            var status: CInt = 0
            for _ in 0..<400 where waitpid(pid, &status, WNOHANG) == 0 { usleep(10_000) }
            kill(-pid, SIGKILL)  // the group it leads, should one be left
            pid = 0
            // A client that outlived the server leaves its semaphore behind.
            let folder = "/dev/shm"
            for file in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            where file.hasPrefix("jack_") && file.contains("_\(name)_") { unlink("\(folder)/\(file)") }
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
