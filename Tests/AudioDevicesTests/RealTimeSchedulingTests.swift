// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestTraits
import Testing

@testable import EarshotAudioDevices

@Suite struct RealTimeSchedulingTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let facts: RealTimeScheduling
        let obstacle: RealTimeScheduling.Obstacle

        init(
            _ description: String, _ obstacle: RealTimeScheduling.Obstacle, _ change: (inout RealTimeScheduling) -> Void
        ) {
            testDescription = description
            self.obstacle = obstacle
            var facts = RealTimeScheduling()
            change(&facts)
            self.facts = facts
        }
    }

    private static func grant(_ group: String, isMember: Bool, priority: Int = 95) -> RealTimeScheduling.Grant {
        RealTimeScheduling.Grant(
            file: "/etc/security/limits.d/\(group).conf", group: group, priority: priority, isMember: isMember)
    }

    static let denials = [
        Case("no limit set", .limit(0, .newFile)) { _ in },
        Case("jackd2's file is switched off", .limit(0, .disabledFile("/etc/security/limits.d/audio.conf.disabled"))) {
            $0.disabledFile = "/etc/security/limits.d/audio.conf.disabled"
        },
        Case("only PipeWire's group may", .limit(0, .group(grant("pipewire", isMember: false)))) {
            $0.grants = [grant("pipewire", isMember: false)]
            $0.disabledFile = "/etc/security/limits.d/audio.conf.disabled"
        },
        Case("both groups may, the user is in none", .limit(0, .group(grant("audio", isMember: false)))) {
            $0.grants = [grant("pipewire", isMember: false), grant("audio", isMember: false)]
        },
        Case("the user's group may since the last login", .limit(0, .login(grant("pipewire", isMember: true)))) {
            $0.grants = [grant("audio", isMember: false), grant("pipewire", isMember: true)]
        },
        Case("the user's group may have too little", .limit(0, .newFile)) {
            $0.grants = [grant("audio", isMember: true, priority: 20)]
        },
        Case("a limit below what is wanted", .limit(20, .newFile)) { $0.priorityLimit = 20 },
        Case("root in a container", .limit(0, .container)) { $0.isRoot = true },
        Case("switched off in the kernel", .switchedOff) {
            $0.hasCapability = true
            $0.systemRuntime = 0
        },
        Case(
            "a control group without a budget",
            .groupWithoutBudget(file: "/sys/fs/cgroup/cpu/a/cpu.rt_runtime_us")
        ) {
            $0.hasCapability = true
            ($0.groupRuntime, $0.groupFile) = (0, "/sys/fs/cgroup/cpu/a/cpu.rt_runtime_us")
        },
    ]

    @Test(arguments: denials) func `a denial of real-time scheduling names the remedy in one line`(denial: Case) {
        #expect(denial.facts.obstacle() == denial.obstacle)
        #expect(!denial.obstacle.description.contains("\n"))
        #expect(denial.facts.description(granted: nil) == "normal scheduling: \(denial.obstacle)")
        #expect(denial.facts.description(granted: 70) == "SCHED_FIFO 70")
    }

    @Test func `permitted scheduling reports no obstacle`() {
        var facts = RealTimeScheduling()
        facts.hasCapability = true
        (facts.systemRuntime, facts.groupRuntime) = (-1, 950_000)
        #expect(facts.obstacle() == nil && facts.description(granted: nil).contains("is allowed here"))
        facts.hasCapability = false
        facts.priorityLimit = 60
        #expect(facts.obstacle(to: 60) == nil && facts.obstacle(to: 61) != nil)
    }

    @Test func `limits are read from files in the system's format`() throws {
        let root = "\(NSTemporaryDirectory())earshot-scheduling-\(UInt64.random(in: 0 ... .max))"
        defer { try? FileManager.default.removeItem(atPath: root) }
        func write(_ text: String, _ path: String) throws {
            let url = URL(fileURLWithPath: root + path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }
        var facts = RealTimeScheduling()
        facts.readFiles(under: root, isMember: { _ in true })
        #expect(facts == RealTimeScheduling())

        try write("Name:\tx\nCapPrm:\t0000000000000000\nCapEff:\t0000000000800000\n", "/proc/self/status")
        try write("-1\n", "/proc/sys/kernel/sched_rt_runtime_us")
        try write("5:memory:/a\n4:cpu,cpuacct:/user.slice/b:c\n0::/x\n", "/proc/self/cgroup")
        try write("0\n", "/sys/fs/cgroup/cpu,cpuacct/user.slice/b:c/cpu.rt_runtime_us")
        try write("@audio - rtprio 95\n", "/etc/security/limits.d/audio.conf.disabled")
        try write("#@student - rtprio 9\n@pipewire - nice -19 # no\n", "/etc/security/limits.conf")
        try write("# PipeWire\n@pipewire   -   rtprio\t95 # here\n@x hard rtprio 9\n", "/etc/security/limits.d/9.conf")
        facts.readFiles(under: root, isMember: { $0 == "audio" })
        #expect(facts.hasCapability && facts.systemRuntime == -1 && facts.groupRuntime == 0)
        #expect(facts.groupFile == "/sys/fs/cgroup/cpu,cpuacct/user.slice/b:c/cpu.rt_runtime_us")
        #expect(facts.disabledFile == "/etc/security/limits.d/audio.conf.disabled")
        let expected = RealTimeScheduling.Grant(
            file: "/etc/security/limits.d/9.conf", group: "pipewire", priority: 95, isMember: false)
        #expect(facts.grants == [expected])

        try write("CapEff:\t000001ffff7fffff\n", "/proc/self/status")
        facts.readFiles(under: root, isMember: { _ in false })
        #expect(!facts.hasCapability)
    }

    @Test(.realTime) func `the facts about this process match the priority its threads get`() throws {
        let card = try SimulatedDevice(SimulatedCard.Configuration(sampleRate: 48_000, blockFrameCount: 256))
        let granted = try withExtendedLifetime(CycleProbe()) { probe in
            try card.start(probe.callback)
            defer { card.stop() }
            return card.realTimePriority
        }
        #expect((RealTimeScheduling.current().obstacle() == nil) == (granted != nil))
    }
}
