// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import Synchronization

/// Lets a render callback wake a thread that sleeps in `poll`, at the cost of one non-blocking system call, and of none
/// while that thread is awake.
public final class Wakeup: Sendable {
    /// The descriptor the sleeper polls for input; an `eventfd`, non-blocking.
    public let fileDescriptor: CInt
    private let asleep: Flag

    /// - Precondition: the process has a file descriptor to spare.
    public init() {
        fileDescriptor = eventfd(0, CInt(EFD_NONBLOCK) | CInt(EFD_CLOEXEC))
        precondition(fileDescriptor >= 0, "eventfd: out of file descriptors")
        asleep = Flag()
    }

    deinit {
        close(fileDescriptor)
        asleep.deallocate()
    }

    private struct Flag: @unchecked Sendable {
        let value = UnsafeMutablePointer<Atomic<Bool>>.allocate(capacity: 1)
        init() { value.initialize(to: Atomic(false)) }
        func deallocate() {
            value.deinitialize(count: 1)
            value.deallocate()
        }
    }

    /// The waking side; must not outlive the wakeup.
    public var handle: Handle { Handle(fileDescriptor: fileDescriptor, asleep: asleep.value) }

    /// For any thread that may wake the sleeper.
    public struct Handle: @unchecked Sendable {
        let fileDescriptor: CInt
        let asleep: UnsafeMutablePointer<Atomic<Bool>>

        /// Wakes the sleeper if it sleeps. Render-safe.
        @_noLocks
        public func wake() {
            if asleep.pointee.exchange(false, ordering: .sequentiallyConsistent) { earshot_wake(fileDescriptor) }
        }
    }

    /// To be called by the sleeper before it looks at its queues a last time and polls.
    public func prepareToSleep() {
        // An exchange, not a store: the two exchanges of one flag have an order, and the later sees what was queued
        // before the earlier. A store may pass the look at the queues that follows it (Arm's stlr, ldapr).
        _ = asleep.value.pointee.exchange(true, ordering: .sequentiallyConsistent)
    }

    /// To be called by the sleeper once it is awake.
    /// - Parameter isSignalled: whether `poll` found the descriptor readable; its count is then taken.
    public func wokeUp(isSignalled: Bool = true) {
        asleep.value.pointee.store(false, ordering: .sequentiallyConsistent)
        guard isSignalled else { return }
        var count: eventfd_t = 0
        _ = eventfd_read(fileDescriptor, &count)
    }
}
