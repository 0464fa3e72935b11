// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A simulated machine: a network namespace and a mount namespace with an empty `/run`. Programs in it see only its interfaces
/// and its servers.
///
/// Keep it to the end of the test with `withExtendedLifetime`, since the optimiser frees what is no longer used. The namespaces
/// have no name: they end with this object, or after two minutes if the tests die.
public final class NetworkHost: Sendable {
    /// Its name, for servers in it.
    public let name: String
    private let keeper: ChildProcess
    private let processID: pid_t
    private let network: CInt
    private let mounts: CInt
    /// The host's root folder. A mount namespace that is created in a chroot has a different one by itself.
    private let root: CInt

    /// A failure; one line.
    public struct HostError: Error, CustomStringConvertible {
        /// One line.
        public let description: String

        /// A failure.
        public init(description: String) { self.description = description }
    }

    /// The reason that this process may not create one; nil if it may.
    public static let whyNot: String? = {
        guard let result = try? ChildProcess.run(["unshare", "-n", "-m", "ip", "link"], seconds: 10) else {
            return "there is no unshare (install util-linux)"
        }
        return result.status == 0 ? nil : "network namespaces want root: \(result.errors)"
    }()

    /// A host with no interface except loopback.
    public init(_ name: String) throws {
        self.name = name
        // sysfs shows the interfaces of the namespace in which it was mounted.
        let script = """
            mount -t tmpfs tmpfs /run && mount -t sysfs sysfs /sys && mkdir /run/dbus /run/avahi-daemon && ip link set lo up \
            && echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad && echo ready >&2 && exec sleep \(ServerLifetime.seconds)
            """
        keeper = try ChildProcess(["unshare", "--net", "--mount", "--propagation", "private", "sh", "-c", script])
        guard keeper.says("ready"), let pid = keeper.processID else {
            throw HostError(description: "no network namespace: \(keeper.errors)")
        }
        processID = pid
        network = open("/proc/\(pid)/ns/net", O_RDONLY | O_CLOEXEC)
        mounts = open("/proc/\(pid)/ns/mnt", O_RDONLY | O_CLOEXEC)
        root = open("/proc/\(pid)/root", O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        guard network >= 0, mounts >= 0, root >= 0 else {
            throw HostError(description: "the namespaces cannot be opened")
        }
    }

    deinit {
        close(network)
        close(mounts)
        close(root)
        keeper.stop()
    }

    /// The path of the host's file for this process.
    public func path(_ path: String) -> String { "/proc/\(processID)/root\(path)" }

    /// Starts a program on the host. It ends with the returned object, or after two minutes.
    ///
    /// - Parameters:
    ///   - environment: changes to this process's environment; nil removes a variable.
    ///   - terminal: its terminal. Then signals go to the program itself and not to one that limits its time.
    public func start(
        _ arguments: [String], environment: [String: String?] = [:], terminal: PseudoTerminal? = nil
    ) throws -> ChildProcess {
        let limit = terminal == nil ? ["timeout", "-k", "2", "\(ServerLifetime.seconds)"] : []
        let variables = ["DBUS_SYSTEM_BUS_ADDRESS": nil].merging(environment) { $1 }
        return try ChildProcess(
            limit + ["nsenter", "-t", "\(processID)", "-n", "-m", "-r", "--"] + arguments, environment: variables,
            terminal: terminal)
    }

    /// Runs a program on the host to its successful end.
    /// - Parameter command: words separated by spaces.
    /// - Returns: its output.
    @discardableResult
    public func run(_ command: String) throws -> String {
        let child = try start(command.split(separator: " ").map(String.init))
        guard child.wait() == .exit(0) else { throw HostError(description: "\(name): \(command): \(child.errors)") }
        return child.output
    }

    /// Runs `body` on a thread that is on the host. What it opens stays there, and so do the threads that it starts.
    public func inside<R: Sendable>(_ body: @escaping @Sendable () throws -> R) throws -> R {
        let result = ResultBox<R>()
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [network, mounts, root] in
            // A thread that shares its working folder with others cannot change its mounts.
            let isInside =
                unshare(0x200) == 0 && setns(network, 0x4000_0000) == 0 && setns(mounts, 0x2_0000) == 0
                && fchdir(root) == 0 && chroot(".") == 0
            result.value = Result {
                guard isInside else { throw HostError(description: "setns: errno \(errno)") }
                return try body()
            }
            done.signal()
        }
        done.wait()
        guard let value = result.value else { throw HostError(description: "nothing came back") }
        return try value.get()
    }

    /// Creates a link to another host, with an interface on each.
    public func link(_ interface: String, to other: NetworkHost, _ otherInterface: String) throws {
        try run("ip link add \(interface) type veth peer name \(otherInterface) netns \(other.processID)")
        try run("ip link set \(interface) up")
        try other.run("ip link set \(otherInterface) up")
    }
}

private final class ResultBox<R>: @unchecked Sendable {  // written before the semaphore is signalled, read after
    var value: Result<R, any Error>?
}

// Glibc's functions for the calling thread, which Swift's module does not declare.
@_silgen_name("setns") private func setns(_ descriptor: CInt, _ kind: CInt) -> CInt
@_silgen_name("unshare") private func unshare(_ kinds: CInt) -> CInt

/// Hosts on one Ethernet, to be kept to the end of the test. Each has the interface `eth0` with an IPv6 link-local address and
/// 10.77.0.N/24, N from 1.
public final class TestNetwork: Sendable {
    /// In the order of their names.
    public let hosts: [NetworkHost]
    private let hub: NetworkHost

    /// Creates the hosts and connects them.
    public init(_ names: String...) throws {
        hub = try NetworkHost("hub")
        try hub.run("ip link add br0 type bridge mcast_snooping 0")
        try hub.run("ip link set br0 up")
        hosts = try names.map { try NetworkHost($0) }
        for (n, host) in hosts.enumerated() {
            try hub.link("port\(n + 1)", to: host, "eth0")
            try hub.run("ip link set port\(n + 1) master br0")
            try host.run("ip address add 10.77.0.\(n + 1)/24 dev eth0")
        }
    }

    /// The IPv4 address of a host, counted from 0.
    public static func address(_ number: Int) -> String { "10.77.0.\(number + 1)" }

    /// Unplugs a host's cable, or plugs it in again.
    public func setCable(of number: Int, isConnected: Bool) throws {
        try hub.run("ip link set port\(number + 1) \(isConnected ? "up" : "down")")
    }
}
