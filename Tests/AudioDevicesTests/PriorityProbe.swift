// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import Foundation
import Synchronization

/// Returns the SCHED_FIFO priority that a thread of this process gets if it requests `priority`; nil if the system grants none.
func grantedPriority(_ priority: CInt) -> Int? {
    var (before, wanted) = (sched_param(), sched_param())
    let policy = sched_getscheduler(0)
    sched_getparam(0, &before)
    wanted.sched_priority = priority
    guard sched_setscheduler(0, SCHED_FIFO, &wanted) == 0 else { return nil }
    defer { sched_setscheduler(0, policy, &before) }
    sched_getparam(0, &wanted)
    return Int(wanted.sched_priority)
}

/// A callback that reads its thread's priority.
final class PriorityProbe: @unchecked Sendable {  // the pointer does not change, what it points to is atomic
    private let found = UnsafeMutablePointer<Atomic<Int>>.allocate(capacity: 1)

    init() { found.initialize(to: Atomic(-1)) }

    deinit {
        found.deinitialize(count: 1)
        found.deallocate()
    }

    /// 1 to 99 for a real-time thread, otherwise 0; nil before the first callback.
    var priority: Int? {
        let priority = found.pointee.load(ordering: .acquiring)
        return priority < 0 ? nil : priority
    }

    var callback: RenderCallback {
        RenderCallback(context: found) { context, _ in
            var parameters = sched_param()
            sched_getparam(0, &parameters)
            context?.assumingMemoryBound(to: Atomic<Int>.self).pointee.store(
                Int(parameters.sched_priority), ordering: .releasing)
        }
    }
}
