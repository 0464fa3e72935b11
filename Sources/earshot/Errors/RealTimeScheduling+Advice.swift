// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices

extension RealTimeScheduling {
    /// Returns a line about the scheduling of a callback's thread. For a thread without real-time priority, the line says why and
    /// what to do.
    /// - Parameter granted: the thread's SCHED_FIFO priority; nil without real-time priority.
    func describe(granted: Int?) -> String {
        ErrorText.join(description(granted: granted), granted == nil ? obstacle()?.advice : nil)
    }
}

extension RealTimeScheduling.Obstacle {
    var advice: String {
        switch self {
        case .switchedOff:
            "Write 'kernel.sched_rt_runtime_us = 950000' to /etc/sysctl.d/60-realtime.conf, and run: sudo sysctl "
                + "--system"
        case .groupWithoutBudget(let file):
            "Write 950000 to the same file of each parent group, then to \(file)."
        case .limit(_, .container): "Start the container with --cap-add SYS_NICE --ulimit rtprio=95"
        case .limit(_, .login(let grant)):
            "\(grant.file) allows it for the group \(grant.group), and this user is a member: log in again."
        case .limit(_, .group(let grant)):
            "Add this user to the group \(grant.group) (sudo usermod -aG \(grant.group) $USER), for which \(grant.file) "
                + "allows it, and log in again."
        case .limit(_, .disabledFile(let file)):
            "Rename \(file) to end in .conf (sudo dpkg-reconfigure -p high jackd2), \(Self.joinAudioGroup)"
        case .limit(_, .newFile):
            "Add '@audio - rtprio 95' to /etc/security/limits.d/audio.conf, \(Self.joinAudioGroup)"
        }
    }

    private static let joinAudioGroup =
        "add this user to the group audio (sudo usermod -aG audio $USER), and log in again."
}
