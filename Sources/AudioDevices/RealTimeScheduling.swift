// SPDX-License-Identifier: Apache-2.0

/// The conditions on which threads of this process may run under SCHED_FIFO (sched(7), limits.conf(5),
/// Documentation/scheduler/sched-rt-group.rst).
package struct RealTimeScheduling: Hashable, Sendable {
    /// A line of limits.conf(5) that lets a group have real-time priorities. Debian's jackd2 brings one for the group
    /// `audio`, its pipewire-bin one for `pipewire`.
    package struct Grant: Hashable, Sendable {
        /// The file that it is in.
        package var file: String
        /// The group that has it.
        package var group: String
        /// The highest.
        package var priority: Int
        /// True if the process is in the group.
        package var isMember: Bool

        /// A line, and whether it is for this process.
        package init(file: String, group: String, priority: Int, isMember: Bool) {
            self.file = file
            self.group = group
            self.priority = priority
            self.isMember = isMember
        }
    }

    /// True if the process has CAP_SYS_NICE, for which no limit counts.
    package var hasCapability = false
    /// True if it runs as user 0.
    package var isRoot = false
    /// The highest priority it may ask for without the capability: RLIMIT_RTPRIO, soft.
    package var priorityLimit = 0
    /// Microseconds of each period (usually a second) that real-time threads of the whole machine may run; -1 is no limit,
    /// nil is unknown.
    package var systemRuntime: Int?
    /// The same as ``systemRuntime``, of the process's control group; nil if groups have no such budget (cgroup v2).
    package var groupRuntime: Int?
    /// The file that ``groupRuntime`` comes from.
    package var groupFile: String?
    /// The limits that the next login would get.
    package var grants: [Grant] = []
    /// A file of limits that is switched off by its name; jackd2's, installed without real-time priority.
    package var disabledFile: String?

    /// A process without any right.
    package init() {}

    /// The reason that a SCHED_FIFO priority is denied, and the remedy.
    package enum Obstacle: Hashable, Sendable, CustomStringConvertible {
        /// ``systemRuntime`` is 0.
        case switchedOff
        /// ``groupRuntime`` is 0, which this file says.
        case groupWithoutBudget(file: String)
        /// The limit of the process, 0 for no right at all, is too low.
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

    /// The change that would raise the limit of the process.
    package enum Remedy: Hashable, Sendable {
        /// It runs as root without the capability: its container has to grant it.
        case container
        /// The user is in the group by now, and was not at the last login.
        case login(Grant)
        /// The user joins the group.
        case group(Grant)
        /// The user joins the group `audio`, whose file of limits is switched off by its name.
        case disabledFile(String)
        /// The user joins the group `audio`, for which a file of limits is written.
        case newFile
    }

    /// One line that says how a callback's thread is scheduled; if not in real time, also why.
    /// - Parameters:
    ///   - granted: its SCHED_FIFO priority, as ``AudioDevice/realTimePriority`` has it.
    ///   - wanted: the requested priority.
    package func description(granted: Int?, wanted: Int = 70) -> String {
        if let granted { return "SCHED_FIFO \(granted)" }
        if let obstacle = obstacle(to: wanted) { return "normal scheduling: \(obstacle)" }
        return
            "normal scheduling: real-time scheduling is allowed here, but the sound system runs its callbacks without"
    }

    /// Nil if the SCHED_FIFO priority is granted.
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
