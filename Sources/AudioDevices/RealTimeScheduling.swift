// SPDX-License-Identifier: Apache-2.0

/// The conditions for real-time scheduling (SCHED_FIFO) in a process: sched(7), limits.conf(5),
/// Documentation/scheduler/sched-rt-group.rst.
package struct RealTimeScheduling: Hashable, Sendable {
    /// A line of limits.conf(5) that grants real-time priorities to a group. Debian's jackd2 has one for the group `audio`, its
    /// pipewire-bin one for `pipewire`.
    package struct Grant: Hashable, Sendable {
        /// The path of the file that contains the line.
        package var file: String
        /// The group's name.
        package var group: String
        /// The maximum SCHED_FIFO priority that the line grants.
        package var priority: Int
        /// True if the process is in the group.
        package var isMember: Bool

        /// Creates a grant.
        package init(file: String, group: String, priority: Int, isMember: Bool) {
            self.file = file
            self.group = group
            self.priority = priority
            self.isMember = isMember
        }
    }

    /// True if the process has CAP_SYS_NICE, which overrides ``priorityLimit``.
    package var hasCapability = false
    /// True if the process runs as root.
    package var isRoot = false
    /// The maximum SCHED_FIFO priority without CAP_SYS_NICE: the process's soft limit RLIMIT_RTPRIO.
    package var priorityLimit = 0
    /// The microseconds of each period (usually a second) in which real-time threads of the whole machine may run; -1 for no
    /// limit, nil if unknown.
    package var systemRuntime: Int?
    /// The microseconds of each period in which real-time threads of the process's control group may run; nil if groups have no
    /// such limit (cgroup v2).
    package var groupRuntime: Int?
    /// The path of the file that contains ``groupRuntime``.
    package var groupFile: String?
    /// The lines of the machine's limits files that grant real-time priorities to groups. They take effect at a login.
    package var grants: [Grant] = []
    /// The path of jackd2's limits file if its name, `audio.conf.disabled`, disables it: the package was installed without
    /// real-time priority. nil if there is no such file.
    package var disabledFile: String?

    /// Creates the conditions of a process without privileges.
    package init() {}

    /// The reason that a SCHED_FIFO priority is denied.
    package enum Obstacle: Hashable, Sendable, CustomStringConvertible {
        /// The machine runs no real-time threads: ``systemRuntime`` is 0.
        case switchedOff
        /// The process's control group runs no real-time threads: ``groupRuntime``, read from this file, is 0.
        case groupWithoutBudget(file: String)
        /// The process's maximum SCHED_FIFO priority, 0 for none at all, is too low; the remedy would raise it.
        case limit(Int, Remedy)

        /// One sentence that says what happened.
        package var description: String {
            switch self {
            case .switchedOff: "real-time scheduling is switched off on this machine"
            case .groupWithoutBudget: "real-time scheduling was denied to this control group"
            case .limit(let limit, let remedy):
                (limit > 0
                    ? "real-time scheduling above priority \(limit) was denied" : "real-time scheduling was denied")
                    + (remedy == .container ? " to this container" : "")
            }
        }
    }

    /// The change that would raise the process's limit.
    package enum Remedy: Hashable, Sendable {
        /// The process runs as root without CAP_SYS_NICE: the container must grant that capability.
        case container
        /// The user has joined the group since the last login, and must log in again.
        case login(Grant)
        /// The user must join the group of this grant.
        case group(Grant)
        /// The user must join the group `audio`, and the file with its limits, at this path, must be renamed to end in `.conf`.
        case disabledFile(String)
        /// The user must join the group `audio`, and a file of limits must be created for it.
        case newFile
    }

    /// Returns a line about the scheduling of a callback's thread. For normal scheduling the line has the reason.
    /// - Parameters:
    ///   - granted: the thread's SCHED_FIFO priority, as in ``AudioDevice/realTimePriority``; nil for normal scheduling.
    ///   - wanted: the requested SCHED_FIFO priority.
    package func description(granted: Int?, wanted: Int = 70) -> String {
        if let granted { return "SCHED_FIFO \(granted)" }
        if let obstacle = obstacle(to: wanted) { return "normal scheduling: \(obstacle)" }
        return
            "normal scheduling: real-time scheduling is allowed here, but the sound system runs its callbacks without"
    }

    /// Returns the reason that the SCHED_FIFO priority is denied to the process; nil if it is allowed.
    package func obstacle(to priority: Int = 70) -> Obstacle? {
        if systemRuntime == 0 { return .switchedOff }
        if groupRuntime == 0, let groupFile { return .groupWithoutBudget(file: groupFile) }
        if hasCapability || priorityLimit >= priority { return nil }
        return .limit(max(0, priorityLimit), isRoot ? .container : remedy(priority))
    }

    private func remedy(_ priority: Int) -> Remedy {
        let sufficient = grants.filter { $0.priority >= priority }
        if let ownGrant = sufficient.first(where: \.isMember) { return .login(ownGrant) }
        if let grant = sufficient.first(where: { $0.group == "audio" }) ?? sufficient.first { return .group(grant) }
        return disabledFile.map { .disabledFile($0) } ?? .newFile
    }
}
