// SPDX-License-Identifier: Apache-2.0

/// The conditions for SCHED_FIFO in this process (sched(7), limits.conf(5), Documentation/scheduler/sched-rt-group.rst).
package struct RealTimeScheduling: Hashable, Sendable {
    /// A line of limits.conf(5) that grants real-time priorities to a group. Debian's jackd2 has one for the group `audio`, its
    /// pipewire-bin one for `pipewire`.
    package struct Grant: Hashable, Sendable {
        /// The file with the line.
        package var file: String
        /// The group.
        package var group: String
        /// The maximum priority.
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

    /// True if the process has CAP_SYS_NICE, which overrides limits.
    package var hasCapability = false
    /// True if it runs as root.
    package var isRoot = false
    /// The maximum priority without the capability: the soft RLIMIT_RTPRIO.
    package var priorityLimit = 0
    /// The microseconds of each period (usually a second) in which real-time threads of the whole machine may run; -1 for no
    /// limit, nil if unknown.
    package var systemRuntime: Int?
    /// The same budget of the process's control group; nil if groups have none (cgroup v2).
    package var groupRuntime: Int?
    /// The file of ``groupRuntime``.
    package var groupFile: String?
    /// The limits after the next login.
    package var grants: [Grant] = []
    /// A file of limits that its name disables: jackd2's, installed without real-time priority.
    package var disabledFile: String?

    /// Creates the conditions of a process without privileges.
    package init() {}

    /// The reason that a SCHED_FIFO priority is denied, and the remedy.
    package enum Obstacle: Hashable, Sendable, CustomStringConvertible {
        /// ``systemRuntime`` is 0.
        case switchedOff
        /// ``groupRuntime`` is 0, by this file.
        case groupWithoutBudget(file: String)
        /// The limit of the process is too low; 0 for no privilege.
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
        /// It runs as root without the capability: the container must grant it.
        case container
        /// The user has joined the group since the last login, and must log in again.
        case login(Grant)
        /// The user must join the group.
        case group(Grant)
        /// The user must join the group `audio`, and the file with its limits, at this path, must be renamed to end in `.conf`.
        case disabledFile(String)
        /// The user must join the group `audio`, and a file of limits must be created for it.
        case newFile
    }

    /// Returns a line about the scheduling of a callback's thread; without real time it has the reason.
    /// - Parameters:
    ///   - granted: its SCHED_FIFO priority, as in ``AudioDevice/realTimePriority``.
    ///   - wanted: the requested priority.
    package func description(granted: Int?, wanted: Int = 70) -> String {
        if let granted { return "SCHED_FIFO \(granted)" }
        if let obstacle = obstacle(to: wanted) { return "normal scheduling: \(obstacle)" }
        return
            "normal scheduling: real-time scheduling is allowed here, but the sound system runs its callbacks without"
    }

    /// Returns the reason that the SCHED_FIFO priority is denied; nil if it is granted.
    package func obstacle(to priority: Int = 70) -> Obstacle? {
        if systemRuntime == 0 { return .switchedOff }
        if groupRuntime == 0, let groupFile { return .groupWithoutBudget(file: groupFile) }
        if hasCapability || priorityLimit >= priority { return nil }
        return .limit(max(0, priorityLimit), isRoot ? .container : remedy(priority))
    }

    private func remedy(_ priority: Int) -> Remedy {
        let able = grants.filter { $0.priority >= priority }
        if let mine = able.first(where: \.isMember) { return .login(mine) }
        if let grant = able.first(where: { $0.group == "audio" }) ?? able.first { return .group(grant) }
        return disabledFile.map { .disabledFile($0) } ?? .newFile
    }
}
