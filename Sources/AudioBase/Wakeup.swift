// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import Synchronization

/// Lets a render callback wake a thread that sleeps in `poll`. A wake-up takes one non-blocking system call, and none while the
/// thread is awake.
public final class Wakeup: Sendable {
    /// The descriptor that the sleeper polls for input; a non-blocking `eventfd`.
    public let fileDescriptor: CInt
    private let asleep: Flag

    /// - Precondition: the process has a file descriptor left.
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

    /// The handle with which other threads wake the sleeper; must not outlive this object.
    public var handle: Handle { Handle(fileDescriptor: fileDescriptor, asleep: asleep.value) }

    /// The handle for any thread that may wake the sleeper.
    public struct Handle: @unchecked Sendable {
        let fileDescriptor: CInt
        let asleep: UnsafeMutablePointer<Atomic<Bool>>

        /// Wakes the sleeper if it sleeps. Safe on the render thread.
        @_noLocks
        public func wake() {
            if asleep.pointee.exchange(false, ordering: .sequentiallyConsistent) { earshot_wake(fileDescriptor) }
        }
    }

    /// Marks the sleeper as asleep. The sleeper calls this, then checks its queues a last time, then polls.
    public func prepareToSleep() {
        // An exchange, not a store: the exchanges here and in ``Handle/wake()`` are ordered, and the later one sees all that was
        // queued before the earlier one. A store could be reordered after the check of the queues (Arm's stlr, ldapr).
        _ = asleep.value.pointee.exchange(true, ordering: .sequentiallyConsistent)
    }

    /// Marks the sleeper as awake, after `poll` has returned.
    /// - Parameter isSignalled: true if `poll` found the descriptor readable; the descriptor's count is then reset.
    public func wokeUp(isSignalled: Bool = true) {
        asleep.value.pointee.store(false, ordering: .sequentiallyConsistent)
        guard isSignalled else { return }
        var count: eventfd_t = 0
        _ = eventfd_read(fileDescriptor, &count)
    }
}
