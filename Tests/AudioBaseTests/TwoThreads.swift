// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import Foundation
import TestSupport

/// Runs both closures on their own threads and returns when both have returned.
///
/// Plain threads that are joined: the caller frees the memory of the closures, which the thread sanitizer can follow.
func onTwoThreads(_ first: @escaping @Sendable () -> Void, _ second: @escaping @Sendable () -> Void) {
    typealias Body = @Sendable () -> Void
    let bodies = UnsafeMutablePointer<Body>.allocate(capacity: 2)
    bodies.initialize(to: first)
    (bodies + 1).initialize(to: second)
    var threads = [pthread_t](repeating: pthread_t(), count: 2)
    for i in 0..<2 {
        let status = earshot_start_thread(
            &threads[i],
            { context in
                context?.assumingMemoryBound(to: Body.self).pointee()
                return nil
            }, bodies + i)
        precondition(status == 0, "no thread to be had: \(status)")
    }
    for thread in threads { pthread_join(thread, nil) }
    bodies.deinitialize(count: 2)
    bodies.deallocate()
}

/// Sometimes yields or sleeps for up to 0.3 ms, so that the threads meet in different states.
func stall(_ random: inout SeededRandom) {
    switch Int.random(in: 0..<64, using: &random) {
    case 0: usleep(UInt32.random(in: 1...300, using: &random))
    case 1..<6: sched_yield()
    default: break
    }
}
