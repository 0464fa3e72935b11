// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization

/// Records when the host of a virtual machine pauses its processors: one thread per core, pinned to it, sleeps for a millisecond
/// at a time at the highest real-time priority and records late wake-ups.
///
/// The load of this machine cannot delay such a thread, so a late wake-up is the host's. If the system refuses the priority,
/// this machine's load also counts; the description says so.
package final class StandstillWatch: Sendable, CustomStringConvertible {
    private struct State {
        var count = 0
        var total = 0.0
        var longest = 0.0
        var excused = 0
        var counted = 0
        var hasPriority = true
        var isEnded = false
    }
    private let state = Mutex(State())
    private let begin = now()
    private let least: Double

    /// Starts the threads.
    /// - Parameters:
    ///   - least: the least lateness of a wake-up that counts, in seconds.
    ///   - cores: the cores to watch.
    package init(least: Double, cores: [Int] = StandstillWatch.cores()) {
        self.least = least
        for core in cores { Thread.detachNewThread { [self] in watch(core) } }
    }

    private func watch(_ core: Int) {
        pin(to: core)
        var parameters = sched_param(sched_priority: sched_get_priority_max(SCHED_FIFO))
        let hasPriority = pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) == 0
        if !hasPriority { state.withLock { $0.hasPriority = false } }
        var last = Self.now()
        while !state.withLock({ $0.isEnded }) {
            usleep(1_000)
            let woken = Self.now()
            let late = woken - last - 0.001
            last = woken
            note(late: late)
        }
    }

    /// Records a wake-up that was `late` seconds late.
    package func note(late: Double) {
        guard late >= least else { return }
        state.withLock {
            $0.count += 1
            $0.total += late
            $0.longest = max($0.longest, late)
        }
    }

    /// Returns true if a core has paused so far, which excuses a failure.
    package func excuses() -> Bool {
        state.withLock {
            if $0.count > 0 { $0.excused += 1 } else { $0.counted += 1 }
            return $0.count > 0
        }
    }

    /// True if something failed and every failure was excused.
    package var hasExcusedAll: Bool { state.withLock { $0.excused > 0 && $0.counted == 0 } }

    /// Ends the threads.
    package func end() { state.withLock { $0.isEnded = true } }

    package var description: String {
        let seconds = Self.now() - begin
        return state.withLock {
            String(
                format: "a core stood still %d times in %.1f s, for %.0f ms in all and %.0f ms at most%@", $0.count,
                seconds, $0.total * 1e3, $0.longest * 1e3,
                $0.hasPriority ? "" : " (own load included: no real-time priority)")
        }
    }

    private static func now() -> Double { Double(DispatchTime.now().uptimeNanoseconds) * 1e-9 }

    /// Returns the cores on which this process may run.
    package static func cores() -> [Int] {
        var mask = [UInt8](repeating: 0, count: 128)
        guard sched_getaffinity(0, mask.count, &mask) == 0 else { return [0] }
        return (0..<mask.count * 8).filter { mask[$0 / 8] >> ($0 % 8) & 1 == 1 }
    }

    /// Pins the calling thread to this core.
    private func pin(to core: Int) {
        var mask = [UInt8](repeating: 0, count: 128)
        mask[core / 8] |= 1 << (core % 8)
        _ = sched_setaffinity(0, mask.count, &mask)
    }
}

// Glibc's functions, which Swift's module does not declare. Thread 0 is the calling thread; the result is 0 or -1.
@_silgen_name("sched_getaffinity")
private func sched_getaffinity(_ thread: CInt, _ size: Int, _ mask: UnsafeMutablePointer<UInt8>) -> CInt
@_silgen_name("sched_setaffinity")
private func sched_setaffinity(_ thread: CInt, _ size: Int, _ mask: UnsafePointer<UInt8>) -> CInt
