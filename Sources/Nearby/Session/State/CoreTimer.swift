// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Calls a session at its core's next deadline.
struct CoreTimer {
    private var task: Task<Void, Never>?
    private var deadline: HostTime?

    /// Schedules the next call at `deadline`, in place of the call scheduled before; nil for no call.
    mutating func set(to deadline: HostTime?, at now: HostTime, _ tick: @escaping @Sendable () async -> Void) {
        guard deadline != self.deadline else { return }
        cancel()
        self.deadline = deadline
        guard let deadline else { return }
        let seconds = max(0, deadline.seconds(since: now))
        task = Task {
            try? await Task.sleep(for: .seconds(seconds + 0.001))
            if !Task.isCancelled { await tick() }
        }
    }

    /// Notes that the scheduled call was made.
    mutating func fired() { deadline = nil }

    /// Cancels the scheduled call.
    mutating func cancel() {
        task?.cancel()
        (task, deadline) = (nil, nil)
    }
}
