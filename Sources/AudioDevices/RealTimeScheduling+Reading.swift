// SPDX-License-Identifier: Apache-2.0

import Foundation

extension RealTimeScheduling {
    /// Returns the current conditions of this process. Reads small files; not for the render thread.
    package static func current() -> RealTimeScheduling {
        var conditions = RealTimeScheduling()
        conditions.isRoot = geteuid() == 0
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(__RLIMIT_RTPRIO.rawValue), &limit) == 0 {
            conditions.priorityLimit = Int(clamping: limit.rlim_cur)
        }
        conditions.readFiles(under: "", isMember: isInGroup)
        return conditions
    }

    /// Reads the values that come from system files.
    /// - Parameters:
    ///   - root: the folder that contains the file system; empty for the machine's own.
    ///   - isMember: returns true if the process is in the group of this name.
    mutating func readFiles(under root: String, isMember: (String) -> Bool) {
        func text(_ path: String) -> String? { try? String(contentsOfFile: root + path, encoding: .utf8) }
        func number(_ path: String) -> Int? {
            text(path).flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
        }
        hasCapability = Self.hasNice(status: text("/proc/self/status") ?? "")
        systemRuntime = number("/proc/sys/kernel/sched_rt_runtime_us")
        (groupRuntime, groupFile) = (nil, nil)
        for file in Self.groupFiles(controlGroups: text("/proc/self/cgroup") ?? "") {
            guard let runtime = number(file) else { continue }
            (groupRuntime, groupFile) = (runtime, file)
            break
        }
        let folder = "/etc/security/limits.d"
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: root + folder)) ?? []).sorted()
        let files = ["/etc/security/limits.conf"] + names.filter { $0.hasSuffix(".conf") }.map { "\(folder)/\($0)" }
        grants = files.flatMap { file in
            Self.grants(in: text(file) ?? "").map {
                Grant(file: file, group: $0.group, priority: $0.priority, isMember: isMember($0.group))
            }
        }
        disabledFile = names.first { $0 == "audio.conf.disabled" }.map { "\(folder)/\($0)" }
    }

    /// Returns true if CAP_SYS_NICE, bit 23 (capabilities(7)), is in the effective set of /proc/self/status.
    private static func hasNice(status: String) -> Bool {
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("CapEff:") }),
            let set = line.split(whereSeparator: \.isWhitespace).last, let bits = UInt64(set, radix: 16)
        else { return false }
        return bits & 1 << 23 != 0
    }

    /// Returns the possible paths of the real-time budget of a process's control group (cgroup v1), the best first.
    /// - Parameter controlGroups: the text of the process's /proc/self/cgroup.
    private static func groupFiles(controlGroups: String) -> [String] {
        controlGroups.split(separator: "\n").flatMap { line -> [String] in
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, parts[1].split(separator: ",").contains("cpu") else { return [] }
            let group = parts[2] == "/" ? "" : parts[2]
            // In a container the group's folder may be mounted as the root.
            return ["\(parts[1])\(group)", "cpu\(group)", "\(parts[1])", "cpu"].map {
                "/sys/fs/cgroup/\($0)/cpu.rt_runtime_us"
            }
        }
    }

    /// Returns the groups and priorities of lines such as `@audio - rtprio 95` in a limits file. Hard limits are left out,
    /// because nothing raises a process's soft limit to them.
    private static func grants(in limits: String) -> [(group: String, priority: Int)] {
        limits.split(separator: "\n").compactMap { line in
            let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace)
            guard words.count == 4, words[0].hasPrefix("@"), words[1] != "hard", words[2] == "rtprio",
                let priority = Int(words[3])
            else { return nil }
            return (String(words[0].dropFirst()), priority)
        }
    }

    private static func isInGroup(_ name: String) -> Bool {
        var buffer = [CChar](repeating: 0, count: 16_384)
        var group = Foundation.group()
        var found: UnsafeMutablePointer<Foundation.group>?
        guard getgrnam_r(name, &group, &buffer, buffer.count, &found) == 0, found != nil else { return false }
        var groupIDs = [gid_t](repeating: 0, count: Int(max(0, getgroups(0, nil))))
        let count = getgroups(CInt(groupIDs.count), &groupIDs)
        return getegid() == group.gr_gid || groupIDs.prefix(Int(max(0, count))).contains(group.gr_gid)
    }
}
