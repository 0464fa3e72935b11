/// What decides whether threads of this process may run under SCHED_FIFO (sched(7), limits.conf(5),
/// Documentation/scheduler/sched-rt-group.rst), and what to change where they may not.
public struct RealTimeScheduling: Hashable, Sendable {
    /// A line of limits.conf(5) that lets a group have real-time priorities. Debian's jackd2 brings one for the group
    /// `audio`, its pipewire-bin one for `pipewire`.
    public struct Grant: Hashable, Sendable {
        /// The file that it is in.
        public var file: String
        /// Who has it.
        public var group: String
        /// The highest.
        public var priority: Int
        /// Whether the process is in the group.
        public var isMember: Bool

        /// A line, and whether it is for this process.
        public init(file: String, group: String, priority: Int, isMember: Bool) {
            self.file = file
            self.group = group
            self.priority = priority
            self.isMember = isMember
        }
    }

    /// Whether the process has CAP_SYS_NICE, for which no limit counts.
    public var hasCapability = false
    /// Whether it runs as user 0.
    public var isRoot = false
    /// The highest priority it may ask for without the capability: RLIMIT_RTPRIO, soft.
    public var priorityLimit = 0
    /// Microseconds of each period (usually a second) that real-time threads of the whole machine may run; -1 is no limit,
    /// nil is unknown.
    public var systemRuntime: Int?
    /// As ``systemRuntime``, of the process's control group; nil where groups have no such budget (cgroup v2).
    public var groupRuntime: Int?
    /// The file that ``groupRuntime`` comes from.
    public var groupFile: String?
    /// What the machine's limits would give at the next login.
    public var grants: [Grant] = []
    /// A file of limits that is switched off by its name; jackd2's, installed without real-time priority.
    public var disabledFile: String?

    /// A process without any right.
    public init() {}

    /// One line: how a callback's thread is scheduled, and where not in real time, what to change.
    /// - Parameters:
    ///   - granted: its SCHED_FIFO priority, as ``AudioDevice/realTimePriority`` has it.
    ///   - wanted: what it had asked for.
    public func describe(granted: Int?, wanted: Int = 70) -> String {
        if let granted { return "SCHED_FIFO \(granted)" }
        if let obstacle = obstacle(to: wanted) { return "normal scheduling: \(obstacle)" }
        return
            "normal scheduling: real-time scheduling is allowed here, but the sound system runs its callbacks without"
    }

    /// One line: why a SCHED_FIFO priority is denied and which file to change; nil where it is not.
    public func obstacle(to priority: Int = 70) -> String? {
        if systemRuntime == 0 {
            return "real-time scheduling is switched off on this machine: write 'kernel.sched_rt_runtime_us = 950000' "
                + "into /etc/sysctl.d/60-realtime.conf, and run `sudo sysctl --system`"
        }
        if groupRuntime == 0, let groupFile {
            return
                "real-time scheduling was denied to this control group: write 950000 into \(groupFile), and before into "
                + "those of the groups above it"
        }
        if hasCapability || priorityLimit >= priority { return nil }
        let denied =
            priorityLimit > 0
            ? "real-time scheduling above priority \(priorityLimit) was denied" : "real-time scheduling was denied"
        if isRoot { return "\(denied) to this container: start it with `--cap-add SYS_NICE --ulimit rtprio=95`" }
        return "\(denied): \(step(to: priority)), log in again"
    }

    private func step(to priority: Int) -> String {
        let able = grants.filter { $0.priority >= priority }
        if let mine = able.first(where: \.isMember) {
            return "\(mine.file) allows it to the group \(mine.group), to which this user belongs"
        }
        if let grant = able.first(where: { $0.group == "audio" }) ?? able.first {
            return "put this user into the group \(grant.group) (`sudo usermod -aG \(grant.group) $USER`), to which "
                + "\(grant.file) allows it"
        }
        let join = "put this user into the group audio (`sudo usermod -aG audio $USER`)"
        if let disabledFile {
            return "rename \(disabledFile) to end in .conf (`sudo dpkg-reconfigure -p high jackd2`), \(join)"
        }
        return "add '@audio - rtprio 95' to /etc/security/limits.d/audio.conf, \(join)"
    }
}
