// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import Synchronization

/// A thread that repeats its work after pauses, or earlier when woken, until the thread is stopped or the work ends it.
///
/// All methods are for any thread except a render thread, which may wake this thread through ``handle``.
package final class ServiceThread: Sendable {
    private let wakeup: Wakeup
    private let stopping = Atomic(false)
    private let thread = LockedValue<pthread_t?>(nil)
    private let name: String
    private let work: @Sendable () -> Pause?
    /// True if a wake-up during the work is not lost but repeats the work at once. It costs the waking thread a system call.
    private let isWokenWhileWorking: Bool

    /// The time that the thread sleeps unless it is woken.
    package enum Pause: Hashable, Sendable {
        case milliseconds(Int)
        case untilWoken
    }

    /// - Parameters:
    ///   - name: at most 15 bytes, shown by `top -H`.
    ///   - interval: the milliseconds from the end of the work to its next start.
    ///   - wakeup: wakes the thread before its interval has passed; a new one by default.
    ///   - work: returns true to be repeated. It must not retain this thread's owner, or neither is ever freed.
    package init(
        name: String, interval: Int = 20, wakeup: Wakeup = Wakeup(), work: @escaping @Sendable () -> Bool
    ) {
        self.name = name
        self.wakeup = wakeup
        self.work = { work() ? .milliseconds(interval) : nil }
        isWokenWhileWorking = false
    }

    /// Creates a thread whose work returns its next pause. A wake-up during the work is not lost: the work is repeated at once.
    /// - Parameters:
    ///   - name: at most 15 bytes, shown by `top -H`.
    ///   - wakeup: wakes the thread before its pause has passed; a new one by default.
    ///   - work: returns the time to sleep; nil ends the thread. It must not retain this thread's owner, or neither is ever
    ///     freed.
    package init(name: String, wakeup: Wakeup = Wakeup(), pacing work: @escaping @Sendable () -> Pause?) {
        self.name = name
        self.wakeup = wakeup
        self.work = work
        isWokenWhileWorking = true
    }

    /// The handle that wakes the thread before its pause has passed; also for a render thread.
    package var handle: Wakeup.Handle { wakeup.handle }

    /// Starts the thread. Call it once. Returns 0 or an errno.
    package func start() -> Int32 {
        thread.withLock { thread in
            precondition(thread == nil, "started twice")
            var new = pthread_t()
            let retainedSelf = Unmanaged.passRetained(self)
            let code = pthread_create(
                &new, nil,
                { context in
                    guard let context else { return nil }
                    let me = Unmanaged<ServiceThread>.fromOpaque(context).takeRetainedValue()
                    earshot_name_thread(me.name)
                    me.run()
                    return nil
                }, retainedSelf.toOpaque())
            if code == 0 { thread = new } else { retainedSelf.release() }
            return code
        }
    }

    private func run() {
        while !stopping.load(ordering: .acquiring) {
            if isWokenWhileWorking { wakeup.prepareToSleep() }
            guard let pause = work() else { break }
            if !isWokenWhileWorking { wakeup.prepareToSleep() }
            if stopping.load(ordering: .sequentiallyConsistent) { break }
            var descriptor = pollfd(fd: wakeup.fileDescriptor, events: Int16(POLLIN), revents: 0)
            let timeout: CInt =
                switch pause {
                case .milliseconds(let count): CInt(clamping: max(0, count))
                case .untilWoken: -1
                }
            let isSignalled = poll(&descriptor, 1, timeout) > 0
            wakeup.wokeUp(isSignalled: isSignalled)
        }
    }

    /// Stops the thread. Waits for its end, unless called on the thread itself. Does nothing if the thread is not running.
    package func stop() {
        thread.withLock { thread in
            guard let running = thread else { return }
            stopping.store(true, ordering: .sequentiallyConsistent)
            wakeup.handle.wake()
            if pthread_equal(running, pthread_self()) != 0 {
                pthread_detach(running)
            } else {
                pthread_join(running, nil)
            }
            thread = nil
        }
    }
}
