// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A test's own real PipeWire: its session bus, wireplumber and pipewire-pulse with the standard configuration, in their own
/// folders. All of it ends with this object, or after two minutes if the tests die.
///
/// The graph runs at 48 kHz and 1,024 frames, and quanta of 16 to 8,192 frames can be forced. Several servers can run at the same
/// time, and a process can have clients on each.
public final class PipeWireServer: Sendable {
    /// A null sink or a virtual source.
    public struct Device: Sendable {
        enum Direction { case input, output }
        let direction: Direction
        /// `node.name`.
        public let name: String
        /// The number of channels.
        public let channelCount: Int
        /// Hertz.
        public let sampleRate: Int
        /// Further node properties: `node.description`, `device.bus`, `device.form-factor`, `priority.session`…
        public let properties: [String: String]

        /// A device for playback. Its sound comes out at its ports `monitor_FL`… (`monitor_AUX0`…, `monitor_MONO`).
        public static func sink(
            _ name: String, channelCount: Int = 2, sampleRate: Int = 48_000, _ properties: [String: String] = [:]
        ) -> Device {
            Device(
                direction: .output, name: name, channelCount: channelCount, sampleRate: sampleRate,
                properties: properties)
        }

        /// A device for capture. Its sound is linked to its ports `input_MONO` (`input_FL`…, `input_AUX0`…).
        public static func source(
            _ name: String, channelCount: Int = 1, sampleRate: Int = 48_000, _ properties: [String: String] = [:]
        ) -> Device {
            Device(
                direction: .input, name: name, channelCount: channelCount, sampleRate: sampleRate,
                properties: properties)
        }

        /// A sink's monitor is also a source: wireplumber prefers a virtual source only with a higher priority.
        var arguments: String {
            var all = [
                "factory.name": "support.null-audio-sink", "node.name": name, "object.linger": "true",
                "media.class": direction == .input ? "Audio/Source/Virtual" : "Audio/Sink",
                "priority.session": direction == .input ? "2000" : "1000", "audio.rate": "\(sampleRate)",
            ]
            all.merge(properties) { _, own in own }
            let pairs = all.sorted { $0.key < $1.key }.map { "\"\($0.key)\" = \"\($0.value)\"" }
            let position =
                switch channelCount {
                case 1: "MONO"
                case 2: "FL FR"
                default: (0..<channelCount).map { "AUX\($0)" }.joined(separator: " ")
                }
            return "{ \(pairs.joined(separator: " ")) \"audio.position\" = [ \(position) ] }"
        }
    }

    /// A failure; the last line is the program's own.
    public struct ServerError: Error, CustomStringConvertible {
        /// One line.
        public let description: String
    }

    /// The path of the server's socket, for clients of this process. It stays the same after a restart.
    public var remote: String { "\(folder)/run/pipewire-0" }
    /// The environment for programs of a test to find the server, including its sound for PulseAudio programs.
    public let environment: [String: String]

    private let folder: String
    private let devices: [Device]
    private let process: Mutex<pid_t>  // 0 while it does not run
    private static let serial = Atomic<Int>(0)

    /// Starts the server and waits until it accepts clients and has set defaults.
    /// - Parameters:
    ///   - sampleRate: the graph's sample rate in hertz.
    ///   - sampleRates: the sample rates to which the graph may change.
    ///   - hasOddQuanta: true if quanta need not be powers of two, to which the standard configuration rounds down.
    ///   - devices: the devices that exist from the start, and again after ``start()``.
    public init(
        sampleRate: Int = 48_000, sampleRates: [Int] = [44_100, 48_000, 88_200, 96_000],
        hasOddQuanta: Bool = false, devices: [Device] = []
    ) throws {
        self.devices = devices
        let number = Self.serial.add(1, ordering: .relaxed).newValue
        // Short, since a socket's path has at most 107 bytes.
        folder = "\(NSTemporaryDirectory())earshot-pw-\(getpid())-\(number)"
        environment = [
            "XDG_RUNTIME_DIR": "\(folder)/run", "XDG_CONFIG_HOME": "\(folder)/config",
            "XDG_STATE_HOME": "\(folder)/state", "PIPEWIRE_RUNTIME_DIR": "\(folder)/run",
            "PIPEWIRE_REMOTE": "\(folder)/run/pipewire-0", "PULSE_RUNTIME_PATH": "\(folder)/run/pulse",
            "PULSE_SERVER": "unix:\(folder)/run/pulse/native",
        ]
        process = Mutex(0)
        for path in ["run", "config/pipewire/pipewire.conf.d", "state"] {
            try FileManager.default.createDirectory(
                atPath: "\(folder)/\(path)", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        // Otherwise a virtual machine's smallest quantum is 1,024.
        let objects = devices.map { "{ factory = adapter args = \($0.arguments) }" }
        let configuration = """
            context.properties = {
                default.clock.rate = \(sampleRate)
                default.clock.allowed-rates = [ \(sampleRates.map(String.init).joined(separator: " ")) ]
                clock.power-of-two-quantum = \(!hasOddQuanta)
                default.clock.min-quantum = 16
                default.clock.max-quantum = 8192
                vm.overrides = { default.clock.min-quantum = 16 }
            }
            context.objects = [ \(objects.joined(separator: "\n")) ]
            """
        try configuration.write(
            toFile: "\(folder)/config/pipewire/pipewire.conf.d/test.conf", atomically: true, encoding: .utf8)
        do { try start() } catch {
            removeFolder()
            throw error
        }
    }

    deinit {
        stop()
        removeFolder()
    }

    private func removeFolder() { try? FileManager.default.removeItem(atPath: folder) }

    private static let turn = DispatchSemaphore(value: 1)

    /// Runs a test with a server, and ends it afterwards. Other tests wait for their turn, so the body must not suspend or nest
    /// another.
    public static func running<R>(
        sampleRate: Int = 48_000, hasOddQuanta: Bool = false, devices: [Device] = [],
        _ body: (PipeWireServer) throws -> R
    ) throws -> R {
        turn.wait()
        defer { turn.signal() }
        let server = try PipeWireServer(sampleRate: sampleRate, hasOddQuanta: hasOddQuanta, devices: devices)
        defer { server.stop() }
        return try body(server)
    }

    /// Starts it again after ``stop()``, with its original devices and on the same socket. Does nothing while it runs.
    public func start() throws {
        let log = "\(folder)/log"
        try process.withLock { pid in
            guard pid == 0 else { return }
            unlink(remote)
            unlink("\(folder)/run/pulse/native")
            let script =
                "pipewire & until [ -S '\(remote)' ]; do sleep 0.01; done; wireplumber & exec pipewire-pulse"
            let command = [
                "timeout", "-k", "2", "\(ServerLifetime.seconds)", "dbus-run-session", "--", "bash", "-c", script,
            ]
            pid = try ChildProcess.spawn(command, variables(), output: log)
        }
        for _ in 0..<500 {
            if isReady { return }
            if hasEnded { break }
            usleep(20_000)
        }
        stop()
        let said = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        throw ServerError(
            description: "PipeWire did not start (install pipewire, wireplumber, pipewire-pulse, dbus): "
                + "\(said.split(separator: "\n").last ?? "it said nothing")")
    }

    /// True if wireplumber has created the metadata, given the devices their ports and chosen defaults among them.
    private var isReady: Bool {
        guard access("\(folder)/run/pulse/native", F_OK) == 0,
            let defaults = try? run(["pw-metadata", "-n", "default"]),
            defaults.contains("Found"), hasPorts(devices.map(\.name))
        else { return false }
        return [("sink", Device.Direction.output), ("source", .input)].allSatisfy { kind, direction in
            !devices.contains { $0.direction == direction } || defaults.contains("'default.audio.\(kind)'")
        }
    }

    private func hasPorts(_ names: [String]) -> Bool {
        guard !names.isEmpty else { return true }
        guard let ports = try? run(["pw-link", "-io"]).split(separator: "\n") else { return false }
        return names.allSatisfy { name in ports.contains { $0.hasPrefix("\(name):") } }
    }

    /// Kills all of it at once, like a crash; its clients notice.
    public func stop() {
        process.withLock { pid in
            guard pid > 0 else { return }
            kill(-pid, SIGKILL)
            var status: CInt = 0
            waitpid(pid, &status, 0)
            pid = 0
        }
    }

    /// Sends a signal to all of it: SIGSTOP and SIGCONT simulate a machine that sleeps.
    public func signal(_ number: CInt) {
        process.withLock { pid in
            if pid > 0 { kill(-pid, number) }
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

    private func variables() -> [String] {
        let inherited = ProcessInfo.processInfo.environment.filter { $0.key != "DBUS_SESSION_BUS_ADDRESS" }
        return inherited.merging(environment) { _, own in own }.map { "\($0.key)=\($0.value)" }
    }
}

extension PipeWireServer {
    /// Plugs a device in. It exists when this returns.
    public func add(_ device: Device) throws {
        try run(["pw-cli", "create-node", "adapter", device.arguments])
        for _ in 0..<250 {
            if hasPorts([device.name]) { return }
            usleep(20_000)
        }
        throw ServerError(description: "the device \(device.name) did not come")
    }

    /// Unplugs a device.
    public func remove(_ name: String) throws { try run(["pw-cli", "destroy", name]) }

    /// Requests a default output device, which wireplumber sets shortly after.
    public func setDefaultOutput(_ name: String) throws { try setDefault("sink", name) }
    /// Requests a default input device.
    public func setDefaultInput(_ name: String) throws { try setDefault("source", name) }

    private func setDefault(_ kind: String, _ name: String) throws {
        let key = "default.configured.audio.\(kind)"
        try run(["pw-metadata", "-n", "default", "0", key, "{ \"name\": \"\(name)\" }", "Spa:String:JSON"])
    }

    /// Forces the graph's quantum; 0 leaves it to the clients.
    public func forceQuantum(_ frameCount: Int) throws {
        try run(["pw-metadata", "-n", "settings", "0", "clock.force-quantum", "\(frameCount)"])
    }

    /// Forces the graph's sample rate in hertz; 0 leaves it to the clients.
    public func forceSampleRate(_ sampleRate: Int) throws {
        try run(["pw-metadata", "-n", "settings", "0", "clock.force-rate", "\(sampleRate)"])
    }

    /// Links two ports, each `node:port`.
    public func link(_ from: String, _ to: String) throws { try run(["pw-link", from, to]) }

    /// Returns the existing links, as `pw-link -l` prints them.
    public func links() throws -> String { try run(["pw-link", "-l"]) }

    /// Runs a program with this server to its end. Returns its output.
    @discardableResult
    public func run(_ arguments: [String]) throws -> String {
        let child = try ChildProcess(arguments, environment: environment.mapValues(Optional.some))
        guard child.wait(seconds: 5) == .exit(0) else {
            let said = (child.errors + child.output).split(separator: "\n").last ?? "it said nothing"
            throw ServerError(description: "\(arguments.joined(separator: " ")) failed: \(said)")
        }
        return child.output
    }
}
