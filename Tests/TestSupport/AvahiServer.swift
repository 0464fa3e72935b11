// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A real Avahi daemon on its own host with its own D-Bus. Both end with this object, so keep it to the end of the test.
public final class AvahiServer: Sendable {
    /// The host that it runs on.
    public let host: NetworkHost
    private let bus: Mutex<ChildProcess?>
    private let daemon: Mutex<ChildProcess?>

    /// Starts both and waits until the daemon answers.
    /// - Parameter isDaemonStarted: false to start only the bus.
    public init(on host: NetworkHost, isDaemonStarted: Bool = true) throws {
        self.host = host
        bus = Mutex(nil)
        daemon = Mutex(nil)
        try Self.busConfiguration.write(toFile: host.path("/run/dbus.conf"), atomically: false, encoding: .utf8)
        try Self.daemonConfiguration(host.name).write(
            toFile: host.path("/run/avahi.conf"), atomically: false, encoding: .utf8)
        try startBus()
        if isDaemonStarted { try start() }
    }

    /// Starts servers on several hosts at the same time, since each takes a second.
    public static func starting(on hosts: [NetworkHost]) throws -> [AvahiServer] {
        let servers = try hosts.map { try AvahiServer(on: $0, isDaemonStarted: false) }
        for server in servers { try server.launch() }
        for server in servers { try server.waitUntilStarted() }
        return servers
    }

    /// Starts the bus after ``stopBus()``.
    public func startBus() throws {
        let socket = host.path("/run/dbus/system_bus_socket")
        let child = try host.start(["dbus-daemon", "--config-file=/run/dbus.conf", "--nofork", "--nopidfile"])
        bus.withLock { $0 = child }
        guard eventually({ access(socket, F_OK) == 0 || child.processID == nil }), access(socket, F_OK) == 0 else {
            throw NetworkHost.HostError(
                description: "dbus-daemon did not start (install dbus-daemon): \(child.errors)")
        }
    }

    /// Ends the bus at once.
    public func stopBus() {
        bus.withLock { $0 = nil }
        unlink(host.path("/run/dbus/system_bus_socket"))
    }

    /// Starts the daemon, also after ``kill()`` or ``stop()``, and waits until it answers.
    public func start() throws {
        try launch()
        try waitUntilStarted()
    }

    private func launch() throws {
        unlink(host.path("/run/avahi-daemon/pid"))
        let child = try host.start([
            "avahi-daemon", "-f", "/run/avahi.conf", "--no-drop-root", "--no-rlimits", "--no-chroot",
        ])
        daemon.withLock { $0 = child }
    }

    private func waitUntilStarted() throws {
        guard let child = daemon.withLock({ $0 }), child.says("Server startup complete") else {
            let said = daemon.withLock { $0?.errors } ?? ""
            throw NetworkHost.HostError(description: "avahi-daemon did not start (install avahi-daemon): \(said)")
        }
    }

    /// Ends the daemon without goodbyes, like a crash.
    public func kill() { daemon.withLock { $0 = nil } }

    /// Ends the daemon with its goodbyes.
    public func stop() {
        let child = daemon.withLock { $0 }
        child?.signal(SIGTERM)
        _ = child?.wait()
        daemon.withLock { $0 = nil }
    }

    /// Pauses the daemon, as in a debugger, or resumes it.
    public func setPaused(_ isPaused: Bool) { daemon.withLock { $0?.signalGroup(isPaused ? SIGSTOP : SIGCONT) } }

    private static let busConfiguration = """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>system</type>
          <listen>unix:path=/run/dbus/system_bus_socket</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">
            <allow send_destination="*" eavesdrop="true"/>
            <allow eavesdrop="true"/>
            <allow own="*"/>
          </policy>
        </busconfig>
        """

    private static func daemonConfiguration(_ name: String) -> String {
        """
        [server]
        host-name=\(name)
        use-ipv4=yes
        use-ipv6=yes
        [wide-area]
        enable-wide-area=no
        [publish]
        publish-workstation=no
        publish-hinfo=no
        """
    }
}
